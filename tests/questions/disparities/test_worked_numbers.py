"""Worked numbers of the functions behind disparities."""

from __future__ import annotations

import numpy as np
import pandas as pd
import xarray as xr

import bayesgroups as bg
from bayesgroups.questions.disparities import (
    aggregation_steps,
    bootstrap_variance,
    finite_population,
    heterogeneity,
    measures,
    named_measures,
    population_variance,
    q_profile,
    q_unified,
    rate_moments,
    sampling_bias,
    tau_likelihood,
    undefined,
    unified,
)
from bayesgroups.questions.sampling_variances import read_estimates


def test_in_unit() -> None:
    assert aggregation_steps.in_unit(np.array([0.9, 0.6]), np.array([0.75]), "gap").round(6).tolist() == [0.15, 0.15]


def test_over_subgroups() -> None:
    gaps, all_of = np.array([0.1, 0.0, 0.1]), np.ones(3, dtype=bool)
    assert round(float(aggregation_steps.over_subgroups(gaps, "variance", all_of, np.ones(3), np.nan)), 6) == 0.01


def test_resample() -> None:
    counts = bg.tally_from_counts([1, 3], [4, 4], pd.DataFrame({"site": ["a", "b"]}))
    found = bootstrap_variance.resample(counts, 0, read_estimates(counts, 0), seed=1, draws=1000)
    assert found.shape == (1000, 2)
    assert sorted({float(value) for value in found[:, 0]}) == [0.0, 0.25, 0.5, 0.75, 1.0]


def test_noise() -> None:
    sites = pd.DataFrame({"site": list("abcd")})
    estimates = read_estimates(bg.tally_from_counts([36, 16, 7, 3], [40, 20, 10, 5], sites), 0)
    assert bootstrap_variance.noise(estimates.y, estimates, "double_corrected", "published").round(6).tolist() == [
        0.004444,
        0.0156,
        0.0399,
        0.0864,
    ]


def test_variances() -> None:
    estimates = read_estimates(bg.tally_from_counts([36, 16], [40, 20], pd.DataFrame({"site": ["a", "b"]})), 0)
    assert bootstrap_variance.variances(np.array([[0.9, 0.8]]), estimates, "uncorrected", "published").round(
        6
    ).tolist() == [0.005]


def test_bootstrap_variance_interval() -> None:
    found = bootstrap_variance.interval(np.linspace(-0.5, 1.5, 201), 0.5, 0.95, basic=False)
    assert float(found.lower) == 0.0
    assert round(float(found.upper), 6) == 1.45


def test_of_cells() -> None:
    tally = bg.tally_from_counts([36, 16, 7, 3], [40, 20, 10, 5], pd.DataFrame({"site": list("abcd")}))
    assert round(float(finite_population.of_cells(read_estimates(tally, 0)).raw), 6) == -0.006849


def test_of_rates() -> None:
    s, d = np.array([36.0, 16, 7, 3]), np.array([40.0, 20, 10, 5])
    v = s / d * (1 - s / d) / (d - 1)
    assert round(float(finite_population.of_rates(s, d, v, v).raw), 6) == -0.006849


def test_of_means() -> None:
    y, v, many = np.arange(5.0), np.full(5, 0.1), np.full(5, np.inf)
    found = finite_population.of_means(y, many, v, v**2, v)
    assert round(float(found.raw), 6) == 2.4
    assert round(float(found.constant), 6) == 0.005
    assert round(float(found.typical), 6) == 0.1


def test_law() -> None:
    y, v, many = np.arange(5.0), np.full(5, 0.1), np.full(5, np.inf)
    at = finite_population.law(finite_population.of_means(y, many, v, v**2, v), np.array([0.0, 1.0]))
    assert at.variance.round(6).tolist() == [0.005, 0.105]


def test_finite_population_interval() -> None:
    y, v, many = np.arange(5.0), np.full(5, 0.1), np.full(5, np.inf)
    both = finite_population.interval(finite_population.of_means(y, many, v, v**2, v), 0.95)
    assert round(float(both.lower), 2) == 1.55
    assert round(float(both.upper), 2) == 3.49


def test_q_statistic() -> None:
    assert float(heterogeneity.q_statistic(np.array([0.0, 1.0]), np.array([0.5, 0.5]))) == 1.0


def test_hedges() -> None:
    assert float(heterogeneity.hedges(np.array([0.0, 1.0, 2.0]), np.array([0.5, 0.25, 0.75]))) == 0.5


def test_dersimonian_laird() -> None:
    assert round(float(heterogeneity.dersimonian_laird(np.array([0.0, 1.0, 2.0]), np.full(3, 0.1))), 6) == 0.9


def test_paule_mandel() -> None:
    assert round(float(heterogeneity.paule_mandel(np.array([0.0, 1.0, 2.0]), np.full(3, 0.1))), 6) == 0.9


def test_sidik_jonkman() -> None:
    assert round(float(heterogeneity.sidik_jonkman(np.array([0.0, 1.0, 2.0]), np.zeros(3))), 6) == 1.0


