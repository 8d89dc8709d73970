"""Measures of a study: closed forms, the worked example of defined events, and jackknife errors."""

from __future__ import annotations

import numpy as np
import pytest
import xarray as xr
from scipy import stats

from bayesgroups.errors import InputError
from bayesgroups.report.levels import LEVELS
from bayesgroups.studies.resampling import study
from bayesgroups.studies.scores import MEASURES, cell_sums, compared, interval_score, jackknife, measures, share_lost
from tests.studies.small_population import halved, population, standard


def _found(estimate: np.ndarray, half: float = 0.1, truth: float = 0.3, rows: int = 3) -> xr.Dataset:
    """A study of one estimator and its copy, one metric and one subgroup; estimates by draw."""
    shape = (2, len(estimate), 1, 1)
    point = np.broadcast_to(np.asarray(estimate, dtype=float)[None, :, None, None], shape)
    halves = half * np.arange(1, len(LEVELS) + 1)
    return xr.Dataset(
        {
            "estimate": (("estimator", "draw", "metric", "subgroup"), point.copy()),
            "lower": (("estimator", "draw", "metric", "subgroup", "level"), point[..., None] - halves),
            "upper": (("estimator", "draw", "metric", "subgroup", "level"), point[..., None] + halves),
            "truth": (("metric", "subgroup"), [[truth]]),
            "rows": (("draw", "subgroup"), np.full((len(estimate), 1), rows)),
            "range_lower": ("metric", [0.0]),
            "range_upper": ("metric", [1.0]),
        },
        {"estimator": ["a", "b"], "metric": ["fnr"], "subgroup": ["all"], "level": np.array(LEVELS)},
    ).assign_coords(draw=np.arange(len(estimate)))


def test_interval_score_has_its_closed_form_for_the_normal_law() -> None:
    level, scale = 0.9, 2.0
    z = stats.norm.ppf((1 + level) / 2)
    grid = stats.norm.ppf((np.arange(200_000) + 0.5) / 200_000) * scale
    score = interval_score(np.array(-z * scale), np.array(z * scale), grid, level).mean()
    assert score == pytest.approx(2 * scale * stats.norm.pdf(z) / ((1 - level) / 2), rel=1e-4)
    for factor in (0.9, 1.1):  # any other symmetric interval scores worse
        bound = np.array(z * scale * factor)
        assert interval_score(-bound, bound, grid, level).mean() > score


def test_interval_score_of_hits_and_misses() -> None:
    lower, upper, truth = np.array([0.0, 0.5, 0.5]), np.array([1.0, 0.6, 0.6]), np.array([0.5, 0.4, 0.9])
    assert interval_score(lower, upper, truth, 0.95) == pytest.approx([1.0, 0.1 + 40 * 0.1, 0.1 + 40 * 0.3])
    assert np.isnan(interval_score(np.array(np.nan), np.array(1.0), np.array(0.5), 0.5))
    with pytest.raises(InputError, match=r"level=1.0 must lie strictly between 0 and 1"):
        interval_score(lower, upper, truth, 1.0)


def test_jackknife_of_a_mean_and_of_a_ratio() -> None:
    values = np.array([3.0, 1.0, 4.0, 1.0, 5.0, 9.0])
    mean, error = jackknife(lambda kept: values[kept[0]].mean(), [6])
    assert mean == pytest.approx(values.mean())
    assert error == pytest.approx(values.std(ddof=1) / np.sqrt(6))
    # Ratio of sums of (1, 2, 3) to (2, 2, 5): leaving one out gives 5/7, 4/7, 3/4.
    top, bottom = np.array([1.0, 2.0, 3.0]), np.array([2.0, 2.0, 5.0])
    left = np.array([5 / 7, 4 / 7, 3 / 4])
    ratio, error = jackknife(lambda kept: top[kept[0]].sum() / bottom[kept[0]].sum(), [3])
    assert ratio == pytest.approx(6 / 9)
    assert error == pytest.approx(np.sqrt(2 / 3 * ((left - left.mean()) ** 2).sum()))


def test_jackknife_adds_independent_blocks() -> None:
    first, second = np.array([1.0, 2.0, 4.0]), np.array([5.0, 5.5, 8.0, 9.0])
    _, error = jackknife(lambda kept: first[kept[0]].mean() - second[kept[1]].mean(), [3, 4])
    assert error == pytest.approx(np.sqrt(first.var(ddof=1) / 3 + second.var(ddof=1) / 4))
    _, error = jackknife(lambda kept: first[kept[0]].mean() - second[kept[1]].mean(), [3, 1])
    assert error == pytest.approx(np.sqrt(first.var(ddof=1) / 3))
    assert np.isnan(jackknife(lambda kept: first[kept[0]].mean(), [1])[1])


def test_worked_example_of_defined_events() -> None:
    """Three rows, P(Y = 1) = .4, FNR = .3: defined with probability .784, unbiased given that, variance .16."""
    random = np.random.default_rng(8)
    positives = random.binomial(3, 0.4, size=40_000)
    missed = random.binomial(positives, 0.3)
    with np.errstate(invalid="ignore"):
        found = _found(missed / positives)
    assert 1 - share_lost(found).loc["fnr", "compared"] == pytest.approx(0.784, abs=0.008)
    sums = cell_sums(found, reference="a").sel(estimator="a", metric="fnr", size_class="all")
    pairs = float(sums["pairs"].sum())
    estimates = found["estimate"].sel(estimator="a").values[compared(found).values]
    assert estimates.mean() == pytest.approx(0.3, abs=0.01)
    assert float(sums["rmse"].sum()) / pairs == pytest.approx(0.16, abs=0.003)
    one = measures(found.isel(draw=slice(300)), reference="a").loc["fnr", "a", "all"]
    assert one["rmse"] ** 2 == pytest.approx(one["bias"] ** 2 + one["variance"])


