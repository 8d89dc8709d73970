"""Corrected variances: the worked example, exact expectations, published intervals, edges, every error."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from scipy.stats import binom

import bayesgroups as bg
from bayesgroups.errors import InputError, SchemaError
from bayesgroups.questions.disparities import bootstrap_variance, finite_population
from bayesgroups.questions.disparities.between_group_variance import INTERVALS, Method
from bayesgroups.questions.disparities.rate_moments import product_of_rates, squares_of_rates
from bayesgroups.questions.disparities.unified import tails
from bayesgroups.questions.sampling_variances import read_estimates

METHODS = tuple(INTERVALS)
K, N = [36, 16, 7, 3], [40, 20, 10, 5]


def sites(number: int) -> pd.DataFrame:
    return pd.DataFrame({"site": [f"s{i:03d}" for i in range(number)]})


def example() -> xr.Dataset:
    return bg.tally_from_counts(K, N, sites(4), metric="tpr")


def asked(tally: xr.Dataset, method: Method = "double_corrected", **settings: Any) -> xr.Dataset:
    return bg.between_group_variance(tally, method, **settings).isel(metric=0)


def test_worked_example() -> None:
    tally = example()
    assert float(asked(tally, "uncorrected")["raw"]) == pytest.approx(0.016667, abs=5e-7)
    for method in ("corrected", "double_corrected"):
        found = asked(tally, method, form="published")
        assert float(found["raw"]) == pytest.approx(-0.003146, abs=5e-7)
        assert float(found["truncated"]) == 0.0
        assert float(asked(tally, method)["raw"]) == pytest.approx(-0.006849, abs=5e-7)
    estimates = read_estimates(tally, 0)
    expected = {("corrected", "published"): [0.00225, 0.008, 0.021, 0.048],
                ("corrected", "unbiased"): [0.002308, 0.008421, 0.023333, 0.06],
                ("double_corrected", "published"): [0.004444, 0.0156, 0.0399, 0.0864]}  # fmt: skip
    for (correction, form), values in expected.items():
        found_noise = bootstrap_variance.noise(estimates.y, estimates, correction, form)  # type: ignore[arg-type]
        np.testing.assert_allclose(found_noise, values, atol=5e-7)
    np.testing.assert_allclose(estimates.v + estimates.resampled, [0.004558, 0.016421, 0.044333, 0.108], atol=5e-7)


@pytest.mark.parametrize(("n", "mu"), [(2, 0.3), (8, 0.3), (5, 0.9)])
def test_double_correction_is_unbiased(n: int, mu: float) -> None:
    """The expectation over samples and replicates of what is taken off, in closed form by summing over all of them."""
    estimates = read_estimates(bg.tally_from_counts([1, 1], [n, n], sites(2)), 0)
    k = np.arange(n + 1)
    target = mu * (1 - mu) * (2 * n - 1) / n**2
    weights = binom.pmf(k, n, mu)
    expected = dict.fromkeys(("unbiased", "published"), 0.0)
    for form in expected:
        off = bootstrap_variance.noise(np.stack([k / n, k / n], axis=1), estimates, "double_corrected", form)[:, 0]  # type: ignore[arg-type]
        replicate = np.array([binom.pmf(k, n, one / n) @ off for one in k])
        expected[form] = float(weights @ replicate)
    assert expected["unbiased"] == pytest.approx(target, rel=1e-10)
    assert expected["published"] == pytest.approx(target * (1 - 1 / n) ** 2, rel=1e-10)


def test_corrected_variance_and_its_error_are_exact() -> None:
    """Expectation and variance over every outcome of three small subgroups."""
    n, mu = np.array([4, 5, 6]), np.array([0.3, 0.5, 0.8])
    mean = square = 0.0
    for counts in itertools.product(*(range(size + 1) for size in n)):
        probability = float(np.prod(binom.pmf(counts, n, mu)))
        y = np.array(counts) / n
        raw = y.var(ddof=1) - (y * (1 - y) / (n - 1)).mean()
        mean, square = mean + probability * raw, square + probability * raw**2
    assert mean == pytest.approx(mu.var(ddof=1), abs=1e-12)
    v = mu * (1 - mu) / n
    delta = mu - mu.mean()
    crossed = (v.sum() ** 2 - (v**2).sum()) / 2
    error = 4 * (delta**2 * v).sum() / 4 + 2 / 9 * (v**2 * n / (n - 1)).sum() + 4 / (3 * 2) ** 2 * crossed
    assert square - mean**2 == pytest.approx(error, rel=1e-10)


def test_moments_of_rates_are_unbiased() -> None:
    n, mu = np.array([4.0, 5.0]), np.array([0.3, 0.6])
    products, squares = 0.0, np.zeros(2)
    for counts in itertools.product(range(5), range(6)):
        probability = float(np.prod(binom.pmf(counts, n, mu)))
        s = np.array(counts, dtype=np.float64)
        v = s / n * (1 - s / n) / (n - 1)
        products += probability * float(product_of_rates(s, n, v))
        squares += probability * squares_of_rates(s, n, v, v)
    v = mu * (1 - mu) / n
    assert products == pytest.approx(float(((mu - mu.mean()) ** 2 * v).sum()), rel=1e-10)
    np.testing.assert_allclose(squares, v**2, rtol=1e-10)


ADULT: dict[str, tuple[list[int], list[int], float, float, tuple[float, float], tuple[float, float]]] = {
    "race SR": ([125, 401, 1347, 115, 12665], [10, 99, 114, 8, 2662], 0.00699, 0.00665, (0.0045, 0.0108), (0.0037, 0.0103)),
    "race FPR": ([109, 302, 1198, 101, 9498], [3, 28, 29, 0, 596], 0.00132, 0.00121, (0.0007, 0.0025), (0.0005, 0.0022)),
}  # fmt: skip


@pytest.mark.parametrize("name", ADULT)
def test_published_example(name: str) -> None:
    """Table values of Lum et al., section 6; their intervals are of 500 replicates."""
    n, k, plain, corrected, uncorrected_limits, limits = ADULT[name]
    tally = bg.tally_from_counts(k, n, sites(5))
    for method, value, ends in (
        ("uncorrected", plain, uncorrected_limits), ("double_corrected", corrected, limits),
    ):  # fmt: skip
        found = asked(tally, method, form="published", draws=4000, seed=1)  # type: ignore[arg-type]
        assert float(found["raw"]) == pytest.approx(value, abs=5.1e-6)
        assert [float(found["lower"]), float(found["upper"])] == pytest.approx(ends, abs=4e-4)


@pytest.mark.parametrize("method", METHODS)
def test_every_interval_of_every_method(method: Method) -> None:
    rng = np.random.default_rng(4)
    tally = bg.tally_from_counts(rng.binomial(60, np.linspace(0.2, 0.7, 8)), [60] * 8, sites(8))
    for name in INTERVALS[method]:
        found = asked(tally, method, interval=name, draws=400)
        assert str(found["interval_method"].values) == name
        assert 0 <= float(found["lower"]) < float(found["truncated"]) < float(found["upper"])
        assert found.attrs["interval_kind"] == ("bound" if name == "upper" else "confidence")
        assert (float(found["lower"]) == 0) == (name == "upper")
    assert float(found["q"]) > float(found["q_df"]) == 7
    assert 0 < float(found["i_squared"]) < 1


@pytest.mark.parametrize("method", METHODS)
def test_order_of_subgroups_does_not_matter(method: Method) -> None:
    rng = np.random.default_rng(7)
    k, n, order = rng.binomial(30, 0.4, 6), np.arange(25, 55, 5), rng.permutation(6)
    k = np.minimum(k, n)
    for name in INTERVALS[method]:
        if name in ("percentile", "basic"):
            continue
        one = asked(bg.tally_from_counts(k, n, sites(6)), method, interval=name)
        two = asked(bg.tally_from_counts(k[order], n[order], sites(6)), method, interval=name)
        for key in ("raw", "lower", "upper"):
            assert float(two[key]) == pytest.approx(float(one[key]), abs=1e-9)


def test_successes_and_failures_are_alike() -> None:
    one = asked(example(), "corrected", interval="unified")
    two = asked(bg.tally_from_counts(np.array(N) - K, N, sites(4)), "corrected", interval="unified")
    for key in ("raw", "std_error", "lower", "upper"):
        assert float(two[key]) == pytest.approx(float(one[key]), abs=1e-9)


@pytest.mark.parametrize("scale", [1e-3, 1e4])
def test_units_of_a_mean(scale: float) -> None:
    rng = np.random.default_rng(3)
    frame = pd.DataFrame({"site": rng.choice(list("abcdef"), 300), "loss": rng.gamma(2.0, 1.0, 300)})
    one = bg.tally(frame, by=["site"], metrics=["mean"], loss="loss")
    two = bg.tally(frame.assign(loss=scale * frame["loss"]), by=["site"], metrics=["mean"], loss="loss")
    for method in METHODS:
        first, second = asked(one, method, draws=300), asked(two, method, draws=300)
        for key in ("raw", "lower", "upper"):
            assert float(second[key]) / scale**2 == pytest.approx(float(first[key]), abs=1e-6)


def test_coverage_in_the_published_designs() -> None:
    """A few replicates of the hardest one, unequal sizes and rates; the record has the others."""
    rng = np.random.default_rng(6)
    k = np.arange(100)
    n, mu = np.round(10 + 80 * k / 99), 0.1 + 0.8 * k / 99
    s = rng.binomial(n.astype(int), mu, size=(400, 100)).astype(np.float64)
    y = s / n
    v = y * (1 - y) / (n - 1)
    limits = finite_population.interval(finite_population.of_rates(s, n, v, v), 0.95)
    covered = (limits.lower <= mu.var(ddof=1)) & (mu.var(ddof=1) <= limits.upper)
    assert 0.92 < covered.mean() < 0.98


def test_tails_follow_the_published_construction() -> None:
    """Upper limits of Feldman and Cousins, table X, for a measurement of -3.0: 0.26, 0.42, 0.80."""
    for level, mean in ((0.9, 0.26), (0.95, 0.42), (0.99, 0.80)):
        below = float(tails(np.array(mean), level).below)
        from scipy.stats import norm

        assert mean + norm.ppf(below) == pytest.approx(-3.0, abs=0.06)


def test_intervals_of_large_subgroups_agree() -> None:
    """With many subgroups and rows the test of every value and the double-corrected bootstrap say the same."""
    rng = np.random.default_rng(9)
    tally = bg.tally_from_counts(rng.binomial(2000, np.linspace(0.3, 0.7, 60)), [2000] * 60, sites(60))
    one = asked(tally, "corrected", interval="unified")
    for name in ("percentile", "basic"):
        two = asked(tally, "double_corrected", interval=name)
        width = float(one["upper"] - one["lower"])
        assert float(two["lower"]) == pytest.approx(float(one["lower"]), abs=0.12 * width)
        assert float(two["upper"]) == pytest.approx(float(one["upper"]), abs=0.12 * width)


def test_subgroups_that_cannot_be_estimated_are_left_out() -> None:
    found = asked(bg.tally_from_counts([3, 0, 5], [10, 0, 9], sites(3)), "corrected")
    assert (int(found["subgroups"]), str(found["left_out"].values)) == (2, "s001 (no rows)")


@pytest.mark.parametrize("method", METHODS)
def test_fewer_than_two_subgroups(method: Method) -> None:
    found = asked(bg.tally_from_counts([3, 0], [10, 0], sites(2)), method)
    assert np.isnan([float(found[key]) for key in ("raw", "truncated", "lower", "upper", "q")]).all()
    assert str(found["reason"].values) == "fewer than two subgroups with an estimate"


def test_single_rows_take_the_pooled_variance() -> None:
    tally = bg.tally_from_counts([1, 0, 4, 1, 0], [1, 1, 9, 1, 1], sites(5))
    estimates = read_estimates(tally, 0)
    pooled = float(tally["pooled_variance"].values[0])
    assert estimates.v[[0, 1, 3, 4]].tolist() == pytest.approx([pooled] * 4)
    found = asked(tally, "double_corrected")
    assert "rests on the pooled row variance" in str(found["note"].values)
    assert np.isfinite(float(found["upper"]))
    assert np.isfinite(float(asked(tally, "corrected", interval="unified")["upper"]))


def test_saturated_subgroups() -> None:
    """A rate of 0 is no proof; the classic estimators take the pooled variance for it."""
    tally = bg.tally_from_counts([0, 3, 5], [10, 12, 9], sites(3))
    found = asked(tally, "reml")
    assert "all rows agree in 1 of the subgroups" in str(found["note"].values)
    assert np.isfinite([float(found[key]) for key in ("raw", "lower", "upper")]).all()


def test_rows_that_all_agree_say_nothing() -> None:
    tally = bg.tally_from_counts([0, 0, 0], [10, 12, 9], sites(3))
    for method in ("dl", "he"):
        assert "nothing says how exact" in str(asked(tally, method)["reason"].values)
    found = asked(tally, "corrected", interval="unified")
    assert float(found["raw"]) == 0.0
    assert np.isnan(float(found["upper"]))
    assert "nothing says how exact" in str(found["reason"].values)


def test_published_estimates() -> None:
    tally = bg.tally_from_estimates([0.1, 0.3, 0.8], [0.01, 0.02, 0.01], sites(3))
    for method in METHODS:
        found = asked(tally, method)
        assert 0 <= float(found["lower"]) <= float(found["truncated"]) <= float(found["upper"])
    expected = np.var([0.1, 0.3, 0.8], ddof=1) - 0.04 / 3
    assert float(asked(tally, "corrected")["raw"]) == pytest.approx(expected)


def test_auc_and_f1_have_an_answer() -> None:
    rng = np.random.default_rng(2)
    site = rng.choice(list("abcd"), 400)
    y = rng.integers(0, 2, 400)
    score = rng.normal(size=400) + y * pd.Series(site).map({"a": 0.2, "b": 1.0, "c": 1.5, "d": 3.0}).to_numpy()
    frame = pd.DataFrame({"site": site, "y": y, "score": score})
    tally = bg.tally(frame, by=["site"], metrics=["auc", "f1"], y_true="y", y_score="score", threshold=0.5)
    for method, name in (("double_corrected", "percentile"), ("corrected", "unified"), ("reml", "unified")):
        found = bg.between_group_variance(tally, method, interval=name, draws=500)  # type: ignore[arg-type]
        assert (found["raw"].sel(metric="auc") > 0).all()
        assert (found["lower"] <= found["truncated"]).all()
        assert (found["truncated"] <= found["upper"]).all()


def test_metrics_do_not_disturb_each_other() -> None:
    two = bg.tally_from_counts({"a": K, "b": [1, 2, 3, 4]}, {"a": N, "b": N}, sites(4))
    alone = bg.tally_from_counts({"b": [1, 2, 3, 4]}, {"b": N}, sites(4))
    for name in ("percentile", "unified"):
        both = bg.between_group_variance(two, interval=name, seed=5).sel(metric="b")
        one = bg.between_group_variance(alone, interval=name, seed=5).sel(metric="b")
        assert float(both["upper"]) == float(one["upper"])


def test_law_of_known_equal_variances() -> None:
    """2 v^2 / (K - 1) at 0, 4 v / (K - 1) more per unit, as of a non-central chi-square."""
    tally = bg.tally_from_estimates(np.linspace(0, 1, 6), [0.04] * 6, sites(6))
    found = finite_population.of_cells(read_estimates(tally, 0))
    at = finite_population.law(found, np.array([0.0, 0.5]))
    assert at.variance.tolist() == pytest.approx([2 * 0.04**2 / 5, 2 * 0.04**2 / 5 + 4 * 0.04 * 0.5 / 5])
    assert at.third.tolist() == pytest.approx([8 * 0.04**3 / 25, 8 * 0.04**3 / 25 + 24 * 0.04**2 * 0.5 / 25])


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"method": "dll"}, "method='dll' is not one of"),
        ({"interval": "wald"}, "interval='wald' is not one of"),
        ({"form": "plain"}, "form='plain' is not one of"),
        ({"variances": "mine"}, "variances='mine' is not one of"),
        ({"draws": 0}, "draws=0 must be 1 or more"),
        ({"method": "dl", "interval": "percentile"}, "method 'dl' has no interval 'percentile'; it has 'q_profile'"),
        ({"method": "uncorrected", "interval": "unified"}, "has no interval 'unified'"),
        ({"level": 1.0}, "strictly between 0 and 1"),
    ],
)
def test_settings_that_do_not_exist(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        bg.between_group_variance(example(), **settings)


def test_what_is_no_tally() -> None:
    with pytest.raises(SchemaError, match="tally must come from"):
        bg.between_group_variance(xr.Dataset())


def test_levels_of_the_pieces() -> None:
    found = finite_population.of_cells(read_estimates(example(), 0))
    for call in (
        lambda: finite_population.interval(found, 0.0),
        lambda: bootstrap_variance.interval(np.zeros(3), 0.0, 1.0, basic=False),
        lambda: tails(np.zeros(1), 2.0),
    ):
        with pytest.raises(InputError, match="strictly between 0 and 1"):
            call()


def test_limits_of_the_bootstrap_say_what_keeps_the_level() -> None:
    for method in ("uncorrected", "corrected", "double_corrected"):
        assert "interval='unified' keeps the level" in str(asked(example(), method)["note"].values)
    assert "unified" not in str(asked(example(), interval="unified")["note"].values)
    assert "unified" not in str(asked(example(), "reml")["note"].values)
    assert "unified" not in str(asked(bg.tally_from_counts([3], [9], sites(1)))["note"].values)


@pytest.mark.slow
def test_few_subgroups_of_few_rows_as_the_note_says() -> None:
    """150 tables: 79 % of the percentile limits, all of the unified ones."""
    rng = np.random.default_rng(3)
    size, rates = np.array([3, 20, 30, 3, 1, 80]), np.array([0.2, 0.3, 0.4, 0.8, 0.7, 0.5])
    covered = {"percentile": 0, "unified": 0}
    for seed in range(150):
        tally = bg.tally_from_counts(rng.binomial(size, rates), size, sites(6))
        for name in covered:
            found = asked(tally, interval=name, draws=300, seed=seed)
            covered[name] += bool(found["lower"] <= rates.var(ddof=1) <= found["upper"])
    assert covered["percentile"] / 150 == pytest.approx(0.79, abs=0.02)
    assert covered["unified"] / 150 > 0.95
