"""The table of MAIHDA as papers print it: models across, variances and what follows from them down."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import xarray as xr

from bayesgroups.errors import InputError, SchemaError
from bayesgroups.questions.values import NOT_USABLE, Using, approach_shown

if TYPE_CHECKING:
    import pandas as pd

ROWS = {
    "between": "variance between strata", "residual": "variance of rows", "vpc": "VPC", "vpc_linearised": "VPC, rate (linearised)",
    "vpc_response": "VPC, rate (integrated)", "vpc_realised": "VPC, rate (these strata)", "pcv": "PCV",
    "mor": "median odds ratio", "auc": "AUC",
}  # fmt: skip
"""Variables along models, and what papers call them; the first three are in units of the predictor."""


def maihda_table(answer: xr.Dataset, metric: str | None = None, *, using: Using = "auto") -> pd.DataFrame:
    """Lay out an answer of `bayesgroups.maihda` as papers print it.

    Parameters
    ----------
    answer : xr.Dataset
        From `bayesgroups.maihda`.
    metric : str, optional
        One of its metrics; the first when left out.
    using : {"auto", "posterior", "tally"}
        Whose numbers: the Bayesian ones (``auto``, ``posterior``), or the frequentist ones, which are made from the tally.

    Returns
    -------
    pandas.DataFrame
        One row per quantity, one column per model; as text with limits in brackets, empty where a side does not say it,
        ``(boundary)`` behind a variance that is estimated as 0, and ``(not usable)`` behind one whose fit failed its checks.

    Raises
    ------
    SchemaError
        If it is no such answer.
    InputError
        If it has no such metric.

    Examples
    --------
    >>> import pandas as pd
    >>> import bayesgroups as bg
    >>> from bayesgroups.views.tables import maihda_table
    >>> who = pd.DataFrame({"race": ["a", "a", "b", "b", "c", "c"], "sex": ["f", "m"] * 3})
    >>> counts = bg.tally_from_counts([100, 110, 500, 520, 300, 310], [1000] * 6, who)
    >>> maihda_table(bg.maihda(counts), using="tally").loc["variance between strata"].to_list()
    ['0.802 (0.305 to 3.25)', '0 (0 to 0.00664) (boundary)', '0.801 (0.304 to 3.24)', '0 (0 to 0.00511) (boundary)']
    """
    import pandas as pd

    chosen = selected(answer, metric, using)
    rows = {
        label: [_cell(chosen.sel(model=model), name) for model in chosen["model"].values]
        for name, label in ROWS.items()
    }
    kept = {label: cells for label, cells in rows.items() if any(cells)}
    return pd.DataFrame.from_dict(kept, orient="index", columns=[str(model) for model in chosen["model"].values])


def selected(answer: xr.Dataset, metric: str | None, using: Using) -> xr.Dataset:
    """One metric and approach of an answer."""
    if not isinstance(answer, xr.Dataset) or not {"between", "interaction_share", "interaction"} <= set(
        answer.data_vars
    ):
        raise SchemaError(f"expected an answer of bayesgroups.maihda; got {type(answer).__name__}")
    metrics = [str(name) for name in answer["metric"].values]
    if metric is not None and metric not in metrics:
        raise InputError(f"the answer has no metric {metric!r}; it has {', '.join(metrics)}")
    return answer.sel(metric=metric or metrics[0], approach=approach_shown(using))


def _cell(model: xr.Dataset, name: str) -> str:
    value = float(model[name])
    if np.isnan(value):
        return ""
    lower, upper = float(model[f"{name}_lower"]), float(model[f"{name}_upper"])
    limits = "" if np.isnan(lower) else f" ({lower:.3g} to {upper:.3g})"
    flag = " (boundary)" if name == "between" and float(model["boundary"]) == 1 else ""
    if name == "between" and str(model["reason"].values).startswith(NOT_USABLE):
        flag = " (not usable)"
    return f"{value:.3g}{limits}{flag}"
