"""Observed nodes of models whose likelihood needs parameters that a report does not keep: disagreement, and scores."""

from __future__ import annotations

import numpy as np
import xarray as xr

from bayesgroups.data.arrays import FloatArray
from bayesgroups.inference.observed_nodes import (
    BinomialNode,
    GammaNode,
    MultinomialNode,
    Node,
    NormalNode,
    ObservedNodes,
)
from bayesgroups.models.shared.score_cells import score_cells

HIDDEN = "a report keeps the metrics and not the parameters of the likelihood"


def disagreement_nodes(draws: xr.Dataset, tally: xr.Dataset) -> ObservedNodes:
    """Nodes ``judgements`` and ``disagreements`` without critics, at disagreement rates and shares of labels."""
    if "disagreement_rate" not in draws:
        return ObservedNodes((), HIDDEN, hidden=True)
    disagree = np.asarray(tally["disagreements"].transpose("label", "subgroup").values, dtype=np.float64)
    total = disagree + tally["agreements"].transpose("label", "subgroup").values
    dims = ("sample", "label", "subgroup")
    rate, share = (np.asarray(draws[name].transpose(*dims).values) for name in ("disagreement_rate", "label_share"))
    label, subgroup = np.nonzero(total)
    judged = np.flatnonzero(total.sum(axis=0))
    judgements = MultinomialNode(
        "judgements", "judged_subgroup", judged.tolist(), total[:, judged].T,
        np.swapaxes(share[:, :, judged], 1, 2), ("label", tally["label"].values.tolist()),
    )  # fmt: skip
    disagreements = BinomialNode(
        "disagreements", "binomial_cell", range(len(label)), disagree[label, subgroup], total[label, subgroup],
        rate[:, label, subgroup],
    )  # fmt: skip
    return ObservedNodes((judgements, disagreements) if len(label) else ())


def score_nodes(draws: xr.Dataset, source: xr.Dataset, *, finite: bool) -> ObservedNodes:
    """Nodes ``score_mean``, ``score_scatter`` and, unless outcomes are taken as given, ``successes``, of normal scores.

    ``source`` is a tally with score moments, in standard units.
    """
    if "score_cell_mean" not in draws:
        return ObservedNodes((), HIDDEN, hidden=True)
    scores = score_cells(source)
    dims = ("sample", "subgroup", "score_outcome")
    mean, sd = (np.asarray(draws[name].transpose(*dims).values) for name in ("score_cell_mean", "score_cell_sd"))
    with_rows, several = np.nonzero(scores.count > 0), np.nonzero((scores.count > 1) & (scores.scatter > 0))
    nodes: list[Node] = []
    if len(with_rows[0]):
        error = sd[:, with_rows[0], with_rows[1]] / np.sqrt(scores.count[with_rows])
        labels = range(len(with_rows[0]))
        nodes.append(
            NormalNode(
                "score_mean", "score_cell", labels, scores.mean[with_rows], mean[:, with_rows[0], with_rows[1]], error
            )
        )
    if len(several[0]):
        shape, rate = 0.5 * (scores.count[several] - 1), 0.5 / sd[:, several[0], several[1]] ** 2
        labels = range(len(several[0]))
        nodes.append(GammaNode("score_scatter", "score_spread_cell", labels, scores.scatter[several], shape, rate))
    if not finite:
        share = np.asarray(draws["outcome_share"].transpose("sample", "subgroup").values)
        nodes += outcome_nodes(source, share)
    return ObservedNodes(tuple(nodes))


def outcome_nodes(source: xr.Dataset, share: FloatArray) -> list[Node]:
    """Node ``successes``, the positive outcomes among the rows of every subgroup, at shares (draw, subgroup)."""
    scores = score_cells(source)
    rows = scores.count.sum(axis=1)
    some = np.flatnonzero(rows > 0)
    labels = [f"outcome | {source['subgroup'].values[i]}" for i in some]
    if not labels:
        return []
    return [BinomialNode("successes", "binomial_cell", labels, scores.count[some, 1], rows[some], share[:, some])]
