"""Sampling variance of an AUC: the one place where it is chosen, and the AUC as a rate of effective pairs.

With n1 positives and n0 negatives, the variance of Hanley and McNeil at the AUC A is

    A (1 - A) / m(A),    m(A) = n1 n0 / (1 + (n1 - 1) (1 - A) / (2 - A) + (n0 - 1) A / (1 + A)),

that of a rate of ``m`` independent trials. The number of effective pairs ``m`` moves slowly with A and stays finite and
positive at 0 and 1, where the variances of DeLong and of Hanley and McNeil are 0 and claim to know.

========================  ==================================================================================
choice                    variance of the AUC of a subgroup
========================  ==================================================================================
``pooled_delong``         one DeLong variance for all subgroups, over n0 n1 / (n0 + n1 + 1); what `tally` stores
``delong``                DeLong's own; NaN below two rows of a class, 0 where the classes are separated
``hanley_mcneil``         Hanley and McNeil's at the subgroup's own AUC; 0 where the classes are separated
``hanley_mcneil_pooled``  the same at the AUC pooled over subgroups: never 0, also with one row of a class
``calibrated``            the last times one factor for all subgroups, the DeLong variances over those of Hanley and
                          McNeil: right where scores are not negative exponential, at the price of its own error
========================  ==================================================================================
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import partial
from typing import Literal, get_args

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from bayesgroups.data.arrays import FloatArray
from bayesgroups.data.texts import as_json
from bayesgroups.errors import InputError, near_misses
from bayesgroups.tallies.auc import ScoreCells, statistics

AucVariance = Literal["pooled_delong", "delong", "hanley_mcneil", "hanley_mcneil_pooled", "calibrated"]
NAMES: tuple[str, ...] = get_args(AucVariance)
OfRates = Literal["hanley_mcneil_pooled", "calibrated"]


@dataclass(frozen=True)
class PooledAuc:
    """Parameters that subgroups share: ``auc``, strictly inside (0, 1), and the ratio of DeLong's variance to the formula's."""

    auc: float
    dispersion: float


def effective_pairs(auc: FloatArray, positives: FloatArray, negatives: FloatArray) -> FloatArray:
    """Number of independent trials whose rate varies as an AUC does, from (effective) numbers of rows of either class.

    Finite and positive wherever both classes have a row, also at an AUC of 0 or 1; NaN elsewhere. Hanley and McNeil (1982),
    doi:10.1148/radiology.143.1.7063747.
    """
    with np.errstate(invalid="ignore", divide="ignore"):
        spread = 1 + (positives - 1) * (1 - auc) / (2 - auc) + (negatives - 1) * auc / (1 + auc)
        return np.asarray(np.where((positives > 0) & (negatives > 0), positives * negatives / spread, np.nan))


def score_cells(tally: xr.Dataset) -> ScoreCells:
    """The counts per subgroup and score that a tally keeps for an AUC; an error where it has none."""
    if "score_cell" not in tally.dims:
        raise InputError("the tally keeps no scores; ask for them, as bg.tally(..., metrics=['auc'], y_score='score')")
    ones, zeros = tally["score_positives"].values, tally["score_negatives"].values
    return ScoreCells(
        tally["score_subgroup"].values, tally["score_value"].values, ones, zeros,
        tally["score_positive_squares"].values if "score_positive_squares" in tally.data_vars else ones,
        tally["score_negative_squares"].values if "score_negative_squares" in tally.data_vars else zeros,
    )  # fmt: skip


def class_sizes(cells: ScoreCells, subgroups: int) -> tuple[FloatArray, FloatArray]:
    """Positives and negatives of every subgroup; with weights Kish's effective numbers, (sum w)^2 / sum w^2."""
    total = partial(cells.add_up, subgroups=subgroups)
    sums = ((cells.positives, cells.positive_squares), (cells.negatives, cells.negative_squares))
    with np.errstate(invalid="ignore", divide="ignore"):
        ones, zeros = (np.nan_to_num(total(weight) ** 2 / total(squares)) for weight, squares in sums)
    return ones, zeros


