"""Limits and tests of paired counts: worked numbers, statsmodels, mirrored systems and the ends of tables."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import stats

from bayesgroups.frequentist.intervals import paired_rates
from bayesgroups.questions.certification.multiplicity import adjust

GOLDEN = json.loads((Path(__file__).parents[1] / "golden" / "labels" / "r_pairs.json").read_text(encoding="utf-8"))
TABLES = [name for name, values in GOLDEN.items() if "both" in values]
Z = float(stats.norm.ppf(0.975))


def cells(table: Any) -> list[np.ndarray]:
    return [np.array([float(table[name])]) for name in ("both", "a_only", "b_only", "neither")]


@pytest.mark.parametrize("name", TABLES)
def test_worked_tables(name: str) -> None:
    table = GOLDEN[name]
    both, first, second, neither = cells(table)
    n = both + first + second + neither
    for limits, expected in (
        (paired_rates.paired_newcombe(both, first, second, neither, Z), table["newcombe"]),
        (paired_rates.paired_tango(first, second, n, Z), table["tango"]),
        (paired_rates.paired_wald(first, second, n, Z), table["wald"]),
    ):
        np.testing.assert_allclose([limits.lower[0], limits.upper[0]], expected, atol=1e-7)
    np.testing.assert_allclose(paired_rates.wald_error(first, second, n), table["se"], rtol=1e-12)
    np.testing.assert_allclose(paired_rates.mcnemar(first, second), table["mcnemar_midp"], rtol=1e-11)
    np.testing.assert_allclose(paired_rates.mcnemar(first, second, mid=False), table["mcnemar_exact"], rtol=1e-11)


def test_tests_equal_those_of_statsmodels() -> None:
    from statsmodels.stats.contingency_tables import mcnemar

    first, second = (part.ravel().astype(np.float64) for part in np.mgrid[0:9, 0:9])
    exact = [mcnemar([[3, b], [c, 4]], exact=True).pvalue for b, c in zip(first, second, strict=True)]
    np.testing.assert_allclose(paired_rates.mcnemar(first, second, mid=False), exact, rtol=1e-10)


def test_the_other_order_of_systems_mirrors_every_byte() -> None:
    both, first, second, neither = np.random.default_rng(3).integers(0, 30, (4, 200)).astype(np.float64)
    n = both + first + second + neither
    for limits, mirrored in (
        (
            paired_rates.paired_newcombe(both, first, second, neither, Z),
            paired_rates.paired_newcombe(both, second, first, neither, Z),
        ),
        (paired_rates.paired_tango(first, second, n, Z), paired_rates.paired_tango(second, first, n, Z)),
        (paired_rates.paired_wald(first, second, n, Z), paired_rates.paired_wald(second, first, n, Z)),
    ):
        np.testing.assert_array_equal(limits.lower, -mirrored.upper)
        np.testing.assert_array_equal(limits.upper, -mirrored.lower)
        assert (limits.lower <= limits.upper).all()
    assert (paired_rates.mcnemar(first, second) == paired_rates.mcnemar(second, first)).all()


def test_limits_agree_with_the_score_test() -> None:
    first, second, n = np.array([5.0, 20.0]), np.array([2.0, 35.0]), np.array([30.0, 90.0])
    limits = paired_rates.paired_tango(first, second, n, Z)
    for at in (limits.lower, limits.upper):  # by the likelihood itself
        for b, c, m, t in zip(first, second, n, at, strict=True):
            q = np.linspace(max(0.0, -t), (1 - t) / 2, 2_000_001)[1:-1]
            best = q[np.argmax(b * np.log(q + t) + c * np.log(q) + (m - b - c) * np.log(1 - 2 * q - t))]
            assert abs(b - c - m * t) / np.sqrt(m * (2 * best + t - t * t)) == pytest.approx(Z, abs=1e-4)


def test_ends_of_tables() -> None:
    first, second = np.array([0.0, 0.0, 4.0, 0.0]), np.array([0.0, 0.0, 0.0, 4.0])
    n = np.array([10.0, 0.0, 4.0, 4.0])
    limits = paired_rates.paired_tango(first, second, n, Z)
    assert limits.lower[0] == -limits.upper[0] < 0
    assert np.isnan(limits.lower[1])
    assert limits.upper[2] == 1.0
    assert limits.lower[3] == -1.0
    newcombe = paired_rates.paired_newcombe(n - first - second, first, second, 0 * n, Z)
    assert np.isnan(newcombe.lower[1])
    assert newcombe.lower[0] < 0 < newcombe.upper[0]
    assert paired_rates.mcnemar(first, second)[:2].tolist() == [1.0, 1.0]


def test_holm() -> None:
    np.testing.assert_allclose(adjust(np.array(GOLDEN["holm"]["p"]), "holm"), GOLDEN["holm"]["adjusted"], atol=1e-12)
