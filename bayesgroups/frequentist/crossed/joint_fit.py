"""Metrics that are fitted together: by SureMap or by likelihood, with the variance that an interval needs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from bayesgroups.data.arrays import BoolArray, FloatArray
from bayesgroups.frequentist.crossed import marginal_likelihood, multi_task, sure
from bayesgroups.frequentist.crossed.component_space import ComponentSpace, Posterior
from bayesgroups.frequentist.crossed.components import Components
from bayesgroups.frequentist.crossed.mixture import mix
from bayesgroups.frequentist.crossed.precision import combine, weigh
from bayesgroups.frequentist.crossed.restricted import Restricted
from bayesgroups.frequentist.crossed.stacked import stack

Method = Literal["suremap", "marginal_likelihood"]
Choice = Literal["corrected", "plug_in"]
Tasks = multi_task.Variant

MIN_ESTIMATES_FOR_SHRINKAGE = 4
"""Estimates below which nothing is shrunk, as in `bayesgroups.frequentist.intervals.morris`."""
TOGETHER = 300
"""Cells of task and group whose likelihood is looked at together, where it only serves the intervals."""
KNOWN = 1e-6
"""Stands in for a sampling variance of 0, as a share of the smallest one that is not negligible."""
MAX_SQUARED_DISTANCE = 1e7
"""Squared distance of an estimate from the mean, in sampling variances, up to which forms without matrices keep their digits."""
MAX_GROUPS_IN_MATRICES = 3000
"""Groups whose matrices a computer can hold."""
NEGLIGIBLE = 1e-12
"""Share of the largest sampling variance below which an estimate is taken as known beside the others."""


@dataclass(frozen=True)
class JointFit:
    """Fit of some tasks.

    ``estimate`` and ``variance`` (task, group) are not clipped; the variance is that of the interval. ``specific`` and
    ``centre`` (component,) are variances of the components within a task, and of the centre that tasks share, NaN where
    there is none. ``overall`` (task,) are generalised least-squares means, ``risk`` is SURE per estimate, NaN for a
    likelihood, and ``effective`` the number of points that the mixture is worth, NaN without one.
    """

    estimate: FloatArray
    variance: FloatArray
    specific: FloatArray
    centre: FloatArray
    overall: FloatArray
    risk: float
    effective: float


def fit(
    z: FloatArray,
    v: FloatArray,
    agreement: Components,
    *,
    centre: float,
    method: Method,
    tasks: Tasks | None,
    interval: Choice,
    seed: int,
    errors: FloatArray | None = None,
) -> JointFit | None:
    """Joint fit of tasks, in units of their sampling error; None with fewer than four estimates that have a sampling variance.

    ``z`` and ``v`` (task, group) are NaN where there are no data, of a single task unless ``tasks`` says how several are
    joined; ``agreement`` has the matrices C_S of a `Family`, or of a single task its `ComponentSpace`, the shared level
    first; ``centre`` is a perfect model; ``errors`` (group, group) is the covariance of the errors of a single task, with ``v`` on
    its diagonal, where they are correlated. The rest is as in `bayesgroups.frequentist.crossed_effects.estimate`.
    """
    used = np.isfinite(z) & np.isfinite(v)
    positive = used & (v > NEGLIGIBLE * np.max(v, where=used, initial=0.0))
    if positive.sum() < MIN_ESTIMATES_FOR_SHRINKAGE:
        return None
    unit = float(np.sqrt(np.median(v[positive])))
    exact = used & ~positive
    noise = np.where(exact, KNOWN * v[positive].min(), np.where(positive, v, 1.0)) / unit**2
    y, u = np.where(used, z, 0.0) / unit, np.where(used, 1 / noise, 0.0)
    agreement = _stable(agreement, y[0], u[0])
    risk = effective = np.nan
    between = 0.0 if errors is None else _between(errors / unit**2, positive[0])
    if method == "suremap":
        estimate, specific, shared, risk = _suremap(y, u, agreement, centre / unit, tasks, between)
        if interval == "plug_in":
            variance = _variance_at(u, agreement, specific, shared, between)
        else:
            law, effective = _split_mixture(y, u, agreement, seed, between)
            variance = law.variance + (estimate - law.estimate) ** 2
    else:
        cells = stack(agreement, len(y), shares_centre=tasks != "zero")
        variances = marginal_likelihood.fit(y.ravel(), u.ravel(), cells.agreement, between)
        specific, shared = cells.split(variances)
        if interval == "plug_in":
            law = _at(y.ravel(), u.ravel(), cells.agreement, variances, between)
            estimate, variance = law.estimate.reshape(y.shape), law.variance.reshape(y.shape)
        else:
            law, effective = _mixture(y, u, cells.agreement, seed, between)
            estimate, variance = law.estimate, law.variance
    levels = [_overall(*each, agreement, np.nan_to_num(specific), between) for each in zip(y, u, strict=True)]
    return JointFit(
        np.where(exact, z, estimate * unit),
        np.where(exact, v, variance * unit**2),
        specific * unit**2,
        shared * unit**2,
        np.array(levels) * unit,
        risk / np.count_nonzero(used),
        effective,
    )


def _stable(agreement: Components, y: FloatArray, u: FloatArray) -> Components:
    """Components in a form that keeps its digits: matrices where estimates are thousands of standard errors apart."""
    if not isinstance(agreement, ComponentSpace) or len(y) > MAX_GROUPS_IN_MATRICES:
        return agreement
    apart = u * (y - u @ y / u.sum()) ** 2
    return agreement.matrices() if apart.max() > MAX_SQUARED_DISTANCE else agreement


def _between(errors: FloatArray, positive: BoolArray) -> FloatArray:
    """Covariances of errors, 0 on the diagonal and where an estimate has none."""
    some = positive[:, None] & positive & ~np.eye(len(errors), dtype=bool)
    return np.where(some, errors, 0.0)


def _suremap(
    y: FloatArray, u: FloatArray, agreement: Components, centre: float, tasks: Tasks | None, between: FloatArray | float
) -> tuple[FloatArray, FloatArray, FloatArray, float]:
    """Estimates, variances of the components and of the centre, and risk less that of empty cells."""
    empty = np.count_nonzero(u == 0)
    if tasks is None or isinstance(agreement, ComponentSpace):
        alone = sure.fit(y[0], u[0], agreement, centre=centre, between=between)
        return alone.estimate[None], alone.variances, np.full(len(agreement), np.nan), alone.risk + empty
    joint = multi_task.fit(y, u, agreement, variant=tasks, centre=centre)
    shared = joint.centre_variances if tasks == "metamap" else np.full(len(agreement), np.nan)
    return joint.estimate, joint.variances, shared, joint.risk + empty


def _mixture(
    y: FloatArray, u: FloatArray, agreement: Components, seed: int, between: FloatArray | float
) -> tuple[Posterior, float]:
    """Posterior of every cell over the uncertainty of the variances."""
    mixture = mix(y.ravel(), u.ravel(), agreement, seed=seed, between=between)
    estimate, variance = (part.reshape(y.shape) for part in (mixture.posterior.estimate, mixture.posterior.variance))
    return Posterior(estimate, variance), mixture.effective


def _split_mixture(
    y: FloatArray, u: FloatArray, agreement: Components, seed: int, between: FloatArray | float
) -> tuple[Posterior, float]:
    """The same for as many tasks at once as are quick; NaN for tasks without any data."""
    tasks, groups = y.shape
    estimate, variance = np.full((2, tasks, groups), np.nan)
    effective = np.inf
    for rows in np.array_split(np.arange(tasks), -(-tasks // max(1, TOGETHER // groups))):
        if np.count_nonzero(u[rows]):
            cells = stack(agreement, len(rows), shares_centre=True).agreement
            law, worth = _mixture(y[rows], u[rows], cells, seed, between)
            estimate[rows], variance[rows] = law.estimate, law.variance
            effective = min(effective, worth)
    return Posterior(estimate, variance), effective


def _variance_at(
    u: FloatArray, agreement: Components, specific: FloatArray, shared: FloatArray, between: FloatArray | float
) -> FloatArray:
    """Posterior variance of every cell at known variances, a centre without variance being known."""
    if isinstance(agreement, ComponentSpace):
        return agreement.conditional_variance(agreement.solve(u[0], specific), u[0])[None]
    covariance, gamma = combine(specific, agreement), combine(np.nan_to_num(shared), agreement)
    weights = weigh(u, covariance + between)
    gain = covariance @ weights
    left = np.eye(u.shape[-1]) - gain
    centre = np.linalg.solve(np.eye(u.shape[-1]) + gamma @ weights.sum(axis=0), gamma)
    within = np.diagonal(covariance) - (gain * covariance).sum(axis=-1)
    variance: FloatArray = np.maximum(within, 0.0) + np.maximum((left @ centre * left).sum(axis=-1), 0.0)
    return variance


def _at(
    z: FloatArray, u: FloatArray, agreement: Components, variances: FloatArray, between: FloatArray | float
) -> Posterior:
    """Posterior (group,) at known variances."""
    if isinstance(agreement, ComponentSpace):
        return agreement.posterior(z, u, variances)[1]
    law = Restricted(z, u, agreement, between).posterior(variances[None])
    return Posterior(law.estimate[0], law.variance[0])


def _overall(
    y: FloatArray, u: FloatArray, agreement: Components, variances: FloatArray, between: FloatArray | float
) -> float:
    """Generalised least-squares mean of one task; NaN without data."""
    if isinstance(agreement, ComponentSpace):
        row = agreement.weigh(agreement.solve(u, variances), np.ones(len(u)))
    else:
        row = weigh(u, combine(variances, agreement) + between).sum(axis=-1)
    return float(row @ y / row.sum()) if u.any() else np.nan
