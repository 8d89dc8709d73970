"""Estimators of tau^2 and their intervals: published values, closed forms, brute force, invariance."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bayesgroups.data.arrays import FloatArray
from bayesgroups.errors import InputError
from bayesgroups.questions.disparities import heterogeneity, q_profile, q_unified, tau_likelihood
from bayesgroups.questions.disparities.population_variance import of_population

FOLDER = Path(__file__).parents[2] / "golden" / "metafor"
GOLDEN = json.loads((FOLDER / "values.json").read_text(encoding="utf-8"))
INTERVALS = json.loads((FOLDER / "tau_squared_intervals.json").read_text(encoding="utf-8"))
DATA = ("V1", "V2", "Collins", "BCG", "EX-F")
METHODS = ("he", "dl", "pm", "sj", "ml", "reml")
DIGITS = 1.5e-6  # six decimals are printed; data are rounded


def golden(name: str) -> tuple[FloatArray, FloatArray]:
    entry = GOLDEN[name]
    if "counts" in entry:
        a, b, c, d = np.array(entry["counts"], dtype=np.float64).T
        return np.log((a / (a + b)) / (c / (c + d))), 1 / a - 1 / (a + b) + 1 / c - 1 / (c + d)
    y = np.array(entry["y"])
    return y, np.array(entry["v"]) if "v" in entry else y * (1 - y) / np.array(entry["n"])


def estimate(method: str, y: FloatArray, v: FloatArray) -> float:
    return of_population(y, v, v, method, "q_profile", 0.95).raw


@pytest.mark.parametrize("name", DATA)
def test_published_values(name: str) -> None:
    y, v = golden(name)
    for method, value in GOLDEN[name]["tau_squared"].items():
        assert estimate(method, y, v) == pytest.approx(value, abs=DIGITS), method
    found = q_profile.two_sided(y, v, 0.95)
    assert [float(found.lower), float(found.upper)] == pytest.approx(GOLDEN[name]["q_profile"], abs=5e-6)
    assert float(heterogeneity.q_statistic(y, v)) == pytest.approx(GOLDEN[name]["q"], abs=1e-5)


def test_published_intervals() -> None:
    y, v = golden("Collins")
    for method, value in INTERVALS["tau_squared"].items():
        assert estimate(method, y, v) == pytest.approx(value, abs=5e-4)
    for method, limits in INTERVALS["profile_likelihood"].items():
        found = of_population(y, v, v, method, "profile_likelihood", 0.95)
        assert [float(found.interval.lower), float(found.interval.upper)] == pytest.approx(limits, abs=5.1e-4)
        wald = [found.raw - 1.96 * found.std_error, found.raw + 1.96 * found.std_error]
        assert wald == pytest.approx(INTERVALS["wald"][method], abs=5.1e-4)
    found = of_population(y, v, v, "sj", "sidik_jonkman", 0.95)
    assert [float(found.interval.lower), float(found.interval.upper)] == pytest.approx(
        INTERVALS["sidik_jonkman"], abs=5.1e-4
    )


def test_against_statsmodels() -> None:
    effects = pytest.importorskip("statsmodels.stats.meta_analysis")
    rng = np.random.default_rng(5)
    for _ in range(2):
        v = rng.uniform(0.05, 0.4, 12)
        y = rng.normal(0.0, np.sqrt(v + 0.3))
        for method, theirs in (("dl", "chi2"), ("pm", "iterated")):
            tau2 = effects.combine_effects(y, v, method_re=theirs).tau2
            assert estimate(method, y, v) == pytest.approx(max(float(tau2), 0.0), abs=1e-5)


@pytest.mark.parametrize("restricted", [False, True])
def test_maximum_against_brute_force(restricted: bool) -> None:
    """Very unequal variances, where the likelihood may have more than one top."""
    rng = np.random.default_rng(8)
    for _ in range(6):
        v = 10.0 ** rng.uniform(-4, 1, 5)
        y = rng.normal(0.0, np.sqrt(v + rng.choice([0.0, 0.1, 2.0])))
        found = tau_likelihood.maximise(y, v, restricted=restricted)
        grid = np.concatenate([[0.0], np.geomspace(1e-8, 1e3, 50_001)])
        values = np.array(
            [
                tau_likelihood.log_likelihood(y, v, part, restricted=restricted)
                for part in np.array_split(grid[:, None], 50)
            ],
            dtype=object,
        )
        best = max(float(part.max()) for part in values)
        assert float(tau_likelihood.log_likelihood(y, v, found, restricted=restricted)) >= best - 1e-9


@pytest.mark.parametrize("method", ["he", "dl", "pm", "reml"])
def test_equal_variances_have_one_answer(method: str) -> None:
    y = np.array([1.0, 2.0, 4.0, 8.0])
    assert estimate(method, y, np.full(4, 0.5)) == pytest.approx(y.var(ddof=1) - 0.5, abs=1e-9)


def test_ml_with_equal_variances() -> None:
    y = np.array([1.0, 2.0, 4.0, 8.0])
    assert estimate("ml", y, np.full(4, 0.5)) == pytest.approx(y.var() - 0.5, abs=1e-9)


def test_paule_mandel_solves_its_equation() -> None:
    y, v = golden("V1")
    assert float(heterogeneity.q_statistic(y, v, heterogeneity.paule_mandel(y, v))) == pytest.approx(len(y) - 1)


def test_profile_interval_ends_where_the_likelihood_has_fallen() -> None:
    y, v = golden("BCG")
    top = tau_likelihood.maximise(y, v, restricted=True)
    found = tau_likelihood.interval(y, v, top, 0.05, restricted=True)
    best = tau_likelihood.log_likelihood(y, v, top, restricted=True)
    for end in (found.lower, found.upper):
        fall = best - tau_likelihood.log_likelihood(y, v, np.asarray(end), restricted=True)
        assert float(fall) == pytest.approx(3.841458820694124 / 2, abs=1e-8)


@given(
    seed=st.integers(0, 2**32 - 1),
    k=st.integers(2, 9),
    shift=st.floats(-3, 3),
    scale=st.floats(1e-3, 1e3),
)
@settings(max_examples=8, deadline=None)
def test_invariance(seed: int, k: int, shift: float, scale: float) -> None:
    """Order and origin do not matter; tau^2 has the square of the unit."""
    rng = np.random.default_rng(seed)
    v = rng.uniform(0.1, 2.0, k)
    y = rng.normal(0.0, np.sqrt(v + rng.uniform(0, 2)))
    order = rng.permutation(k)
    for method, interval in (
        *((name, "q_profile") for name in METHODS),
        ("reml", "profile_likelihood"),
        ("dl", "unified"),
    ):
        one = of_population(y, v, v, method, interval, 0.9)
        two = of_population(shift + scale * y[order], scale**2 * v[order], scale**2 * v[order], method, interval, 0.9)
        unit = 1 + abs(one.raw)
        assert two.raw / scale**2 == pytest.approx(one.raw, abs=1e-7 * unit, rel=1e-6)
        for side in ("lower", "upper"):
            mine, other = float(getattr(one.interval, side)), float(getattr(two.interval, side)) / scale**2
            assert other == pytest.approx(mine, abs=1e-5, rel=1e-4)


def test_arrays_are_answered_one_by_one() -> None:
    rng = np.random.default_rng(2)
    v = rng.uniform(0.1, 1, (3, 6))
    y = rng.normal(size=(3, 6)) * 2
    for method in ("dersimonian_laird", "paule_mandel", "hedges", "sidik_jonkman"):
        together = getattr(heterogeneity, method)(y, v)
        np.testing.assert_allclose(together, [getattr(heterogeneity, method)(y[i], v[i]) for i in range(3)])
    together = tau_likelihood.maximise(y, v, restricted=True)
    np.testing.assert_allclose(together, [tau_likelihood.maximise(y[i], v[i], restricted=True) for i in range(3)])
    limits = q_unified.interval(y, v, 0.9)
    np.testing.assert_allclose(limits.upper, [q_unified.interval(y[i], v[i], 0.9).upper for i in range(3)], rtol=1e-9)


@pytest.mark.parametrize("k", [2, 12])
@pytest.mark.parametrize("tau2", [0.0, 0.2, 2.0])
def test_unified_interval_keeps_its_level(k: int, tau2: float) -> None:
    """Also at 0, where the two-sided interval covers too often; and it is never empty."""
    rng = np.random.default_rng(k)
    v = rng.uniform(0.3, 3.0, k)
    y = rng.normal(size=(1500, k)) * np.sqrt(v + tau2)
    one, two = q_unified.interval(y, v, 0.9), q_profile.two_sided(y, v, 0.9)
    assert float(np.mean((one.lower <= tau2) & (tau2 <= one.upper))) == pytest.approx(0.9, abs=0.026)
    assert (one.upper > 0).all()
    expected = 0.95 if tau2 == 0 else 0.9
    assert float(np.mean((two.lower <= tau2) & (tau2 <= two.upper))) == pytest.approx(expected, abs=0.026)
    assert np.median(one.upper - one.lower) < np.median(two.upper - two.lower)


def test_likelihood_ratio_orders_the_unified_test() -> None:
    """At rho = 0 two values are alike if s - log s is; at rho = 1 all values below 1 are as likely as can be."""
    s = np.array([0.4, 2.0])
    found = q_unified.probability_of_likelier(s, np.zeros(2), 7.0)
    partner = q_unified.probability_of_likelier(np.array([0.4063757]), np.zeros(1), 7.0)  # 0.40638 - log = 2 - log 2
    assert found[1] == pytest.approx(float(partner[0]), abs=1e-6)
    assert q_unified.probability_of_likelier(s[:1], np.ones(1), 7.0).tolist() == [0.0]


def test_alike_estimates_make_an_empty_q_profile() -> None:
    y, v = np.array([0.0, 1e-3, 2e-3]), np.ones(3)
    found = q_profile.two_sided(y, v, 0.95)
    assert (float(found.lower), float(found.upper)) == (0.0, 0.0)
    assert float(q_unified.interval(y, v, 0.95).upper) > 0


def test_equal_estimates() -> None:
    y, v = np.full(4, 0.3), np.full(4, 0.1)
    assert [max(estimate(method, y, v), 0.0) for method in METHODS] == [0.0] * 6
    assert float(q_unified.interval(y, v, 0.95).upper) > 0
    assert float(heterogeneity.i_squared(y, v)) == 0.0


@pytest.mark.parametrize("level", [0.0, 1.0, 1.5])
def test_levels_that_are_none(level: float) -> None:
    y, v = golden("V1")
    for call in (
        lambda: q_profile.two_sided(y, v, level),
        lambda: q_profile.upper_limit(y, v, level),
        lambda: q_profile.of_sidik_jonkman(np.array(1.0), 3, level),
        lambda: q_unified.interval(y, v, level),
    ):
        with pytest.raises(InputError, match="strictly between 0 and 1"):
            call()
