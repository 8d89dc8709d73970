"""Densities at plain draws of the values, for models whose residual effects are not integrated out."""

from __future__ import annotations

import numpy as np
import xarray as xr

from bayesgroups.inference.left_out.answer import ESTIMATES, SUCCESSES, LeftOut, without_answer
from bayesgroups.inference.observed_nodes import BinomialNode, NormalNode, ObservedNodes

OBSERVED = {BinomialNode: SUCCESSES, NormalNode: ESTIMATES}
"""Data of nodes that other models observe too."""


def at_draws(answer: ObservedNodes, tally: xr.Dataset) -> LeftOut:
    """Log densities of observed nodes, summed within each subgroup of each metric by the labels of their cells."""
    if answer.reason:
        return without_answer(answer.reason)
    if not answer.nodes:
        return without_answer("the model observes nothing")
    metrics, subgroups = tally["metric"].values, tally["subgroup"].values
    labels = [f"{metric} | {subgroup}" for metric in metrics for subgroup in subgroups]
    places = {label: place for place, label in enumerate(labels)}
    total: np.ndarray | None = None
    for node in answer.nodes:
        names = [str(label) for label in node.labels]
        strange = next((name for name in names if name not in places), None)
        if strange is not None:
            return without_answer(
                f"observations of {node.name!r} are not those of one metric and subgroup: {strange!r} is none of them"
            )
        density = node.log_density()
        total = np.full((len(density), len(labels)), np.nan) if total is None else total
        for cell, name in enumerate(names):
            column = total[:, places[name]]
            total[:, places[name]] = np.where(np.isnan(column), 0.0, column) + density[:, cell]
    assert total is not None
    observed = "; ".join(OBSERVED.get(type(node), node.name) for node in answer.nodes)
    return LeftOut("psis", observed, total.reshape(len(total), len(metrics), len(subgroups)))
