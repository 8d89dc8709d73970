"""Rates corrected for the errors of a judge in closed form, beside those of labelled rows alone."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
import xarray as xr

from bayesgroups.data.arrays import FloatArray
from bayesgroups.data.keywords import checked_keywords
from bayesgroups.errors import InputError
from bayesgroups.frequentist.intervals.interval import Interval, stack
from bayesgroups.frequentist.intervals.proportions import wilson
from bayesgroups.questions.judges.answers import Corrected, outcome_of, post_stratified_answer, ppi_answer
from bayesgroups.questions.judges.calibration import rogan_gladen_answer
from bayesgroups.questions.judges.gold_means import gold_mean_answer, keeps_gold_scores
from bayesgroups.report.levels import LEVELS
from bayesgroups.tallies.partial_labels import is_partial, read_partial
from bayesgroups.tallies.partial_metrics import forms_of

Method = Literal["post_stratified", "ppi", "ppi_tuned", "regression", "rogan_gladen"]

ESTIMAND = "value of the metric behind the rows of each subgroup, with gold labels in place of those of the judge"


@checked_keywords
def judge_corrected(
    tally: xr.Dataset, *, method: Method = "post_stratified", calibration: xr.Dataset | None = None
) -> xr.Dataset:
    """Correct rates for the errors of a judge, subgroup by subgroup, without pooling.

    Estimand: the value of the metric behind the rows of a subgroup, with the gold outcome in place of the decision.

    Parameters
    ----------
    tally : xr.Dataset
        A tally whose rows all have a decision and some an outcome, ``bg.tally(..., unlabelled="keep")``; one with all outcomes
        will do. With ``rogan_gladen`` a tally with decisions, which needs no outcome. Or a tally of gold scores,
        `bayesgroups.gold_score_tally`.
    method : {"post_stratified", "ppi", "ppi_tuned", "regression", "rogan_gladen"}
        Post-stratified by decision, with MOVER limits for means over all rows, Wilson for plain shares, and the delta method on
        the logit for ratios as sensitivity; prediction-powered inference of the prevalence or of mean gold scores, with weight 1 or
        a tuned one; the regression estimator of mean gold scores; or the judged rate corrected by sensitivity and specificity
        of ``calibration``.
    calibration : xr.Dataset, optional
        For ``rogan_gladen``: a tally with ``confusion=True`` of other rows, whose labels were drawn by outcome or come from
        elsewhere. Labels of the judged rows belong to ``post_stratified``, which needs fewer.

    Returns
    -------
    xr.Dataset
        Along ``metric`` and ``subgroup``: ``estimate``, ``std_error``, ``status`` and ``reason``; with ``level`` the limits
        ``lower`` and ``upper``, in the range of the metric. The same of labelled rows alone, ``gold_estimate``, ``gold_lower`` and
        ``gold_upper`` (Wilson, or t for mean scores, see ``attrs["gold_interval_method"]``; biased where labels depend on
        the decision), except with ``rogan_gladen``. A subgroup with labels after one decision only has no estimate; its
        MOVER limits take every outcome after the other decision for possible. With ``ppi`` and ``ppi_tuned`` the reason of a
        subgroup with fewer than 30 labels says that its limits cover too seldom.
        Along ``subgroup``: rows ``judged`` and, of them, ``labelled``, where the tally has both. Along ``metric``:
        ``interval_method``. NaN where there is no such number.

    Raises
    ------
    InputError
        If the method does not exist, the tally has no decisions, or a calibration is missing, superfluous, or has no cells.

    Notes
    -----
    For decisions of two classes the PPI estimate with the weight (ppv - for) N / (m + N), m labelled and N unlabelled rows, is the
    post-stratified one. Stratified prediction-powered inference with the decisions as strata is the post-stratified estimate as
    well: within a stratum the judge is constant, and no weight matters. Tuned weights and normal limits are for large samples:
    where labels and judgements agree there is no variance and no interval, and with 2 to 10 labels 95 % limits cover 86 % of the
    rates that have some.

    References
    ----------
    Begg, Greenes (1983), doi:10.2307/2530820. Angelopoulos, Duchi, Zrnic (2023), arXiv:2311.01453. Rogan, Gladen (1978),
    doi:10.1093/oxfordjournals.aje.a112510. Lee et al. (2025), arXiv:2511.21140. Fisch et al. (2024),
    arXiv:2406.04291 (stratified).

    Examples
    --------
    >>> import pandas as pd
    >>> import bayesgroups as bg
    >>> gold = [1] * 6 + [0] * 2 + [None] * 62 + [1] * 3 + [0] * 9 + [None] * 118
    >>> rows = pd.DataFrame({"dialect": "a", "gold": gold, "judge": [1] * 70 + [0] * 130})
    >>> tally = bg.tally(rows, ["dialect"], ["prev"], y_true="gold", y_pred="judge", unlabelled="keep")
    >>> answer = bg.judge_corrected(tally).sel(metric="prev", level=0.95).isel(subgroup=0)
    >>> [round(answer[name].item(), 4) for name in ("estimate", "lower", "upper", "gold_estimate", "gold_lower", "gold_upper")]
    [0.425, 0.2632, 0.6218, 0.45, 0.2582, 0.6579]
    """
    if (calibration is not None) != (method == "rogan_gladen"):
        fix = (
            "calibration= is for method='rogan_gladen' alone; leave it out"
            if calibration is not None
            else "method='rogan_gladen' needs calibration=, a tally with confusion=True of rows with outcomes"
        )
        raise InputError(fix)
    if calibration is not None:
        return _answer(tally, rogan_gladen_answer(tally, calibration), ["prev"], {})
    if keeps_gold_scores(tally):
        means, alone = gold_mean_answer(tally, method)
        return _answer(tally, means, [str(name) for name in tally["metric"].values], alone)
    if method == "regression":
        raise InputError("method='regression' is for mean gold scores; make the tally with bg.gold_score_tally()")
    if "cell_count" not in tally.data_vars:
        raise InputError(
            "the tally has no cells of outcome and decision; make it with bg.tally(..., unlabelled='keep'), or with "
            "confusion=True where all outcomes are known"
        )
    names = [str(name) for name in tally["metric"].values]
    if method == "post_stratified":
        return _answer(tally, post_stratified_answer(tally), names, _gold(tally))
    if not any(outcome_of(tally, i) is not None for i in range(len(names))):
        raise InputError(f"method={method!r} is about the share of an outcome, and the tally has {names}; add 'prev'")
    if "weight" in tally.data_vars:
        raise InputError(f"method={method!r} is for rows without weights; take method='post_stratified'")
    return _answer(tally, ppi_answer(tally, tuned=method == "ppi_tuned"), names, _gold(tally))


def _answer(tally: xr.Dataset, corrected: Corrected, names: list[str], more: dict[str, Any]) -> xr.Dataset:
    both = ("metric", "subgroup")
    data: dict[str, Any] = {
        "estimate": (both, corrected.estimate),
        "std_error": (both, corrected.std_error),
        "lower": ((*both, "level"), corrected.limits.lower),
        "upper": ((*both, "level"), corrected.limits.upper),
        "status": (both, corrected.status),
        "reason": (both, corrected.reason),
        "interval_method": ("metric", np.array(corrected.methods, dtype=str)),
        **more,
    }
    where = {str(name): coord for name, coord in tally.coords.items() if coord.dims == ("subgroup",)}
    attrs = {"estimand": ESTIMAND, "interval_kind": "confidence", "partial": int(is_partial(tally))}
    if "gold_lower" in more:
        attrs["gold_interval_method"] = "t" if keeps_gold_scores(tally) else "wilson"
    return xr.Dataset(data | _sizes(tally), {"metric": names, "level": np.array(LEVELS), **where}, attrs)


def _sizes(tally: xr.Dataset) -> dict[str, Any]:
    """Judged rows and those of them with a gold label, where the tally has the cells of both."""
    if keeps_gold_scores(tally):
        return {"judged": tally["judged_rows"], "labelled": tally["labelled_rows"]}
    if "cell_count" not in tally.data_vars:
        return {}
    cells = read_partial(tally)
    return {name: ("subgroup", getattr(cells, name).sum(axis=1)) for name in ("judged", "labelled")}


def _gold(tally: xr.Dataset) -> dict[str, Any]:
    """Estimates of labelled rows alone, and Wilson limits of those that are rates."""
    _, cells = read_partial(tally).effective
    shape = (tally.sizes["metric"], tally.sizes["subgroup"])
    estimates: FloatArray = np.full(shape, np.nan)
    limits = []
    for i in range(shape[0]):
        numerator, denominator = forms_of(tally, i)
        above, below = ((cells * form).sum(axis=(1, 2)) for form in (numerator, denominator))
        with np.errstate(divide="ignore", invalid="ignore"):
            estimates[i] = np.where(below > 0, above / below, np.nan)
        rate = str(tally["kind"].values[i]) == "rate"
        each = [wilson(above, below, level) if rate else Interval(*np.full((2, shape[1]), np.nan)) for level in LEVELS]
        limits.append(
            Interval(*(np.stack([getattr(limit, side) for limit in each], axis=-1) for side in ("lower", "upper")))
        )
    whole, cell = stack(limits), ("metric", "subgroup")
    return {
        "gold_estimate": (cell, estimates),
        "gold_lower": ((*cell, "level"), whole.lower),
        "gold_upper": ((*cell, "level"), whole.upper),
    }
