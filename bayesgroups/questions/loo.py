"""Expected log predictive density of every subgroup from the data of all others: leave-one-subgroup-out cross-validation."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import xarray as xr

from bayesgroups.data.arrays import FloatArray
from bayesgroups.data.keywords import checked_keywords
from bayesgroups.errors import InputError
from bayesgroups.estimators.base import Estimator
from bayesgroups.estimators.descriptions import estimator_of
from bayesgroups.estimators.likelihood_groups import parts_of
from bayesgroups.inference.left_out.answer import LeftOut, without_answer
from bayesgroups.inference.left_out.smoothing import smoothed, threshold
from bayesgroups.report.schema import check
from bayesgroups.tallies.subgroups import attributes_of, with_attributes

ESTIMAND = (
    "expected log predictive density (natural logarithm) of the data of a subgroup given the data of all other subgroups, "
    "summed over subgroups with rows; constants that a model takes from the whole tally, such as scales of its priors, stay"
)
TOGETHER = "the data of a subgroup are those of all metrics at once, so that every metric has the same numbers"
MAX_DENSITIES = 1_000_000
"""Densities of one fit above which draws are thinned."""
DRAWS_LEFT = 1_000
"""Draws that thinning leaves."""


class _Scores(NamedTuple):
    """Pointwise answers (metric, subgroup) of one fit."""

    elpd: FloatArray
    lpd: FloatArray
    pareto_k: FloatArray


@checked_keywords
def loo(report: xr.DataTree) -> xr.Dataset:
    """Score a report by its prediction of every subgroup from the others (leave-one-subgroup-out cross-validation).

    Estimand: the expected log predictive density of the data of a subgroup of a metric given the data of all other
    subgroups, summed over subgroups with rows (elpd, natural logarithm). The larger, the better the model predicts a
    subgroup it has not seen.

    Parameters
    ----------
    report : xr.DataTree
        A report with draws.

    Returns
    -------
    xr.Dataset
        Along ``metric`` and ``subgroup``: ``elpd_i``; ``p_i``; ``pareto_k`` of the importance weights (NaN where the answer is
        exact); ``method``, ``exact``, ``integrated`` (the residual effect of the subgroup integrated out at every draw) or
        ``psis`` (plain draws); ``flagged``, 1 where ``pareto_k`` is above ``good_k``, so that the number is not to be
        relied on; and ``reason``, why there is no number or why it is flagged. Along ``metric``: ``elpd``, its sum; ``se``,
        its standard error over subgroups; ``p``, the effective number of parameters, which are those that subgroups share
        unless the method is ``psis``; ``n_data_points``, subgroups with a number; ``n_flagged``; and ``observed``, the data
        whose density it is. ``good_k`` is the threshold, and ``usable`` 0 if the report did not pass its
        diagnostics. Attributes: ``estimand``, ``n_samples`` (draws used) and, where there is something to say, ``note``.

    Raises
    ------
    InputError
        If the report has no draws, its estimator is not imported, or its tally lacks what the model needs.
    SchemaError
        If it is not a report.

    Notes
    -----
    With an effect of its own a subgroup moves the posterior so much that importance weights at plain draws have no variance.
    The effect is therefore integrated out of the likelihood of the subgroup at every draw of everything else, in closed form
    or by quadrature, and the weights, Pareto-smoothed by ArviZ, are those of parameters that subgroups share. With more than
    a million densities draws are thinned, to 1,000 at least. Densities of counts and densities of estimates are of different
    data and not comparable.

    References
    ----------
    Merkle, Furr and Rabe-Hesketh (2019), Bayesian comparison of latent variable models, doi:10.1007/s11336-019-09679-0.
    Vehtari, Gelman and Gabry (2017), Practical Bayesian model evaluation, doi:10.1007/s11222-016-9696-4.

    Examples
    --------
    >>> import pandas as pd
    >>> import bayesgroups as bg
    >>> sites = pd.DataFrame({"site": list("abcdef")})
    >>> counts = bg.tally_from_counts([4, 30, 9, 11, 20, 2], [20, 100, 60, 50, 80, 9], sites, metric="fnr")
    >>> pooled = bg.loo(bg.estimate(counts, bg.PartialPooling(), seed=1))
    >>> alone = bg.loo(bg.estimate(counts, bg.NoPooling(), seed=1))
    >>> pooled["method"].values[0, 0], alone["method"].values[0, 0]
    ('integrated', 'exact')
    >>> bool((pooled["elpd"] > alone["elpd"]).all()), int(pooled["n_flagged"].sum())
    (True, 0)
    """
    check(report)
    if "posterior" not in report.children or "mu" not in report["posterior"].data_vars:
        raise InputError(
            "the report was saved without its draws (group 'posterior', variable 'mu'), from which predictive densities are "
            "made; estimate again, or open the report that has them"
        )
    estimator = estimator_of(report)
    source = report["constant_data"].to_dataset()
    posterior = report["posterior"].to_dataset()
    tables = []
    for part in parts_of(source, estimator):
        draws = _thinned(posterior.sel(metric=part["metric"].values), part.sizes["metric"] * part.sizes["subgroup"])
        if not np.isfinite(draws["mu"].values).any():
            answer = without_answer("nothing was fitted")
        else:
            answer = _answer(estimator, draws, part)
        tables.append(_table(answer, part, (draws.sizes["chain"], draws.sizes["draw"])))
    joined: xr.Dataset = xr.concat(  # pyright: ignore[reportAssignmentType]
        tables, dim="metric", data_vars="minimal", coords="minimal", join="exact", combine_attrs="override"
    )
    attributes = {name: ("subgroup", source[name].values) for name in attributes_of(source)}
    usable = np.int8(report.attrs["usable"])
    return with_attributes(joined, attributes).assign(usable=usable).assign_attrs(_noted(joined))


def _answer(estimator: Estimator, draws: xr.Dataset, tally: xr.Dataset) -> LeftOut:
    try:
        return estimator.left_out(draws.stack(sample=("chain", "draw"), create_index=False), tally)
    except (KeyError, ValueError) as problem:
        raise InputError(
            f"the report lacks what the likelihood of {estimator.word} needs ({problem}); estimate again and keep the report whole"
        ) from problem


def _thinned(posterior: xr.Dataset, cells: int) -> xr.Dataset:
    """Every so many draws of each chain, so that densities are no more than `MAX_DENSITIES`, or draws than `DRAWS_LEFT`."""
    draws = posterior.sizes["chain"] * posterior.sizes["draw"]
    step = min(math.ceil(draws * cells / MAX_DENSITIES), max(draws // DRAWS_LEFT, 1))
    return posterior.isel(draw=slice(None, None, step))


def _scores(answer: LeftOut, draws: tuple[int, int], shape: tuple[int, int]) -> _Scores:
    """Pointwise numbers of an answer, whichever its form."""
    nothing = np.full(shape, np.nan)
    if answer.elpd is not None and answer.lpd is not None:
        return _Scores(answer.elpd, answer.lpd, nothing)
    if answer.log_density is None:
        return _Scores(nothing, nothing, nothing)
    flat = answer.log_density.reshape(*draws, -1)
    cells = np.flatnonzero(np.isfinite(flat).all(axis=(0, 1)))
    columns = np.full((3, flat.shape[2]), np.nan)
    if len(cells):
        weight, density = answer.moved or (-answer.log_density, answer.log_density)
        moved = (weight.reshape(flat.shape)[:, :, cells], density.reshape(flat.shape)[:, :, cells])
        columns[:, cells] = smoothed(flat[:, :, cells], moved)
    return _Scores(*(np.broadcast_to(column.reshape(-1, shape[1]), shape) for column in columns))


def _table(answer: LeftOut, tally: xr.Dataset, draws: tuple[int, int]) -> xr.Dataset:
    """The answer of one fit, per metric and subgroup and per metric."""
    shape = (tally.sizes["metric"], tally.sizes["subgroup"])
    scores = _scores(answer, draws, shape)
    good_k = threshold(draws[0] * draws[1])
    answered = np.isfinite(scores.elpd)
    smooth = answered & (answer.method != "exact") & np.isfinite(scores.pareto_k)
    flagged = smooth & ~(scores.pareto_k <= good_k)
    number = answered.sum(axis=1)
    some = number > 0
    elpd, p_i = np.where(answered, scores.elpd, 0.0), scores.lpd - scores.elpd
    mean = elpd.sum(axis=1) / np.maximum(number, 1)
    variance = (np.where(answered, elpd - mean[:, None], 0.0) ** 2).sum(axis=1) / np.maximum(number, 1)
    cell = ("metric", "subgroup")
    return xr.Dataset(
        {
            "elpd_i": (cell, scores.elpd),
            "p_i": (cell, p_i),
            "pareto_k": (cell, scores.pareto_k),
            "method": (cell, np.where(answered, answer.method, "").astype(object)),
            "flagged": (cell, flagged.astype(np.int8)),
            "reason": (cell, _reasons(answer, tally, scores.pareto_k, answered, flagged, good_k)),
            "elpd": ("metric", np.where(some, elpd.sum(axis=1), np.nan)),
            "se": ("metric", np.where(some, np.sqrt(number * variance), np.nan)),
            "p": ("metric", np.where(some, np.where(answered, p_i, 0.0).sum(axis=1), np.nan)),
            "n_data_points": ("metric", number),
            "n_flagged": ("metric", flagged.sum(axis=1)),
            "observed": ("metric", np.where(some, answer.observed, "").astype(object)),
            "good_k": good_k,
        },
        coords={name: tally[name].values for name in cell},
        attrs={"estimand": ESTIMAND, "n_samples": draws[0] * draws[1], "together": int(answer.together)},
    )


def _reasons(
    answer: LeftOut, tally: xr.Dataset, pareto_k: FloatArray, answered: np.ndarray, flagged: np.ndarray, good_k: float
) -> np.ndarray:
    """Reason (metric, subgroup) of every subgroup without a number, and of every number that is not to be relied on."""
    estimated = np.isfinite(tally["estimate"].transpose("metric", "subgroup").values)
    why = tally["reason"].transpose("metric", "subgroup").values.astype(str)
    reasons = np.full(answered.shape, "", dtype=object)
    for place in np.argwhere(~answered):
        at = tuple(place)
        reasons[at] = (
            answer.reason or "its density is not finite"
            if estimated[at]
            else why[at] or "no rows that count for the metric"
        )
    for place in np.argwhere(flagged):
        at = tuple(place)
        reasons[at] = (
            f"k-hat {pareto_k[at]:.2f} is above {good_k:.2f}: the draws do not reach the posterior without this subgroup"
        )
    return reasons


def _noted(joined: xr.Dataset) -> dict[str, object]:
    """Attributes of the answer, with a note where there is something to say."""
    attributes: dict[str, object] = {name: joined.attrs[name] for name in ("estimand", "n_samples")}
    sentences = [TOGETHER] if joined.attrs["together"] else []
    for metric in joined["metric"].values:
        names = joined["subgroup"].values[joined["flagged"].sel(metric=metric).values == 1]
        if len(names):
            listed = ", ".join(map(str, names[:5])) + (", ..." if len(names) > 5 else "")
            sentences.append(
                f"{metric}: the k-hat of {len(names)} subgroups is above {float(joined['good_k']):.2f}, so that their numbers, "
                f"which are in the sum, are not to be relied on ({listed})"
            )
    return attributes | ({"note": ". ".join(sentences)} if sentences else {})
