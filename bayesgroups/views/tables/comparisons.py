"""Several reports side by side for the terminal."""

from __future__ import annotations

import numpy as np
import xarray as xr
from rich.table import Table
from rich.text import Text

from bayesgroups.errors import InputError, near_misses
from bayesgroups.forwarding import renamed_keyword
from bayesgroups.questions.values import Using, approach_shown
from bayesgroups.report.view import Order, check_level, check_order, headline, left_out_sentence, number, plain, whole
from bayesgroups.tallies.labels import shown_labels
from bayesgroups.views.tables.layout import captioned, empty_table, interval_text, largest

IMPUTED = "*"
"""Mark behind the answer for a subgroup without rows."""


@renamed_keyword("approach", "using", bayesian="auto", frequentist="tally")
def comparison_table(
    compared: xr.Dataset,
    metric: str,
    *,
    level: float = 0.95,
    using: Using = "auto",
    order: Order = "tally",
    decimals: int | None = None,
    limit: int | None = None,
) -> Table:
    """One metric of several reports for the terminal, one column per report.

    A star stands behind answers for subgroups without rows, which come from the model alone. ``using`` chooses the Bayesian
    estimates (``auto``, ``posterior``) or the frequentist ones, which are made from the tally; ``decimals`` are 3 when left out;
    ``order`` is that of the tally, of n (``size``) or of the first report's estimates, largest first. ``limit`` shows the largest
    subgroups only, largest first, when there are more, and with ``order="estimate"`` those first in that order.
    """
    check_order(order)
    names = [str(name) for name in compared["metric"].values]
    if metric not in names:
        raise InputError(f"the reports have no metric {metric!r}; {near_misses(metric, names)}")
    check_level(level)
    approach = approach_shown(using)
    differences = compared.sel(metric=metric, approach=approach, level=level)
    table = empty_table(f"{_headline(differences, metric, level)}, {approach.capitalize()}")
    table.add_column("subgroup", overflow="fold", min_width=12)
    table.add_column("n", justify="right", no_wrap=True)
    imputed = differences["status"].transpose("estimator", "subgroup").values == "imputed"
    for name in compared["estimator"].values:
        table.add_column(Text(plain(str(name))), overflow="fold")
    count = differences["count"].isel(estimator=0) if "estimator" in differences["count"].dims else differences["count"]
    places = 3 if decimals is None else decimals
    bounds = [differences[name].transpose("estimator", "subgroup").values for name in ("estimate", "lower", "upper")]
    labels = list(shown_labels(compared).values())
    key = {"tally": np.zeros(len(labels)), "size": count.values, "estimate": bounds[0][0]}[order]
    places_shown = np.argsort(-np.nan_to_num(key, nan=-np.inf), kind="stable")
    shown = largest(count.values, limit, places_shown, answers=order == "estimate")
    for i in shown:
        answers = zip(*(values[:, i] for values in bounds), strict=True)
        cells = [interval_text(float(e), float(low), float(high), places) for e, low, high in answers]
        cells = [f"{cell} {IMPUTED}" if alone else cell for cell, alone in zip(cells, imputed[:, i], strict=True)]
        table.add_row(Text(plain(labels[i])), whole(float(count.values[i])), *map(Text, cells))
    lines = [f"{IMPUTED} no rows: the model alone answers"] if imputed[:, shown].any() else []
    which = "those with the largest estimates" if order == "estimate" else "those with the largest n"
    return captioned(table, lines, len(shown), len(labels), which)


@renamed_keyword("approach", "using", bayesian="auto", frequentist="tally")
def comparison_summary(compared: xr.Dataset, *, level: float = 0.95, using: Using = "auto") -> Table:
    """Differences of reports from the first one, in one row per report and metric; ``using`` as in `comparison_table`.

    Estimator and inference, mean width of the intervals, median ratio of the widths to those of the first report, and mean
    absolute difference of the estimates from its, over the subgroups that `bayesgroups.compare` included; those it left out
    stand below.
    """
    check_level(level)
    approach = approach_shown(using)
    differences = compared.sel(level=level, approach=approach)
    names = [str(name) for name in compared["metric"].values]
    headlines = [_headline(differences.sel(metric=name), name, level) for name in names]
    table = empty_table("\n".join([*headlines, f"{approach.capitalize()}, against the first report"]))
    for heading in ("metric", "report", "estimator", "inference"):
        table.add_column(heading, overflow="fold")
    for heading in ("mean width", "width ratio", "mean shift"):
        table.add_column(heading, justify="right")
    for metric in compared["metric"].values:
        for name in compared["estimator"].values:
            cell = differences.sel(metric=metric, estimator=name)
            cell = cell.isel(subgroup=np.flatnonzero(cell["included"].values))
            values = (cell["width"].mean(), cell["width_ratio"].median(), np.abs(cell["shift"]).mean())
            words = (metric, name, str(cell["word"].values).replace("_", " "), cell["inference"].values)
            table.add_row(*(Text(plain(str(word))) for word in words), *(number(float(value)) for value in values))
    labels = shown_labels(compared)
    left_out = compared["left_out"].transpose("metric", "estimator")
    sentences = [
        f"{plain(str(metric))}: {left_out_sentence(names, labels)}"
        for metric, row in zip(left_out["metric"].values, left_out.values.astype(str), strict=True)
        for names in dict.fromkeys(row.tolist())
        if names
    ]
    return captioned(table, sentences, 0, 0)


def predictive_table(compared: xr.Dataset) -> Table:
    """Leave-one-subgroup-out scores of several reports for the terminal, of a comparison made with ``loo=True``.

    Per report and metric elpd, its difference to the best with the standard error of the difference, effective number of
    parameters and subgroups whose number is not to be relied on; reasons where there is no difference stand below.
    """
    if "elpd" not in compared:
        raise InputError(
            "the comparison has no leave-one-subgroup-out scores; make it with bg.compare(reports, loo=True)"
        )
    table = empty_table("Expected log predictive density of a subgroup left out (elpd), summed over subgroups")
    for heading in ("metric", "report"):
        table.add_column(heading, overflow="fold")
    for heading in ("elpd", "difference", "std. error", "p", "not reliable"):
        table.add_column(heading, justify="right")
    lines = []
    for metric in compared["metric"].values:
        for name in compared["estimator"].values:
            scores = compared.sel(metric=metric, estimator=name)
            numbers = [number(float(scores[variable])) for variable in ("elpd", "elpd_diff", "dse", "p")]
            table.add_row(*(Text(plain(str(word))) for word in (metric, name)), *numbers, str(int(scores["n_flagged"])))
            if scores["loo_reason"].item():
                lines.append(plain(f"{metric}, {name}: {scores['loo_reason'].item()}"))
    return captioned(table, lines, 0, 0)


def _headline(differences: xr.Dataset, metric: str, level: float) -> str:
    """The estimands and intervals of all reports about a metric, in a sentence."""
    methods = differences["interval_method"].transpose("estimator", "subgroup").values.astype(str)
    words = (differences[name].values.astype(str) for name in ("estimand", "interval_kind"))
    return headline(plain(metric), level, list(zip(*words, methods, strict=True)))
