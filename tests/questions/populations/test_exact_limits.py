"""Exact limits of rates behind the limits of a target: hypergeometric of a finite population, binomial otherwise."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import bayesgroups as bg
from bayesgroups.frequentist.intervals.finite_rates import hypergeometric_limits
from bayesgroups.frequentist.intervals.proportions import clopper_pearson
from bayesgroups.frequentist.intervals.weighted_rates import mover_sum
from tests.questions.populations.examples import POPULATION, WEIGHTS, K, N, frequentist, golden, limits, schools

SITE = pd.DataFrame({"site": ["a"]})


def test_the_worked_numbers() -> None:
    tally = bg.tally_from_counts([3], [10], SITE, metric="acc")
    target = bg.poststratify(tally, SITE.assign(count=[40]), finite=True, interval="exact")
    assert limits(target) == golden("M7_finite")["hypergeometric_exact"]
    table = frequentist(target)
    assert str(table["interval_method"].values) == "mover_exact"
    assert float(table["std_error"]) == pytest.approx(golden("M7_finite")["freq_se_fpc"])
    census = bg.poststratify(tally, SITE.assign(count=[10]), finite=True, interval="exact")
    assert limits(census) == [0.3, 0.3]


@pytest.mark.parametrize("level", [0.5, 0.95])
def test_all_samples_of_small_populations(level: float) -> None:
    alpha = (1 - level) / 2
    for size, n in ((1, 0), (7, 3), (12, 12), (23, 9)):
        k = np.arange(n + 1.0)
        answer = hypergeometric_limits(k, np.full(n + 1, float(n)), np.full(n + 1, float(size)), level)
        rates = np.arange(size + 1)
        for i in range(n + 1):
            kept = [
                j for j in rates if i <= j <= size - (n - i)
                and stats.hypergeom.sf(i - 1, size, j, n) > alpha and stats.hypergeom.cdf(i, size, j, n) > alpha
            ]  # fmt: skip
            assert [answer.lower[i] * size, answer.upper[i] * size] == pytest.approx([min(kept), max(kept)])
        # Whatever the rate, the interval covers it at least as often as it says.
        inside = (answer.lower[None] <= rates[:, None] / size + 1e-12) & (
            answer.upper[None] >= rates[:, None] / size - 1e-12
        )
        chance = stats.hypergeom.pmf(k[None], size, rates[:, None], n)
        assert ((inside * chance).sum(axis=1) > level - 1e-12).all()


def test_a_large_population_has_binomial_limits() -> None:
    near = hypergeometric_limits(np.array([3.0]), np.array([10.0]), np.array([1e7]), 0.95)
    far = clopper_pearson(np.array([3.0]), np.array([10.0]), 0.95)
    assert [near.lower[0], near.upper[0]] == pytest.approx([far.lower[0], far.upper[0]], abs=1e-5)


def test_limits_of_several_cells_are_put_together() -> None:
    exact = clopper_pearson(K.astype(float), N.astype(float), 0.95)
    expected = mover_sum(K / N, exact.lower, exact.upper, WEIGHTS)
    plain = bg.poststratify(schools(), POPULATION)
    wide = bg.poststratify(schools(), POPULATION, interval="exact")
    assert limits(wide) == pytest.approx([float(end) for end in expected])
    assert limits(wide)[0] < limits(plain)[0]
    assert limits(wide)[1] > limits(plain)[1]


def test_rows_that_are_no_counts_are_refused() -> None:
    frame = pd.DataFrame({"type": ["E", "H", "M"] * 4, "loss": np.arange(12.0), "w": np.linspace(1, 2, 12)})
    means = bg.tally(frame, by=["type"], metrics=["mean"], loss="loss")
    with pytest.raises(
        bg.InputError, match="interval='exact': metric 'mean' is of kind 'mean'; exact limits are of rates"
    ):
        bg.poststratify(means, POPULATION, interval="exact")
    weighted = bg.tally(frame.assign(y=[0, 1] * 6), by=["type"], metrics=["sel"], y_pred="y", weights="w")
    with pytest.raises(bg.InputError, match="metric 'sel' has weighted or clustered rows"):
        bg.poststratify(weighted, POPULATION, interval="exact")
    with pytest.raises(bg.InputError, match="interval='exakt' is not one of 'wilson', 'mid_p', 'score', 'exact'"):
        bg.poststratify(schools(), POPULATION, interval="exakt")  # type: ignore[arg-type]


def test_mid_p_limits_lie_between_wilson_and_exact_ones() -> None:
    target = bg.poststratify(schools(), POPULATION, interval="mid_p")
    assert str(frequentist(target)["interval_method"].values) == "mover_mid_p"
    plain, wide = (
        limits(bg.poststratify(schools(), POPULATION)),
        limits(bg.poststratify(schools(), POPULATION, interval="exact")),
    )
    narrow = limits(target)
    assert wide[0] < narrow[0]
    assert narrow[1] < wide[1]
    assert narrow == pytest.approx(plain, abs=0.01)


def test_mid_p_limits_of_one_cell_are_its_own() -> None:
    tally = bg.tally_from_counts([3], [10], SITE, metric="acc")
    assert limits(bg.poststratify(tally, SITE.assign(count=[40]), interval="mid_p")) == pytest.approx(
        [0.0826, 0.6199], abs=1e-4
    )
    census = bg.poststratify(tally, SITE.assign(count=[10]), finite=True, interval="mid_p")
    assert limits(census) == pytest.approx([0.3, 0.3])
