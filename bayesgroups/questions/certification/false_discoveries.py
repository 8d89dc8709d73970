"""Discovery of subgroups that fall behind, with the expected share of false discoveries under control."""

from __future__ import annotations

from typing import Literal

import numpy as np
import xarray as xr

from bayesgroups.data.arrays import BoolArray, FloatArray
from bayesgroups.data.columns import MAX_MAGNITUDE
from bayesgroups.data.keywords import checked_keywords
from bayesgroups.errors import InputError
from bayesgroups.forwarding import renamed_keyword
from bayesgroups.questions.certification.overlapping import open_table, shared_errors
from bayesgroups.questions.subgroup_values import Values
from bayesgroups.questions.values import Using
from bayesgroups.report.posterior import generator
from bayesgroups.tallies.participation import Imputed

Reference = Literal["overall", "rest"] | float


@renamed_keyword("part", "using")
@checked_keywords
def discoveries(
    source: xr.Dataset | xr.DataTree,
    tolerance: float = 0.0,
    *,
    reference: Reference = "overall",
    error: float = 0.05,
    margins: bool = False,
    order: int | None = None,
    using: Using = "auto",
    larger_is_better: bool | None = None,
    imputed: Imputed = "leave_out",
    seed: int = 0,
) -> xr.Dataset:
    """List the subgroups whose gap exceeds a tolerance, such that few of those listed are expected to be listed wrongly.

    Estimand: the gap of each subgroup, by how much its metric is worse than the reference.

    Parameters
    ----------
    source : xr.Dataset or xr.DataTree
        A tally, margins or a report.
    tolerance : float
        A gap up to here is no matter, in units of the metric.
    reference : {"overall", "rest"} or float
        What a subgroup is compared with: everyone, everyone else, or a value.
    error : float
        Most expected share of false entries in the list.
    margins : bool
        Ask of every margin as well as of the intersections.
    order : int, optional
        Most attributes of a margin.
    using : {"auto", "tally", "posterior", "bootstrap"}
        Where the values come from: of a report its posterior (``auto``), its bootstrap where it has one, or its tally.
    larger_is_better : bool, optional
        Replaces the direction of all metrics.
    imputed : {"leave_out", "include"}
        Treatment of subgroups without rows that count for the metric, for which a report's answer comes from the model alone.
    seed : int
        Source of randomness where replicates of saturated subgroups are replaced.

    Returns
    -------
    xr.Dataset
        Along ``metric`` and ``subgroup``: ``gap`` (positive is worse), its ``std_error``, ``discovered`` (1 or 0) and
        ``probability``, posterior, that the gap exceeds the tolerance, or, without a posterior, the ``p_value`` of the hypothesis
        that it does not. Along ``metric``: ``number`` discovered, ``expected_false`` among them (posterior), ``method``,
        ``estimand`` of the values that are compared, and ``left_out``, labels and reasons of the subgroups that take no part.

    Raises
    ------
    InputError
        If a setting does not exist or makes no sense.
    SchemaError
        If ``source`` is neither a tally, margins nor a report.

    Notes
    -----
    From a posterior: subgroups enter by decreasing probability as long as the mean of 1 - probability of those listed is at
    most ``error``; that mean is the posterior expectation of the share of false entries, whatever the dependence. Otherwise
    p-values of normal tests with pooled variances go through Benjamini and Hochberg's procedure; for margins, which depend on
    each other, through Benjamini and Yekutieli's.

    References
    ----------
    Newton, Noueiry, Sarkar, Ahlquist (2004), https://doi.org/10.1093/biostatistics/5.2.155; Benjamini, Hochberg (1995),
    https://doi.org/10.1111/j.2517-6161.1995.tb02031.x; Benjamini, Yekutieli (2001), https://doi.org/10.1214/aos/1013699998.

    Examples
    --------
    >>> import pandas as pd
    >>> import bayesgroups as bg
    >>> who = pd.DataFrame({"site": ["a", "b", "c", "d"]})
    >>> counts = bg.tally_from_counts([900, 900, 3, 700], [1000, 1000, 4, 1000], who, metric="acc")
    >>> bg.discoveries(counts, 0.05)["discovered"].values.tolist()
    [[0, 0, 0, 1]]
    """
    _check(tolerance, reference, error)
    opened = open_table(
        source, using, with_margins=margins, order=order, larger_is_better=larger_is_better, imputed=imputed
    )
    tables = [_one(numbers, tolerance, reference, error, seed) for numbers in opened.metrics]
    attrs: dict[str, object] = {"tolerance": tolerance, "reference": reference, "error": error, "imputed": imputed}
    return opened.answer(tables, attrs | {"using": opened.using} | opened.noted)


