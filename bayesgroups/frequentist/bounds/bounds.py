"""Bounds from disagreement on a notion of fairness, per label and subgroup, and on the difference between subgroups."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from bayesgroups.data.arrays import FloatArray
from bayesgroups.data.keywords import checked_keywords
from bayesgroups.errors import InputError, SchemaError
from bayesgroups.frequentist.bounds.differences import differences, over_labels
from bayesgroups.tallies.disagreement_notions import DEFINITE, ERRATA, METRIC, Form, Notion, labels_of
from bayesgroups.tallies.disagreement_rates import Bounds, bounds
from bayesgroups.tallies.subgroups import attributes_of

Across = Literal["subgroups"]
Critics = Literal["pooled", "each", "groups"]


@checked_keywords
def disagreement_bounds(
    tally: xr.Dataset,
    notion: Notion,
    *,
    form: Form = "sharp",
    across: Across | None = None,
    critics: Critics = "pooled",
) -> xr.Dataset:
    """Bound the rate that a notion of fairness compares, or its largest difference between subgroups.

    Estimand: the rate among the judgements of a subgroup, see `bayesgroups.tallies.disagreement_notions`; with
    ``across="subgroups"`` the largest difference of the rate between two subgroups, over labels.

    Parameters
    ----------
    tally : xr.Dataset
        From `bayesgroups.disagreement_tally`.
    notion : str
        ``accuracy_equality``, ``calibration``, ``equal_opportunity``, ``predictive_equality`` or
        ``overall_misclassification``.
    form : {"sharp", "published"}
        The identified set, which nothing shorter replaces; or the formula of the paper, whose errors are in
        ``attrs["erratum"]``. With two labels the sharp bounds coincide: the rate is known.
    across : {"subgroups"}, optional
        Bound the largest difference between subgroups.
    critics : {"pooled", "each", "groups"}
        Take all judgements together, or answer for every critic or group of critics, along ``critic`` or
        ``critic_group``.

    Returns
    -------
    xr.Dataset
        ``lower``, ``upper``, ``midpoint`` with dims ``label, subgroup`` (one label, ``all``, for accuracy), on the scale
        of rates. With ``across="subgroups"`` they are the difference, without these dims (``midpoint`` is the paper's
        estimate), with ``label_lower``, ``label_upper``, ``left_out`` (label), the subgroups that have nothing to judge by
        and take no part, and, of pooled critics, ``above`` and ``below`` (label), the subgroups that the upper end is about.
        NaN where there is nothing to judge by.

    Raises
    ------
    InputError
        If a choice does not exist, or the tally has no critics or groups of critics.
    SchemaError
        If the tally is of another kind.

    References
    ----------
    Telukunta, Nadendla, fairness evaluation from non-expert disagreement feedback, Props 1-5 and Theorem 1.

    Examples
    --------
    >>> import pandas as pd
    >>> import bayesgroups as bg
    >>> rows = pd.DataFrame({"sex": ["f"] * 10, "label": ["a"] * 5 + ["b"] * 3 + ["c"] * 2,
    ...                      "disagrees": [0, 0, 0, 0, 1, 0, 0, 1, 0, 1]})
    >>> answer = bg.disagreement_bounds(bg.disagreement_tally(rows, ["sex"], "label", "disagrees"), "equal_opportunity")
    >>> answer["lower"].values.ravel().round(3).tolist(), answer["upper"].values.ravel().tolist()
    ([0.667, 0.5, 0.333], [1.0, 1.0, 1.0])
    """
    agree, disagree, leading = _counts(tally, critics)
    rate, dims = bounds(agree, disagree, notion, form), tuple(leading)
    attrs = {"notion": notion, "metric": METRIC[notion], "form": form, "critics": critics, "interval_kind": "bound"}
    if form == "published":
        attrs["erratum"] = ERRATA[notion]
    labels = labels_of(notion, [str(label) for label in tally["label"].values])
    coordinates = {**leading, "label": np.array(labels, dtype=str)}
    if across is None:
        along = {
            name: ("subgroup", tally[name].values, tally[name].attrs) for name in ("subgroup", *attributes_of(tally))
        }
        return _labelled(rate, (*dims, "label", "subgroup"), coordinates | along, attrs)
    by_label = differences(rate, form)
    labelled = _labelled(over_labels(by_label), dims, coordinates, attrs | {"across": "subgroups"})
    each = (*dims, "label")
    labelled = labelled.assign(
        label_lower=(each, by_label.lower),
        label_upper=(each, by_label.upper),
        left_out=(each, _left_out(rate, tally["subgroup"].values)),
    )
    if dims:
        return labelled
    above, below = by_label.above, by_label.below
    if form == "published" and notion in DEFINITE:
        above, below = below, above  # the printed differences have the sign reversed
    names = np.append(tally["subgroup"].values.astype(str), "")
    return labelled.assign(above=("label", names[above]), below=("label", names[below]))


def _labelled(rate: Bounds, dims: tuple[str, ...], coordinates: dict[str, Any], attrs: dict[str, str]) -> xr.Dataset:
    values = {"lower": rate.lower, "upper": rate.upper, "midpoint": rate.midpoint}
    return xr.Dataset({name: (dims, value) for name, value in values.items()}, coords=coordinates, attrs=attrs)


def _left_out(rate: Bounds, subgroups: NDArray[np.str_]) -> NDArray[np.str_]:
    """Labels of the subgroups without bounds (..., label), joined by "; "."""
    defined = np.isfinite(rate.lower)
    names = np.empty(defined.shape[:-1], dtype=object)
    for place in np.ndindex(*names.shape):
        names[place] = "; ".join(f"{name} (nothing to judge by)" for name in subgroups[~defined[place]])
    return names.astype(str)


def _counts(tally: xr.Dataset, critics: Critics) -> tuple[FloatArray, FloatArray, dict[str, Any]]:
    """Agreements and disagreements (..., label, subgroup), and the coordinate of what comes before the label."""
    if "agreements" not in tally.data_vars:
        raise SchemaError("the tally holds no agreements and disagreements; make it with bg.disagreement_tally()")
    if critics == "pooled":
        return tally["agreements"].values, tally["disagreements"].values, {}
    if "critic_agreements" not in tally.data_vars:
        raise InputError(f"critics={critics!r} needs counts per critic; make the tally with critic=")
    each = [tally[f"critic_{kind}"].values for kind in ("agreements", "disagreements")]
    if critics == "each":
        return each[0], each[1], {"critic": tally["critic"].values}
    if "critic_group" not in tally.coords:
        raise InputError("critics='groups' needs groups of critics; make the tally with critic_group=")
    names, member = np.unique(tally["critic_group"].values, return_inverse=True)
    belongs = (member == np.arange(len(names))[:, None]).astype(np.float64)
    summed = [np.tensordot(belongs, values, axes=1) for values in each]
    return summed[0], summed[1], {"critic_group": names}