def test_solve_q() -> None:
    y, v = np.array([0.0, 1.0, 2.0]), np.full(3, 0.1)
    assert round(float(heterogeneity.solve_q(y, v, lambda t: np.full(t.shape, 4.0))), 6) == 0.4


def test_dersimonian_laird_error() -> None:
    assert round(float(heterogeneity.dersimonian_laird_error(np.zeros(3), np.ones(3), np.zeros(()))), 6) == 1.0


def test_i_squared() -> None:
    assert round(float(heterogeneity.i_squared(np.array([0.0, 1.0, 2.0]), np.full(3, 0.1))), 6) == 0.9


def test_shares() -> None:
    assert measures.shares(np.zeros((2, 4))).tolist() == [0.25, 0.25, 0.25, 0.25]
    assert measures.shares(np.zeros(2), np.array([30.0, 10.0])).tolist() == [0.75, 0.25]


def test_centre() -> None:
    assert float(measures.centre(np.array([0.2, 0.4]))) == 0.30000000000000004
    assert round(float(measures.centre(np.array([0.2, 0.4]), np.array([3.0, 1.0]))), 6) == 0.25


def test_max_min_difference() -> None:
    assert round(float(measures.max_min_difference(np.array([0.9, 0.8, 0.7, 0.6]))), 6) == 0.3


def test_max_min_ratio() -> None:
    y = np.array([0.9, 0.8, 0.7, 0.6])
    assert float(measures.max_min_ratio(y)) == 1.5
    assert round(float(measures.max_min_ratio(y, smoothing=0.05)), 6) == 1.461538
    assert float(measures.max_min_ratio(y - 0.6)) == np.inf


def test_max_absolute_difference() -> None:
    assert round(float(measures.max_absolute_difference(np.array([0.9, 0.8, 0.7, 0.6]))), 6) == 0.15


def test_mean_absolute_deviation() -> None:
    assert round(float(measures.mean_absolute_deviation(np.array([0.9, 0.8, 0.7, 0.6]))), 6) == 0.1


def test_variance() -> None:
    y = np.array([0.9, 0.8, 0.7, 0.6])
    assert round(float(measures.variance(y)), 6) == 0.016667
    assert round(float(measures.variance(y, np.array([40.0, 20, 10, 5]))), 6) == 0.013857


def test_different() -> None:
    assert float(measures.different(np.array([0.5, 0.5]))) == 0.5


def test_generalised_entropy() -> None:
    y = np.array([0.9, 0.8, 0.7, 0.6])
    assert [round(float(measures.generalised_entropy(y, alpha)), 6) for alpha in (2, 0.5, 1, 0)] == [
        0.011111,
        0.01124,
        0.01118,
        0.011319,
    ]


def test_gini() -> None:
    assert float(measures.gini(np.array([0.0, 0.0, 0.0, 1.0]))) == 0.75
    assert round(float(measures.gini(np.array([0.9, 0.8, 0.7, 0.6]))), 6) == 0.083333


def test_worst_group_gap() -> None:
    y = np.array([0.9, 0.8, 0.7, 0.2])
    assert [round(float(measures.worst_group_gap(y, larger_is_better=better)), 6) for better in (True, False)] == [
        0.45,
        0.25,
    ]


def test_measure() -> None:
    y = np.array([0.9, 0.8, 0.7, 0.6])
    assert {
        name: round(float(named_measures.measure(name, y, named_measures.Settings())), 4)
        for name in ("max_min_ratio", "gini", "worst_group_gap")
    } == {"max_min_ratio": 1.5, "gini": 0.0833, "worst_group_gap": 0.15}


def test_if_equal() -> None:
    estimates = read_estimates(bg.tally_from_counts([1, 1], [2, 2], pd.DataFrame({"site": ["a", "b"]})), 0)
    assert sorted(
        {tuple(row) for row in sampling_bias.if_equal(estimates, np.random.default_rng(1), 200).tolist()}
    ) == [
        (0.0, 1.0),
        (0.5, 0.5),
        (1.0, 0.0),
    ]


def test_shrunken_truth() -> None:
    tally = bg.tally_from_estimates([0.0, 1.0, 2.0], [0.1, 0.1, 0.1], pd.DataFrame({"site": list("abc")}))
    assert sampling_bias.shrunken_truth(read_estimates(tally, 0)).round(4).tolist() == [0.0513, 1.0, 1.9487]


def test_given_truth() -> None:
    estimates = read_estimates(bg.tally_from_counts([1, 1], [2, 2], pd.DataFrame({"site": ["a", "b"]})), 0)
    assert sampling_bias.given_truth(np.array([0.0, 1.0]), estimates, np.random.default_rng(1), 2).tolist() == [
        [0.0, 1.0],
        [0.0, 1.0],
    ]


def test_of_population() -> None:
    y, v = np.array([0.0, 1.0, 2.0]), np.full(3, 0.1)
    assert [
        round(population_variance.of_population(y, v, v, method, "q_profile", 0.95).raw, 6)
        for method in ("he", "dl", "reml")
    ] == [0.9, 0.9, 0.9]