def pool(auc: FloatArray, delong: FloatArray, positives: FloatArray, negatives: FloatArray) -> PooledAuc:
    """Pooled parameters of the subgroups' AUCs and DeLong variances, arrays (subgroup,), NaN where not defined.

    The mean is weighted by n0 n1 / (n0 + n1 + 1), with half a success and half a failure added so that it stays inside (0, 1);
    the dispersion is that of the weighted DeLong variances over those of the formula, 1 where there is nothing to compare.
    """
    defined = np.isfinite(auc) & (positives > 0) & (negatives > 0)
    n1, n0, value = positives[defined], negatives[defined], auc[defined]
    weight = n1 * n0 / (n1 + n0 + 1)
    centre = float(((weight * value).sum() + 0.5) / (weight.sum() + 1))
    empirical, formula = weight * delong[defined], weight * value * (1 - value) / effective_pairs(value, n1, n0)
    both = np.isfinite(empirical) & (empirical > 0)
    seen, expected = float((weight[both] * empirical[both]).sum()), float((weight[both] * formula[both]).sum())
    return PooledAuc(centre, seen / expected if expected > 0 else 1.0)


def with_auc_variance(tally: xr.Dataset, variance: AucVariance) -> xr.Dataset:
    """The same tally with another sampling variance of its AUCs, for every estimator that reads it.

    Parameters
    ----------
    tally : xr.Dataset
        A tally with an ``auc``.
    variance : {"pooled_delong", "delong", "hanley_mcneil", "hanley_mcneil_pooled", "calibrated"}
        See the module.

    Returns
    -------
    xr.Dataset
        With another ``sampling_variance`` of every AUC and the choice in ``auc_variance(metric)``.

    Raises
    ------
    InputError
        If the choice does not exist, or the tally keeps no scores.

    Notes
    -----
    Choose last: adding tallies up makes their variances anew.

    References
    ----------
    DeLong, DeLong, Clarke-Pearson (1988), doi:10.2307/2531595; Hanley, McNeil (1982),
    doi:10.1148/radiology.143.1.7063747.

    Examples
    --------
    >>> import pandas as pd
    >>> import bayesgroups as bg
    >>> rows = pd.DataFrame({"s": list("aaabbb"), "y": [0, 1, 1, 0, 1, 0], "p": [0.2, 0.6, 0.9, 0.3, 0.5, 0.6]})
    >>> found = bg.tally(rows, ["s"], ["auc"], y_true="y", y_score="p")
    >>> with_auc_variance(found, "hanley_mcneil")["sampling_variance"].values.round(4).tolist()
    [[0.0, 0.1667]]
    """
    if variance not in NAMES:
        raise InputError(f"variance={variance!r} does not exist; {near_misses(str(variance), NAMES)}")
    cells = score_cells(tally)
    changed = tally["sampling_variance"].transpose("metric", "subgroup").copy()
    for i, kind in enumerate(tally["kind"].values):
        if str(kind) == "auc" and variance != "pooled_delong":
            changed.values[i] = _variance(tally.isel(metric=i), cells, variance)
        elif str(kind) == "auc":
            metric = tally.isel(metric=i)
            with np.errstate(divide="ignore", invalid="ignore"):
                pooled = float(metric["pooled_variance"]) / metric["count"].values
            changed.values[i] = np.where(metric["count"].values > 0, pooled, np.nan)
    return tally.assign(sampling_variance=changed, auc_variance=_said(tally, variance))


