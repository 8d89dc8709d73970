"""Centre and width of a metric: from its range, from its rows, from published estimates, and when nothing is known."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable

import numpy as np
import pytest
import xarray as xr

from bayesgroups.models.shared.scales import natural_scale


def _numbers(tally: xr.Dataset) -> list[float]:
    natural = natural_scale(tally)
    return [float(natural[name][0]) for name in ("centre", "scale", "tau_scale")]


def test_finite_range_gives_its_middle_and_half_width(rates: xr.Dataset) -> None:
    assert _numbers(rates) == [0.5, 0.5, 0.25]
    assert _numbers(rates.assign(range_lower=("metric", [-1.0]))) == [0.0, 1.0, 0.5]


def test_without_a_range_the_rows_give_the_scale(means: xr.Dataset) -> None:
    # (30 * .3 + 10 * .5) / 40 and sqrt(.16); the empty subgroup has no say.
    assert _numbers(means) == pytest.approx([0.35, 0.4, 0.2])


def test_published_estimates_are_weighted_by_precision() -> None:
    tally = _published([0.0, 3.0, np.nan], [1.0, 0.5, np.nan])
    assert _numbers(tally) == pytest.approx([2.0, np.sqrt(0.75 + 2.25), np.sqrt(3.0) / 2])


def test_estimates_known_exactly_outweigh_the_others() -> None:
    assert _numbers(_published([1.0, 2.0, 9.0], [0.0, 0.0, 1.0]))[0] == 1.5


def test_tiny_variances_do_not_overflow() -> None:
    assert _numbers(_published([1.0, 2.0], [1e-310, 1e-310]))[0] == pytest.approx(1.5)


@pytest.mark.parametrize("variance", [0.0, np.nan, np.inf])
def test_a_scale_that_says_nothing_is_one(means: xr.Dataset, variance: float) -> None:
    assert _numbers(means.assign(pooled_variance=("metric", [variance])))[1:] == [1.0, 0.5]


def test_a_metric_nobody_has_is_centred_at_zero(means: xr.Dataset) -> None:
    empty = means.assign(estimate=means["estimate"] * np.nan, pooled_variance=("metric", [np.nan]))
    assert _numbers(empty) == [0.0, 1.0, 0.5]
    assert _numbers(_published([np.nan], [np.nan])) == [0.0, 1.0, 0.5]


def test_each_metric_has_its_own(mixed: xr.Dataset) -> None:
    np.testing.assert_allclose(natural_scale(mixed)["centre"], [0.5, 0.35, 0.5])
    np.testing.assert_allclose(natural_scale(mixed)["scale"], [0.5, 0.4, 0.5])


def test_relabelling_subgroups_changes_nothing(make_tally: Callable[..., xr.Dataset], mixed: xr.Dataset) -> None:
    xr.testing.assert_allclose(natural_scale(mixed.isel(subgroup=[2, 0, 1])), natural_scale(mixed))


def test_scales_need_no_pymc() -> None:
    code = (
        "import sys, bayesgroups.models.shared.scales, bayesgroups.models.shared.cells; sys.exit('pymc' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def _published(estimate: list[float], variance: list[float]) -> xr.Dataset:
    cells = ("metric", "subgroup")
    return xr.Dataset(
        {
            "estimate": (cells, [estimate]),
            "sampling_variance": (cells, [variance]),
            "count": (cells, [[np.nan] * len(estimate)]),
            "pooled_variance": ("metric", [np.nan]),
            "kind": ("metric", ["estimate"]),
            "range_lower": ("metric", [-np.inf]),
            "range_upper": ("metric", [np.inf]),
        },
        coords={"metric": ["effect"]},
    )
