"""Outcomes given a decision where all rows are decided on and few have an outcome. No PyMC here.

The logit of a positive outcome given a decision has all of the differences in the base rate and those of the decisions: by Bayes'
theorem logit ppv = logit prevalence + log(sensitivity / (1 - specificity)). Its components therefore have wider priors than where
all outcomes are known, and it depends on the judged rate of the subgroup, x, with a slope of its own in every factor:

    logit p[f, g] = alpha[f] + judged_rate_slope[f] x[g] + effects,      judged_rate_slope ~ Normal(0, 1)

x is the posterior mean of the logit of the rate of the decision, given all rows, less its mean over the subgroups; with three
classes that of the log share less the mean log share of the three. The likelihood of outcomes is conditional on the decisions, so
that x is a group-level predictor, as in regression with poststratification. With more than three classes there is none.

References
----------
Gelman, Little (1997), "Poststratification into many categories using hierarchical logistic regression".
"""

from __future__ import annotations

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from .confusion_tree import Tree

FloatArray = NDArray[np.float64]

SLOPE_SD = 1.0
"""Prior standard deviation of the slope of the judged rate."""
MOST_CLASSES = 3
"""Classes beyond which the judged rate is left out."""


def uses_judged_rate(tally: xr.Dataset, judged_rate: bool | None) -> bool:
    """True if outcomes have the priors of few labels: as said, and where nothing is said, if some row has no outcome.

    Examples
    --------
    >>> some = xr.Dataset({"decision_count": 9.0, "judged": 9.0, "labelled": 2.0})
    >>> uses_judged_rate(some, None), uses_judged_rate(some, False), uses_judged_rate(xr.Dataset(), None)
    (True, False, False)
    """
    if judged_rate is not None:
        return judged_rate
    return "decision_count" in tally and bool((tally["judged"] > tally["labelled"]).any())


def judged_rates(decision_share: FloatArray, found: Tree) -> dict[str, FloatArray]:
    """Predictor x (subgroup,) of every factor that is about outcomes, by its name.

    Parameters
    ----------
    decision_share : array (draw, subgroup, decision)
        Shares of the decisions among all rows.
    found : Tree
        The factors.

    Returns
    -------
    dict of arrays
        Empty with more than three classes.

    Examples
    --------
    >>> paths = ((((0, False), (2, False)), ((0, True), (1, False))), (((0, False), (2, True)), ((0, True), (1, True))))
    >>> found = Tree(("sel", "ppv", "for"), np.ones((3, 2)), np.ones((3, 2)), (True, False, False), paths, ("0", "1"))
    >>> rates = judged_rates(np.array([[[0.5, 0.5], [0.2, 0.8]]]), found)
    >>> {name: x.round(3).tolist() for name, x in rates.items()}
    {'ppv': [-0.693, 0.693], 'for': [-0.693, 0.693]}
    """
    if len(found.labels) > MOST_CLASSES:
        return {}
    log_share = np.log(np.maximum(decision_share, np.finfo(np.float64).tiny))
    if len(found.labels) == 2:
        x = np.repeat((log_share[..., 1] - log_share[..., 0]).mean(axis=0)[:, None], 2, axis=1)
    else:
        x = (log_share - log_share.mean(axis=-1, keepdims=True)).mean(axis=0)
    x = x - x.mean(axis=0)
    decision = decision_of(found)
    return {name: x[:, decision[i]] for i, name in enumerate(found.names) if not found.decides[i]}


def decision_of(found: Tree) -> dict[int, int]:
    """Decision that a factor about outcomes is conditional on, by position.

    Examples
    --------
    >>> paths = ((((0, False), (2, False)), ((0, True), (1, False))), (((0, False), (2, True)), ((0, True), (1, True))))
    >>> decision_of(Tree(("sel", "ppv", "for"), np.ones((3, 1)), np.ones((3, 1)), (True, False, False), paths, ("0", "1")))
    {2: 0, 1: 1}
    """
    return {
        factor: decision
        for row in found.paths
        for decision, path in enumerate(row)
        for factor, _ in path
        if not found.decides[factor]
    }


def shares_of_counts(found: Tree) -> FloatArray:
    """Shares (1, subgroup, decision) of the decisions among the rows, with half a row more on either side of every cut.

    Examples
    --------
    >>> paths = ((((0, False),), ((0, True),)),)
    >>> shares_of_counts(Tree(("sel",), np.array([[3.0]]), np.array([[9.0]]), (True,), paths, ("0", "1"))).tolist()
    [[[0.65, 0.35]]]
    """
    rate = (found.successes + 0.5) / (found.count + 1)
    columns = []
    for decision in range(len(found.labels)):
        cut = [(factor, side) for factor, side in found.paths[0][decision] if found.decides[factor]]
        columns.append(np.prod([rate[factor] if side else 1 - rate[factor] for factor, side in cut], axis=0))
    return np.stack(columns, axis=-1)[None]
