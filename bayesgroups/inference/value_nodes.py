"""Observed nodes of models whose likelihood needs draws of subgroup values alone, or of shares of confusion cells."""

from __future__ import annotations

import numpy as np
import xarray as xr

from bayesgroups.data.arrays import FloatArray
from bayesgroups.inference.observed_nodes import BinomialNode, Node, NormalNode, ObservedNodes
from bayesgroups.models.shared.cells import BinomialCells, NormalCells, binomial_cells, normal_cells
from bayesgroups.models.shared.confusion_tree import Path, Tree, tree
from bayesgroups.models.shared.scales import natural_scale
from bayesgroups.report.posterior import with_chains

THETA = "theta"
"""Values of subgroups before they are brought into the range of the metric, where an engine had to do that."""


def value_nodes(values: FloatArray, tally: xr.Dataset, *, binomial: bool) -> ObservedNodes:
    """Nodes of one metric: ``successes``, or ``estimate`` with known standard errors, at ``values`` (draw, subgroup).

    Subgroups of a metric that was not fitted, whose values are NaN, have no cell.
    """
    metrics, fitted = np.array([binomial]), xr.DataArray(np.isfinite(values).all(axis=0), dims="subgroup")
    if binomial:
        cells = binomial_cells(tally.assign(count=tally["count"].where(fitted, 0.0)), metrics)
        return ObservedNodes(_some(successes_node(cells, values[:, None])))
    scale = natural_scale(tally)["scale"].values
    estimates = normal_cells(tally.assign(estimate=tally["estimate"].where(fitted)), ~metrics, scale)
    return ObservedNodes(_some(estimates_node(estimates, values)))


def latent_value_nodes(draws: xr.Dataset, tally: xr.Dataset) -> ObservedNodes:
    """Nodes of one metric with a normal likelihood of values that the model brings into the range of the metric.

    Where a draw of ``mu`` lies at an end of the range, the value may have been beyond it, and ``theta`` is needed.
    """
    if THETA in draws:
        return value_nodes(subgroup_values(draws, THETA), tally, binomial=False)
    mu = subgroup_values(draws)
    low, high = (tally[name].values[0] for name in ("range_lower", "range_upper"))
    if ((mu <= low) | (mu >= high)).any():
        return ObservedNodes((), "values beyond the range of the metric are not kept in the report", hidden=True)
    return value_nodes(mu, tally, binomial=False)


def unclipped(tally: xr.Dataset, theta: FloatArray) -> xr.Dataset | None:
    """Values (draw, subgroup) of one metric as `latent_value_nodes` reads them; nothing where all are in the range."""
    low, high = (float(tally[name].values[0]) for name in ("range_lower", "range_upper"))
    beyond = theta.size and (np.nanmin(theta) <= low or np.nanmax(theta) >= high)
    return with_chains(tally, {THETA: ("metric subgroup", theta[:, None])}) if beyond else None


def confusion_nodes(draws: xr.Dataset, tally: xr.Dataset) -> ObservedNodes:
    """Node ``successes`` of the factors of confusion cells, at draws of ``cell_share``."""
    factors = tree(tally)
    p = factor_rates(draws, factors)
    factor, subgroup = np.nonzero(factors.count > 0)
    labels = [f"{factors.names[f]} | {tally['subgroup'].values[g]}" for f, g in zip(factor, subgroup, strict=True)]
    observed = factors.count > 0
    cells = BinomialCells(factor, subgroup, labels, factors.successes[observed], factors.count[observed])
    return ObservedNodes(_some(successes_node(cells, p)))


def factor_rates(draws: xr.Dataset, factors: Tree) -> FloatArray:
    """Rates (draw, factor, subgroup) of the factors of confusion cells, at draws of ``cell_share``."""
    share = np.asarray(draws["cell_share"].transpose("sample", "subgroup", "outcome", "decision").values)
    return np.stack([_factor(share, factors.paths, i) for i in range(len(factors.names))], axis=1)


def subgroup_values(draws: xr.Dataset, name: str = "mu") -> FloatArray:
    """Draws (draw, subgroup) of the one metric that the draws have."""
    return np.asarray(draws[name].isel(metric=0).transpose("sample", "subgroup").values, dtype=np.float64)


def successes_node(cells: BinomialCells, p: FloatArray) -> BinomialNode:
    """Node ``successes`` at rates (draw, metric, subgroup)."""
    return BinomialNode(
        "successes", "binomial_cell", cells.label, cells.successes, cells.count, p[:, cells.metric, cells.subgroup]
    )


def estimates_node(cells: NormalCells, values: FloatArray) -> NormalNode:
    """Node ``estimate`` of one metric at values (draw, subgroup)."""
    return NormalNode(
        "estimate", "normal_cell", cells.label, cells.estimate, values[:, cells.subgroup], cells.std_error
    )


def _some(node: Node) -> tuple[Node, ...]:
    """The node, or nothing where it has no cell; a model has none then."""
    return (node,) if len(node.labels) else ()


def _factor(share: FloatArray, paths: tuple[tuple[Path, ...], ...], factor: int) -> FloatArray:
    """Rate (draw, subgroup) of one factor: the cells on the side of its successes among all those below it."""
    below, above = np.zeros(share.shape[:2]), np.zeros(share.shape[:2])
    for outcome, row in enumerate(paths):
        for decision, path in enumerate(row):
            for step, success in path:
                if step == factor:
                    below += share[:, :, outcome, decision]
                    above += success * share[:, :, outcome, decision]
    # A decision of probability 0 has no rows, so that any rate after it has the same likelihood.
    return np.divide(above, below, out=np.full_like(above, 0.5), where=below > 0)