def auc_as_rate(tally: xr.Dataset, variance: OfRates = "calibrated") -> xr.Dataset:
    """Every AUC as a rate of effective pairs, so that estimators treat it as a rate and keep it inside (0, 1).

    Parameters
    ----------
    tally : xr.Dataset
        A tally with an ``auc``; other metrics are left as they are.
    variance : {"calibrated", "hanley_mcneil_pooled"}
        Whether effective pairs are those of Hanley and McNeil at the pooled AUC, or these over one factor that makes
        their variances, all together, those of DeLong.

    Returns
    -------
    xr.Dataset
        With ``kind`` "rate" for every AUC, ``count`` its effective pairs m and ``successes`` AUC x m, so that no-pooling
        intervals are Wilson's, exact engines take a binomial likelihood with logits pooled, and an AUC of 1 among few
        rows is the weak evidence that it is.

    Raises
    ------
    InputError
        If the choice does not exist, or the tally keeps no scores.

    Notes
    -----
    The binomial stands for the law of a Mann-Whitney statistic with its mean and variance (a quasi-likelihood); ties
    count as one half, as in the tally. Convert last: the result cannot be added to others.

    References
    ----------
    Hanley, McNeil (1982), doi:10.1148/radiology.143.1.7063747; Newcombe (2006), doi:10.1002/sim.2324; Wedderburn (1974),
    doi:10.1093/biomet/61.3.439.

    Examples
    --------
    >>> import pandas as pd
    >>> import bayesgroups as bg
    >>> rows = pd.DataFrame({"s": list("aaabbb"), "y": [0, 1, 1, 0, 1, 0], "p": [0.2, 0.6, 0.9, 0.3, 0.5, 0.6]})
    >>> found = auc_as_rate(bg.tally(rows, ["s"], ["auc"], y_true="y", y_score="p"))
    >>> found["count"].values.round(2).tolist(), found["successes"].values.round(2).tolist()
    ([[1.57, 1.44]], [[1.57, 0.72]])
    """
    if variance not in get_args(OfRates):
        raise InputError(f"variance={variance!r} does not exist; {near_misses(str(variance), get_args(OfRates))}")
    cells, names = score_cells(tally), ("count", "successes", "row_variance", "sampling_variance")
    new = {name: tally[name].transpose("metric", "subgroup").copy() for name in names}
    pooled, freedom = tally["pooled_variance"].copy(), tally["pooled_df"].copy()
    auc = tally["kind"].values == "auc"
    for i in np.flatnonzero(auc):
        metric = tally.isel(metric=i)
        value = metric["estimate"].values
        sampling = _variance(metric, cells, variance)
        centre = _pooled(metric, cells).auc
        with np.errstate(divide="ignore", invalid="ignore"):
            pairs = centre * (1 - centre) / sampling
            spread = np.where(pairs > 1, value * (1 - value) * pairs / (pairs - 1), np.nan)
        rows = (np.nan_to_num(pairs), np.where(np.isfinite(value), value * pairs, 0.0), spread, sampling)
        for name, row in zip(names, rows, strict=True):
            new[name].values[i] = row
        pooled.values[i] = centre * (1 - centre)
        freedom.values[i] = np.nansum(np.maximum(pairs - 1, 0.0)) or np.nan
    kinds = np.where(auc, "rate", tally["kind"].values.astype("<U8"))
    if "weight" in tally.data_vars:
        new["weight"] = tally["weight"].transpose("metric", "subgroup").copy()
        new["weight"].values[auc] = new["count"].values[auc]
    rates = tally.assign(new).assign(
        kind=("metric", kinds), pooled_variance=pooled, pooled_df=freedom, auc_variance=_said(tally, variance)
    )
    rates.attrs["settings"] = as_json({**json.loads(tally.attrs["settings"]), "auc_as_rate": variance})
    return rates


def _said(tally: xr.Dataset, variance: str) -> tuple[str, NDArray[np.str_]]:
    """The choice along ``metric``; nothing for metrics that are no AUC."""
    return "metric", np.where(tally["kind"].values == "auc", variance, "")


def _variance(metric: xr.Dataset, cells: ScoreCells, variance: str) -> FloatArray:
    """Sampling variance of the AUC of every subgroup; NaN where it is undefined."""
    size = metric.sizes["subgroup"]
    estimates = statistics(cells, size, ties=float(metric["ties"]))
    if variance == "delong":
        return estimates.delong
    if variance == "hanley_mcneil":
        return np.maximum(estimates.hanley_mcneil, 0.0)
    shared = _pooled(metric, cells)
    pairs = effective_pairs(np.full(size, shared.auc), *class_sizes(cells, size))
    factor = shared.dispersion if variance == "calibrated" else 1.0
    return np.asarray(np.where(np.isfinite(estimates.estimate), factor * shared.auc * (1 - shared.auc) / pairs, np.nan))


def _pooled(metric: xr.Dataset, cells: ScoreCells) -> PooledAuc:
    size = metric.sizes["subgroup"]
    estimates = statistics(cells, size, ties=float(metric["ties"]))
    return pool(estimates.estimate, estimates.delong, *class_sizes(cells, size))