def test_two_sided() -> None:
    found = q_profile.two_sided(np.array([0.0, 1.0, 2.0]), np.full(3, 0.1), 0.95)
    assert round(float(found.lower), 6) == 0.171085
    assert round(float(found.upper), 6) == 39.39789


def test_upper_limit() -> None:
    y, v = np.array([0.0, 1.0, 2.0]), np.full(3, 0.1)
    assert bool(np.isclose(q_profile.upper_limit(y, v, 0.975), q_profile.two_sided(y, v, 0.95).upper))


def test_of_sidik_jonkman() -> None:
    found = q_profile.of_sidik_jonkman(np.array(0.456318), 9, 0.95)
    assert round(float(found.lower), 5) == 0.20819
    assert round(float(found.upper), 5) == 1.67477


def test_q_unified_interval() -> None:
    alike = q_unified.interval(np.array([0.0, 0.1, 0.2]), np.full(3, 1.0), 0.95)
    apart = q_unified.interval(np.array([0.0, 4.0, 8.0]), np.full(3, 1.0), 0.95)
    assert float(alike.lower) == 0.0
    assert bool(alike.upper > 0)
    assert bool(apart.lower > 1)


def test_probability_of_likelier() -> None:
    found = q_unified.probability_of_likelier(np.array([1.88, 1.88, 0.5]), np.array([1.0, 0.0, 0.0]), 9.0)
    assert found.round(3).tolist() == [0.95, 0.858, 0.805]


def test_product_of_means() -> None:
    y, v = np.array([0.0, 1.0, 2.0]), np.full(3, 1e-09)
    assert bool(np.isclose(rate_moments.product_of_means(y, v, v**2), 2e-09))


def test_product_of_rates() -> None:
    d = np.full(2, 100000000.0)
    found = rate_moments.product_of_rates(np.array([0.2, 0.4]) * d, d, np.array([0.16, 0.24]) / d)
    assert bool(np.isclose(found, (0.01 * 0.16 + 0.01 * 0.24) / 100000000.0, rtol=1e-06))


def test_squares_of_rates() -> None:
    d = np.array([100000000.0])
    assert bool(
        np.isclose(rate_moments.squares_of_rates(0.2 * d, d, 0.16 / d, 0.16 / d), (0.16 / d) ** 2, rtol=1e-06).all()
    )


def test_under_equality() -> None:
    estimates = read_estimates(bg.tally_from_counts([1, 1], [2, 2], pd.DataFrame({"site": ["a", "b"]})), 0)
    found = sampling_bias.under_equality(
        "max_min_difference", estimates, named_measures.Settings(), np.random.default_rng(1), 2000
    )
    assert abs(found.expected - 1 / 3) < 0.03
    assert found.p_value == 1.0


def test_corrected() -> None:
    estimates = read_estimates(
        bg.tally_from_counts([36, 16, 7, 3], [40, 20, 10, 5], pd.DataFrame({"site": list("abcd")})), 0
    )
    found = sampling_bias.corrected(
        "variance", estimates, named_measures.Settings(), 0.95, np.random.default_rng(1), 100
    )
    assert round(found.value, 6) == -0.006849
    assert found.lower == 0.0


def test_log_likelihood() -> None:
    y, v = np.array([0.0, 2.0]), np.ones(2)
    assert float(tau_likelihood.log_likelihood(y, v, np.zeros(()), restricted=False)) == -1.0


def test_maximise() -> None:
    y, v = np.array([0.0, 1.0, 2.0]), np.full(3, 0.1)
    assert [round(float(tau_likelihood.maximise(y, v, restricted=restricted)), 6) for restricted in (False, True)] == [
        0.566667,
        0.9,
    ]


def test_tau_likelihood_interval() -> None:
    y, v = np.array([0.0, 1.0, 2.0]), np.full(3, 0.1)
    found = tau_likelihood.interval(y, v, tau_likelihood.maximise(y, v, restricted=True), 0.05, restricted=True)
    assert bool(found.lower < 0.9 < found.upper)


def test_std_error() -> None:
    assert [
        round(float(tau_likelihood.std_error(np.ones(3), np.ones(()), restricted=on)), 6) for on in (False, True)
    ] == [1.632993, 2.0]


def test_describe() -> None:
    table = xr.DataArray([[0.5, np.nan]], {"label": ["x"], "subgroup": ["a", "b"]})
    why = undefined.describe(
        table, table.values, np.ones((1, 1)), np.array([np.nan]), group_power=1, unit="gap", undefined="nan"
    )
    assert why["reason"].values.tolist() == ["'x' is undefined in subgroup 'b'"]


def test_tails() -> None:
    found = unified.tails(np.array([0.0, 1.0, 3.0]), 0.95)
    assert found.below.round(4).tolist() == [0.0, 0.0156, 0.025]
    assert found.above.round(4).tolist() == [0.05, 0.0344, 0.025]
