"""Leave-one-out prediction errors of subgroups, and the interval of a subgroup without data.

The lasso at its penalty is fitted without some subgroups, and predicts them. The error of subgroup a is

    d_a = z_a - prediction,   d_a ~ Normal(0, v_a + A),   A = mean square of mu_a - prediction.

A counts how far subgroups depart from the line, what the lasso has shrunk away, and the error of the line. A subgroup without data
is predicted in the same way, and so mu - prediction ~ Normal(0, A). How little K errors tell of A is counted as Stein and Morris
do for the spread of normal means: over its likelihood with a flat weight,

    p(A) proportional to prod_a (v_a + A)^(-1/2) exp(-d_a^2 / 2 (v_a + A)),   A > 0,

which has an integral for K > 2. Where A is large against the v_a the interval is t with K - 2 degrees of freedom and the variance
sum d_a^2 / (K - 2); where subgroups seem not to differ it does not collapse, as one with an estimate of A would.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bayesgroups.data.arrays import FloatArray
from bayesgroups.errors import InputError
from bayesgroups.frequentist.intervals.interval import Interval, around, tail
from bayesgroups.frequentist.structured import huber, lasso

PARTS = 20
"""Parts that subgroups are left out in, at most; with as many subgroups or fewer each is left out by itself."""
MIN_ERRORS = 3
"""Errors below which nothing is known of A: its law has no integral."""
NODES = 2000
LOWEST, HIGHEST = 1e-8, 1e10
"""Nodes of A and their range, in units of the larger one of the mean squared error and the mean sampling variance."""
HALVINGS = 80


@dataclass(frozen=True)
class Unseen:
    """Law of a subgroup without data around its prediction: normal, with variances A of these masses.

    Arrays (node,); variances in squared units of the metric, masses that add up to 1.
    """

    variances: FloatArray
    masses: FloatArray

    @property
    def std_error(self) -> float:
        """Root of the mean of A."""
        return float(np.sqrt(self.masses @ self.variances))

    def interval(self, predictions: FloatArray, level: float) -> Interval:
        """Interval around predictions, arrays (subgroup,).

        >>> Unseen(np.array([0.01]), np.ones(1)).interval(np.array([0.5]), 0.95).upper.round(3).tolist()
        [0.696]
        """
        from scipy.special import ndtr

        outside, error = tail(level), np.sqrt(self.variances)
        low, high = 0.0, 40 * float(error.max())
        for _ in range(HALVINGS):
            half = (low + high) / 2
            beyond = 2 * float(self.masses @ ndtr(-half / error))
            low, high = (half, high) if beyond > outside else (low, half)
        return around(predictions, np.full_like(predictions, (low + high) / 2))


def predict(x: FloatArray, z: FloatArray, w: FloatArray, penalty: float, rng: np.random.Generator) -> FloatArray:
    """Predictions of subgroups by the lasso of the others, at one penalty, in the units of the metric.

    Two subgroups or more; the parts are random. Stone (1974), doi:10.1111/j.2517-6161.1974.tb00994.x, on errors of
    prediction by leaving out.

    >>> predict(np.eye(3), np.array([0.1, 0.3, 0.5]), np.ones(3), 100.0, np.random.default_rng(1)).round(3).tolist()
    [0.4, 0.3, 0.2]
    """
    part = rng.permutation(len(z)) % min(PARTS, len(z))
    parts = [part == number for number in range(int(part.max()) + 1)]
    if penalty > 0:
        samples = [huber.Sample(x, z, np.where(left, 0.0, w)) for left in parts]
        predicted = huber.predictions(samples, np.full((len(parts), 1), penalty))[:, 0]
    else:
        predicted = np.stack([lasso.fit(x[~left], z[~left], w[~left], penalty).at(x) for left in parts])
    return np.asarray(predicted[part, np.arange(len(z))])


def unseen(errors: FloatArray, v: FloatArray) -> Unseen:
    """Law of a subgroup without data, from the errors d_a of predicting subgroups left out and their sampling variances.

    InputError with fewer than three errors, or if neither errors nor sampling variances differ from 0. Stein (1981),
    doi:10.1214/aos/1176345632; Morris, Lysy (2012), arXiv:1203.5610, on the flat weight of A. Errors of subgroups left
    out are our choice.
    """
    unit = max(float((errors**2).mean()), float(v.mean())) if len(errors) >= MIN_ERRORS else 0.0
    if not unit > 0:
        raise InputError(f"{len(errors)} errors of prediction must be {MIN_ERRORS} or more, and not all known to be 0")
    variances = np.geomspace(LOWEST, HIGHEST, NODES)
    total = v / unit + variances[:, None]
    log_mass = np.log(variances) - 0.5 * (np.log(total) + errors**2 / unit / total).sum(axis=1)
    mass = np.exp(log_mass - log_mass.max())
    return Unseen(variances * unit, mass / mass.sum())