def bayesian_discoveries(probability: FloatArray, error: float) -> BoolArray:
    """Longest list, by decreasing probability, whose expected share of false entries is at most the error."""
    wrong = np.where(np.isfinite(probability), 1 - probability, np.inf)
    order = np.argsort(wrong, kind="stable")
    running = np.cumsum(wrong[order]) / np.arange(1, len(wrong) + 1)
    many = int((running <= error).sum())  # the running mean of sorted values does not fall
    chosen = np.zeros(wrong.shape, dtype=bool)
    chosen[order[:many]] = True
    return chosen


def step_up(p: FloatArray, error: float, *, dependent: bool) -> BoolArray:
    """Benjamini and Hochberg's procedure, or with ``dependent`` Benjamini and Yekutieli's; NaN is never rejected."""
    finite = np.flatnonzero(np.isfinite(p))
    many = len(finite)
    chosen = np.zeros(p.shape, dtype=bool)
    if many == 0:
        return chosen
    order = finite[np.argsort(p[finite], kind="stable")]
    penalty = (1 / np.arange(1, many + 1)).sum() if dependent else 1.0
    below = np.flatnonzero(p[order] <= error * np.arange(1, many + 1) / (many * penalty))
    if len(below):
        chosen[order[: below[-1] + 1]] = True
    return chosen


def contrasts(weight: FloatArray, intersection: BoolArray, reference: Reference) -> FloatArray:
    """Matrix (subgroup, subgroup) from values to how far the reference is above each subgroup.

    ``weight`` are denominators, of which those of ``intersection`` (False for margins) sum to everyone. With a value for
    the reference the matrix takes off the subgroup alone; the value is to be added.
    """
    identity = np.eye(len(weight))
    if not isinstance(reference, str):
        return -identity
    share = np.where(intersection, weight, 0.0)
    total = share.sum()
    mean = np.broadcast_to(share / total, identity.shape)
    if reference == "overall":
        return np.asarray(mean - identity, dtype=np.float64)
    mine = (weight / total)[:, None]
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray((mean - mine * identity) / (1 - mine) - identity, dtype=np.float64)


def _check(tolerance: float, reference: object, error: float) -> None:
    if not abs(float(tolerance)) <= MAX_MAGNITUDE:
        raise InputError(
            f"tolerance={tolerance!r} must be a finite number in units of the metric, {MAX_MAGNITUDE:g} at most"
        )
    if not 0 < error < 1:
        raise InputError(f"error={error!r} must lie strictly between 0 and 1, such as 0.05")
    value = isinstance(reference, int | float | np.number) and not isinstance(reference, bool)
    if reference not in ("overall", "rest") and not (value and abs(float(reference)) <= MAX_MAGNITUDE):  # type: ignore[arg-type]
        raise InputError(f"reference={reference!r} is not 'overall', 'rest' or a value of the metric")


def _one(numbers: Values, tolerance: float, reference: Reference, error: float, seed: int) -> xr.Dataset:
    some = numbers.included
    rng = generator(seed, numbers.metric, "discoveries")
    matrix = contrasts(numbers.weights(), numbers.intersection[some], reference)
    offset = reference if not isinstance(reference, str) else 0.0

    def gaps(values: FloatArray) -> FloatArray:
        return np.asarray(numbers.sign * (offset + values @ matrix.T), dtype=np.float64)

    gap, scale, verdict = (np.full(some.shape, np.nan) for _ in range(3))
    gap[some] = gaps(numbers.sample.estimate[some])
    drawn = np.empty((0, 0))
    if numbers.draws is not None:
        drawn = gaps(numbers.spread(rng)[0][:, some])
        spreads = np.isfinite(drawn).sum(axis=0) > 1
        scale[np.flatnonzero(some)[spreads]] = np.nanstd(drawn[:, spreads], axis=0, ddof=1)
    else:
        shared = shared_errors(numbers)
        factor = np.diag(np.sqrt(numbers.sample.variance[some])) if shared is None else shared[some]
        scale[some] = np.sqrt(((matrix @ factor) ** 2).sum(axis=1))
    data: dict[str, object] = {"gap": ("subgroup", gap), "std_error": ("subgroup", scale)}
    if numbers.using == "posterior":
        verdict[some] = np.where(np.isfinite(gap[some]), (drawn > tolerance).mean(axis=0), np.nan)
        chosen = bayesian_discoveries(verdict, error)
        data["probability"] = ("subgroup", verdict)
        data["expected_false"] = float((1 - verdict[chosen]).sum())
        method = "posterior"
    else:
        from scipy.special import ndtr

        with np.errstate(divide="ignore", invalid="ignore"):
            verdict = ndtr(-(gap - tolerance) / scale)
        dependent = not numbers.intersection.all()
        chosen = step_up(verdict, error, dependent=dependent)
        data["p_value"] = ("subgroup", verdict)
        method = "benjamini_yekutieli" if dependent else "benjamini_hochberg"
    data |= {
        "discovered": ("subgroup", chosen.astype(np.int8)),
        "number": int(chosen.sum()),
        "left_out": numbers.left_out,
        "method": method,
        "estimand": numbers.estimand,
        "usable": np.int8(numbers.usable),
    }
    return xr.Dataset(data)
