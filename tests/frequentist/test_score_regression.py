"""The score regression and its two bootstraps."""

from __future__ import annotations

import numpy as np

from bayesgroups.frequentist.score_regression import Kinds, Totals, fit, one_step, resample, sums


def _sample(size: int = 4000) -> tuple[Kinds, np.ndarray, np.ndarray]:
    """Rows of eight kinds: outcome, two binary attributes; score and kind, sorted by kind."""
    rng = np.random.default_rng(3)
    kind = np.sort(rng.integers(0, 8, size))
    y, a, b = kind % 2, kind // 2 % 2, kind // 4
    score = -1 + 1.1 * y + 0.3 * a - 0.2 * b + 0.4 * y * a + np.exp(-0.1 + 0.2 * y) * rng.standard_normal(size)
    code = np.arange(8)
    one, (y, a, b) = np.ones(8), (code % 2, code // 2 % 2, code // 4)
    return Kinds(np.column_stack([one, y, a, b, y * a, y * b]), np.column_stack([one, y])), kind, score


def test_the_fit_is_the_most_likely_one() -> None:
    kinds, kind, score = _sample()
    totals = sums(kind, 8, score, np.ones(len(score)), np.zeros(len(score)))
    found = fit(kinds, totals)

    def log_likelihood(beta: np.ndarray, gamma: np.ndarray) -> float:
        centre, log_sd = (kinds.x @ beta)[kind], (kinds.z @ gamma)[kind]
        return float((-log_sd - 0.5 * ((score - centre) * np.exp(-log_sd)) ** 2).sum())

    best = log_likelihood(found.beta, found.gamma)
    for step in (-1e-3, 1e-3):
        for i in range(6):
            assert log_likelihood(found.beta + step * np.eye(6)[i], found.gamma) < best
        for i in range(2):
            assert log_likelihood(found.beta, found.gamma + step * np.eye(2)[i]) < best
    np.testing.assert_allclose(found.beta, [-1, 1.1, 0.3, -0.2, 0.4, 0.0], atol=0.15)
    np.testing.assert_allclose(found.gamma, [-0.1, 0.2], atol=0.06)


def test_one_step_and_full_bootstrap_have_the_same_standard_errors() -> None:
    kinds, kind, score = _sample()
    none = np.zeros(len(score))
    totals = sums(kind, 8, score, np.ones(len(score)), none)
    found = fit(kinds, totals)
    drawn = resample(kind, 8, score, np.ones(len(score)), none, 400, np.random.default_rng(1))
    fast, full = one_step(kinds, totals, found, drawn), fit(kinds, drawn)
    np.testing.assert_allclose(fast.beta.std(axis=0), full.beta.std(axis=0), rtol=0.02)
    np.testing.assert_allclose(fast.gamma.std(axis=0), full.gamma.std(axis=0), rtol=0.02)
    # Replicate by replicate, not only in distribution.
    assert np.corrcoef(fast.beta[:, 4], full.beta[:, 4])[0, 1] > 0.995


def test_bins_are_resampled_as_their_rows() -> None:
    _, kind, score = _sample(600)
    weight = np.ones(len(score))
    plain = resample(kind, 8, score, weight, 0 * weight, 2000, np.random.default_rng(1))
    assert (plain.number.sum(axis=1) == 600).all()
    share = np.bincount(kind, minlength=8) / 600
    np.testing.assert_allclose(plain.number.mean(axis=0) / 600, share, atol=0.003)
    np.testing.assert_allclose(plain.number.var(axis=0), 600 * share * (1 - share), rtol=0.15)


def test_kinds_without_rows_do_not_break_the_fit() -> None:
    kinds = Kinds(np.eye(3), np.ones((3, 1)))
    found = fit(kinds, Totals(np.array([3.0, 0.0, 2.0]), np.array([3.0, 0.0, 4.0]), np.array([5.0, 0.0, 10.0])))
    assert np.isfinite(found.beta).all()
    assert found.beta[1] == 0.0


def test_equal_scores_stop_at_a_floor() -> None:
    kinds = Kinds(np.eye(2), np.eye(2))
    found = fit(kinds, Totals(np.array([3.0, 4.0]), np.array([3.0, 0.0]), np.array([3.0, 8.0])))
    assert np.isfinite(found.gamma).all()
