"""Smooth differences between the calibration of subgroups: a shift and a slope of logits, each with its own pooling.

With q the share of positives per bin of the score that subgroups share, and h the logit of the bin's score, centred and in
standard deviations,

    logit p[g, bin] = logit q[bin] + theta[g, 0] + theta[g, 1] h[bin],   theta[g, j] ~ Normal(0, tau_j).

What is left goes to the bins one by one, as Beta(kappa p, kappa (1 - p)).

References
----------
Cox (1958), doi:10.1093/biomet/45.3-4.562, intercept and slope of calibration; Van Calster et al. (2019),
doi:10.1186/s12916-019-1466-7.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from bayesgroups.data.arrays import FloatArray
from bayesgroups.questions.curves import hierarchy, tilts
from bayesgroups.questions.curves.tilts import Tilts

EDGE = 1e-3
"""Scores nearer to 0 or 1 than this are taken to lie here before their logit is formed."""


def members(counts: FloatArray, score: FloatArray, rng: np.random.Generator, draws: int) -> list[FloatArray]:
    """Draws (draw, bin) of the share of positives, one array per subgroup, from negatives and positives (bin, subgroup, 2).

    ``score`` (bin,) stands for each bin, in [0, 1].
    """
    spread = fit(counts, score, rng, draws)
    if spread is None:
        common = hierarchy.shared(counts, rng, draws)
        return [hierarchy.members(common, counts[:, g], rng)[..., 1] for g in range(counts.shape[1])]
    expected = _moved(_share(counts), spread.best @ spread.basis).swapaxes(0, 1)
    common = hierarchy.shared(counts, rng, draws, expected=np.stack([1 - expected, expected], axis=-1))
    drawn = []
    for g in range(counts.shape[1]):
        share = _moved(common.base[..., 1], _members(spread, common.base[..., 1], counts[:, g], g, rng) @ spread.basis)
        base = hierarchy.Shared(common.kappa, np.stack([1 - share, share], axis=-1))
        drawn.append(hierarchy.members(base, counts[:, g], rng)[..., 1])
    return drawn


def fit(counts: FloatArray, score: FloatArray, rng: np.random.Generator, draws: int) -> Tilts | None:
    """Fit shift and slope of all subgroups and draw their spread; ``None`` with fewer than two that have rows."""
    rows = counts.sum(axis=-1)
    if (rows.sum(axis=0) > 0).sum() < tilts.MIN_SUBGROUPS:
        return None
    q, weight = _share(counts), rows.sum(axis=1)
    inside = np.clip(score, EDGE, 1 - EDGE)
    h = np.log(inside / (1 - inside))
    h = h - np.average(h, weights=weight)
    spread = float(np.sqrt(np.average(h**2, weights=weight)))
    basis = np.stack([np.ones_like(h), h / spread]) if spread > 0 else np.ones((1, len(h)))
    likelihoods = [partial(_derivatives, q, basis, counts[:, g]) for g in range(rows.shape[1])]
    return tilts.fit_spread(basis, likelihoods, rows.sum(axis=0) > 0, rng, draws)


def _members(spread: Tilts, q: FloatArray, cells: FloatArray, subgroup: int, rng: np.random.Generator) -> FloatArray:
    """Draw shift and slope of one subgroup for draws of the shared curve, (draw, bin); see `tilts.members`."""
    rows, size = cells.sum(axis=1), len(spread.basis)
    squares = (spread.basis[:, None] * spread.basis).reshape(size**2, -1)

    def derivatives(theta: FloatArray) -> tuple[FloatArray, FloatArray]:
        p = _moved(q, theta @ spread.basis)
        information = ((rows * p * (1 - p)) @ squares.T).reshape(-1, size, size)
        return (cells[:, 1] - rows * p) @ spread.basis.T, information

    return tilts.follow(spread, subgroup, derivatives, rng)


def _share(counts: FloatArray) -> FloatArray:
    """Share of positives per bin, strictly inside (0, 1), large subgroups held back as in `tilts.centre`."""
    rows = counts.sum(axis=-1)
    total = rows.sum(axis=0)
    half = np.median(total[total > 0]) if (total > 0).any() else 1.0
    weighted = (counts * (half / (total + half))[:, None]).sum(axis=1) + 0.5
    return np.asarray(weighted[:, 1] / weighted.sum(axis=1), dtype=np.float64)


def _moved(share: FloatArray, by: FloatArray) -> FloatArray:
    """Shares with their logits moved, kept off 0 and 1."""
    inside = np.clip(share, 1e-12, 1 - 1e-12)
    return np.asarray(np.clip(0.5 * (1 + np.tanh((np.log(inside / (1 - inside)) + by) / 2)), 1e-12, 1 - 1e-12))


def _derivatives(
    q: FloatArray, basis: FloatArray, cells: FloatArray, theta: FloatArray
) -> tuple[FloatArray, FloatArray]:
    rows = cells.sum(axis=1)
    p = _moved(q, theta @ basis)
    information = (basis * (rows * p * (1 - p))) @ basis.T + tilts.MIN_INFORMATION * np.eye(len(basis))
    return basis @ (cells[:, 1] - rows * p), information
