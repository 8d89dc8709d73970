"""The two likelihoods of a tally as PyMC nodes: binomial counts, and normal estimates with known standard errors.

    successes[c] ~ Binomial(count[c], p[c])                              dims: binomial_cell
    estimate[c]  ~ Normal(mean[c], std_error[c])                         dims: normal_cell

Without any observed cell no node is made. When counts are not whole (sums of sample weights) the binomial density is
replaced by its continuation, the pseudo-likelihood
    log Gamma(n + 1) - log Gamma(k + 1) - log Gamma(n - k + 1) + k log p + (n - k) log(1 - p),
which is the same function at whole counts (Savitsky and Toth 2016, doi:10.1214/16-EJS1153). Data that PyMC draws from it are
binomial among the nearest whole number of rows, on the scale of the count.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pymc as pm
import pytensor.tensor as pt

from .shared.cells import BinomialCells, NormalCells, draw_successes

Tensor = Any
"""A PyTensor expression; PyMC carries no types."""


def observe_successes(cells: BinomialCells, p: Tensor) -> None:
    """Add the observed node ``successes(binomial_cell)`` to the model in context.

    Parameters
    ----------
    cells : BinomialCells
        The observed counts.
    p : Tensor
        Shape (C,): the probability of success of each cell. Written as ``invlogit(x)`` its density keeps full
        precision near 0 and 1.

    Examples
    --------
    >>> cells = BinomialCells(np.array([0]), np.array([0]), ["fnr | a"], np.array([2.0]), np.array([5.0]))
    >>> with pm.Model() as model:
    ...     observe_successes(cells, pm.Uniform("p", shape=1))
    >>> model.observed_RVs
    [successes]
    """
    if not cells.label:
        return
    model: Any = pm.modelcontext(None)
    model.add_coord("binomial_cell", cells.label)
    whole = np.array_equal(cells.successes, np.rint(cells.successes))
    if whole and np.array_equal(cells.count, np.rint(cells.count)):
        pm.Binomial(
            "successes",
            n=cells.count.astype(np.int64),
            p=p,
            observed=cells.successes.astype(np.int64),
            dims="binomial_cell",
        )
    else:
        pm.CustomDist(
            "successes",
            cells.count,
            p,
            logp=_log_density,
            random=draw_successes,
            observed=cells.successes,
            dims="binomial_cell",
        )


def observe_estimates(cells: NormalCells, mean: Tensor) -> None:
    """Add the observed node ``estimate(normal_cell)`` to the model in context.

    Parameters
    ----------
    cells : NormalCells
        The observed estimates.
    mean : Tensor
        Shape (C,): the subgroup value behind each cell, in the units of the metric.

    Examples
    --------
    >>> cells = NormalCells(np.array([0]), np.array([0]), ["auc | a"], np.array([0.8]), np.array([0.1]))
    >>> with pm.Model() as model:
    ...     observe_estimates(cells, pm.Normal("mean", shape=1))
    >>> model.observed_RVs
    [estimate]
    """
    if not cells.label:
        return
    model: Any = pm.modelcontext(None)
    model.add_coord("normal_cell", cells.label)
    pm.Normal("estimate", mu=mean, sigma=cells.std_error, observed=cells.estimate, dims="normal_cell")


def _log_density(successes: Tensor, count: Tensor, p: Tensor) -> Tensor:
    """Binomial log density continued to counts that are not whole."""
    failures = count - successes
    log_gamma: Any = pt.gammaln
    choose = log_gamma(count + 1) - log_gamma(successes + 1) - log_gamma(failures + 1)
    # log(1 - p), not log1p(-p): PyTensor then keeps it and its gradient exact when p is an inverse logit.
    return choose + successes * pt.log(p) + failures * pt.log(1 - p)