def test_measures_of_numbers_known_by_hand() -> None:
    found = _found(np.array([0.2, 0.5, 0.4]), half=0.025)
    one = measures(found, reference="b", level=0.95).loc["fnr", "a", "small"]  # half-widths .1
    assert one["mae"] == pytest.approx((0.1 + 0.2 + 0.1) / 3)
    assert one["mae_se"] == pytest.approx(np.std([0.1, 0.2, 0.1], ddof=1) / np.sqrt(3))
    assert one["rmse"] == pytest.approx(np.sqrt(0.02))
    assert one["bias"] == pytest.approx(0.2 / 3)
    assert one["variance"] == pytest.approx(np.var([-0.1, 0.2, 0.1]))
    assert one["width"] == pytest.approx(0.2)
    assert one["relative_width"] == 1.0
    covered = np.array([[0.0, 0.3], [0.4, 0.6], [0.3, 0.5]])
    assert one["interval_score"] == pytest.approx((0.2 * 3 + 40 * 0.1) / 3, rel=1e-9)
    assert len(covered) * one["coverage"] == pytest.approx(round(len(covered) * one["coverage"]))
    assert np.isnan(measures(found, reference="b").loc["fnr", "a", "large"]["mae"])
    assert {f"{name}_se" for name in MEASURES} | set(MEASURES) == set(one.index)


def test_intervals_are_clipped_to_the_range_unless_asked_not_to() -> None:
    found = _found(np.array([0.1, 0.1]), half=0.25)  # [-.9, 1.1]
    assert measures(found, reference="a").loc["fnr", "a", "all"]["width"] == pytest.approx(1.0)
    assert measures(found, reference="a", clip=False).loc["fnr", "a", "all"]["width"] == pytest.approx(2.0)


def test_only_pairs_that_all_have_are_compared_and_an_interval_may_be_absent() -> None:
    found = _found(np.array([0.2, 0.5, 0.4]))
    found["estimate"][1, 0] = np.nan
    found["lower"][1] = np.nan
    sums = cell_sums(found, reference="a").sel(metric="fnr", size_class="all")
    assert sums["pairs"].sum("draw").values.tolist() == [2, 2]
    table = measures(found, reference="a")
    assert np.isfinite(table.loc["fnr", "a", "all"]["coverage"])
    assert np.isnan(table.loc["fnr", "b", "all"]["coverage"])
    assert np.isnan(table.loc["fnr", "b", "all"]["interval_score"])
    assert np.isfinite(table.loc["fnr", "b", "all"]["mae"])
    lost = share_lost(found).loc["fnr"]
    assert lost.round(6).tolist() == [0.333333, 0.0, 0.333333]


def test_size_classes_split_the_pairs() -> None:
    found = study(population(), {"standard": standard, "half": halved}, draws=4, seed=1)
    sums = cell_sums(found, reference="standard")
    for name in ("pairs", "mae", "interval_score"):
        parts = sums[name].sel(size_class="small") + sums[name].sel(size_class="large")
        np.testing.assert_allclose(parts, sums[name].sel(size_class="all"), rtol=1e-12)
    assert (sums["pairs"].sel(size_class="small").values > 0).all()


def test_names_and_levels_that_are_not_there() -> None:
    with pytest.raises(InputError, match="reference='c' is not in the study; known: 'a', 'b'"):
        cell_sums(_found(np.array([0.1])), reference="c")
    with pytest.raises(InputError, match=r"level=0.99 is not in the study"):
        cell_sums(_found(np.array([0.1])), reference="a", level=0.99)


def test_coverage_is_scored_where_the_population_is_large() -> None:
    """A subgroup of few rows in the population has a truth to err from, and none for intervals of the superpopulation."""
    one = population(metrics=("fnr",), coverage_rows=100, coverage_count=30)
    found = study(one, {"standard": standard}, draws=3, seed=1)
    large = found["covers"].values[0]
    whole = one.tally(one.frame)
    assert large.tolist() == ((whole["rows"].values >= 100) & (whole["count"].values[0] >= 30)).tolist()
    assert 0 < large.sum() < 6
    sums = cell_sums(found, reference="standard").sel(estimator="standard", metric="fnr", size_class="all").sum("draw")
    pairs = compared(found).values[:, 0]
    assert float(sums["pairs"]) == pairs.sum()
    assert float(sums["covers"]) == pairs[:, large].sum()
    table = measures(found, reference="standard").loc["fnr", "standard", "all"]
    lower, upper = (found[side].sel(level=0.95).values[0, :, 0] for side in ("lower", "upper"))
    truth = found["truth"].values[0]
    inside = ((np.clip(lower, 0, 1) <= truth) & (truth <= np.clip(upper, 0, 1)))[:, large][pairs[:, large]]
    assert table["coverage"] == pytest.approx(inside.mean())
