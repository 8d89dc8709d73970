"""Empirical Bayes on a tally: hyper-parameters, statuses, edges of every interval."""

from __future__ import annotations

from collections.abc import Callable
from typing import get_args

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from hypothesis import given, settings
from hypothesis import strategies as st

import bayesgroups as bg
from bayesgroups.errors import InputError
from bayesgroups.frequentist import no_pooling, partial_pooling
from bayesgroups.frequentist.intervals import fab, moments, morris, robust
from tests.frequentist.hostile_cells import CELLS, tally_of

MakeTally = Callable[..., xr.Dataset]
INTERVALS: tuple[partial_pooling.Choice, ...] = get_args(partial_pooling.Choice)
FITS = {
    "morris": lambda z, v: morris.interval(morris.fit(z, v), 0.9),
    "plug_in": lambda z, v: moments.interval(moments.fit(z, v), 0.9),
    "robust": lambda z, v: robust.interval(robust.fit(z, v), 0.9),
    "fab": lambda z, v: fab.interval(fab.fit(z, v), 0.9),
}


@pytest.fixture
def five_and_none(make_tally: MakeTally) -> xr.Dataset:
    return make_tally([0.20, 0.25, 0.40, 0.10, 0.75, np.nan], [50, 30, 15, 8, 4, 0])


@pytest.mark.parametrize("interval", INTERVALS)
def test_every_interval(five_and_none: xr.Dataset, interval: partial_pooling.Choice) -> None:
    found = partial_pooling.estimate(five_and_none, interval=interval)
    z, v = five_and_none["estimate"].values, five_and_none["sampling_variance"].values
    expected = FITS[interval](z, v)
    np.testing.assert_array_equal(found["lower"].sel(level=0.9), expected.lower)
    np.testing.assert_array_equal(found["upper"].sel(level=0.9), expected.upper)
    assert found["interval_method"].values.tolist() == [interval]
    assert found["status"].values.tolist() == [["ok"] * 5 + ["imputed"]]
    assert found["estimate"].values[0, -1] == pytest.approx(found["overall"].values[0])
    assert found["shrinkage"].dims == ("metric", "subgroup")
    assert ((found["shrinkage"] > 0) & (found["shrinkage"] <= 1)).values[0, :5].all()
    assert np.isnan(found["shrinkage"].values[0, -1])
    assert (found["std_error"] > 0).all()
    assert found["site"].values.tolist() == [f"g{i}" for i in range(6)]
    widths = (found["upper"] - found["lower"]).values[0, :5]
    assert (np.diff(widths, axis=-1) > 0).all()


def test_hyper_parameters(five_and_none: xr.Dataset) -> None:
    tau = {name: partial_pooling.estimate(five_and_none, interval=name)["tau"].item() ** 2 for name in INTERVALS}
    assert tau["morris"] == pytest.approx(0.034455, abs=1e-6)
    assert tau["plug_in"] == tau["fab"] == pytest.approx(0.013813, abs=1e-6)
    assert tau["robust"] == pytest.approx(0.007847, abs=1e-6)


def test_a_negative_variance_is_kept_raw_and_flagged(make_tally: MakeTally) -> None:
    tally = make_tally([0.3, 0.31, 0.29, 0.3, np.nan], [20, 10, 30, 5, 0])
    found = partial_pooling.estimate(tally, interval="plug_in")
    assert found["tau"].item() == 0 > found["tau_squared_raw"].item()
    assert found["status"].values.tolist() == [["degenerate"] * 4 + ["imputed"]]
    np.testing.assert_array_equal(found["lower"].values[0, :4], found["upper"].values[0, :4])
    assert (found["upper"] > found["lower"]).values[0, 4].all()  # the centre is uncertain
    for interval in ("morris", "robust", "fab"):
        other = partial_pooling.estimate(tally, interval=interval)
        assert (other["upper"] > other["lower"]).all()
        assert other["status"].values.tolist() == [["ok"] * 4 + ["imputed"]]


@pytest.mark.parametrize(("interval", "fewest"), [("morris", 4), ("fab", 3), ("plug_in", 2), ("robust", 2)])
def test_few_subgroups(make_tally: MakeTally, interval: partial_pooling.Choice, fewest: int) -> None:
    for size in range(5):
        tally = make_tally([0.1, 0.5, 0.6, 0.9, np.nan][:size] + [np.nan], [9, 8, 7, 6][:size] + [0])
        found = partial_pooling.estimate(tally, interval=interval)
        enough = size >= fewest
        assert found["interval_method"].values.tolist() == [interval if enough else "unshrunk"]
        assert found["status"].values[0, -1] == ("imputed" if size else "undefined")
        assert np.isfinite(found["tau"].item()) == (size >= 2)
        if not enough:
            plain = no_pooling.estimate(tally, interval="pooled_normal")
            np.testing.assert_array_equal(found["estimate"][:, :size], plain["estimate"][:, :size])
            np.testing.assert_allclose(found["upper"][:, :size], plain["upper"][:, :size], rtol=1e-12)
            assert (found["shrinkage"][:, :size] == 0).all()
        if size >= 2:
            assert not np.isnan(found["upper"].values[0, -1]).any()
        if not size:
            assert np.isnan([found["overall"].item(), found["tau"].item()]).all()


@pytest.mark.parametrize("interval", INTERVALS)
def test_no_sampling_variance(make_tally: MakeTally, interval: partial_pooling.Choice) -> None:
    tally = make_tally([0.0, 0.0, np.nan], [5, 9, 0], pooled_variance=0.0)
    found = partial_pooling.estimate(tally, interval=interval)
    assert found["estimate"].values[0, :2].tolist() == [0, 0]
    assert found["status"].values.tolist() == [["degenerate", "degenerate", "undefined"]]
    assert np.isnan(found["tau"].item())


@pytest.mark.parametrize("interval", INTERVALS)
def test_metrics_do_not_meet(make_tally: MakeTally, interval: partial_pooling.Choice) -> None:
    first = make_tally([0.2, 0.5, 0.1, 0.4, np.nan], [10, 4, 7, 30, 0], metric="fnr")
    second = make_tally(
        [12.0, np.nan, 3.0, 4.0, 5.0], [10, 0, 7, 30, 2], metric="mae", kind="mean", pooled_variance=9.0
    )
    third = make_tally([np.nan] * 5, [0] * 5, metric="ppv")
    both = partial_pooling.estimate(xr.concat([first, second, third], "metric", data_vars="all"), interval=interval)
    for i, alone in enumerate((first, second, third)):
        single = partial_pooling.estimate(alone, interval=interval)
        for name in ("estimate", "std_error", "lower", "upper", "overall", "tau", "shrinkage"):
            np.testing.assert_allclose(both[name].values[i], single[name].values[0], rtol=1e-9, err_msg=name)


def test_published_estimates() -> None:
    d = np.array([50, 30, 15, 8, 4])
    table = pd.DataFrame({"site": list("abcde")})
    published = bg.tally_from_estimates([0.20, 0.25, 0.40, 0.10, 0.75], 0.16 / d, table)
    found = partial_pooling.estimate(published)
    np.testing.assert_allclose(found["estimate"], [[0.204521, 0.253779, 0.388935, 0.137901, 0.630839]], atol=1e-6)


@settings(max_examples=60)
@given(
    cells=CELLS,
    interval=st.sampled_from(INTERVALS),
)
def test_whatever_comes_the_answer_is_whole(
    cells: list[tuple[int, float, float]], interval: partial_pooling.Choice
) -> None:
    """No warning, no half-defined interval, the estimate inside its interval."""
    tally = tally_of(cells)
    found = partial_pooling.estimate(tally, interval=interval)
    lower, estimate, upper = (found[name].values for name in ("lower", "estimate", "upper"))
    assert (np.isnan(lower) == np.isnan(upper)).all()
    middle = np.broadcast_to(estimate[..., None], lower.shape)
    error = np.nan_to_num(found["std_error"].values)[..., None]
    slack = 1e-15 * np.nan_to_num(np.abs(tally["estimate"].values)).max(initial=0.0) + 1e-9 * (
        np.abs(middle) + error + 1e-300
    )
    assert (np.isnan(lower) | ((lower <= middle + slack) & (middle <= upper + slack))).all()
    assert np.isfinite(estimate[np.isfinite(tally["estimate"].values)]).all()


def test_unknown_intervals_are_refused(five_and_none: xr.Dataset) -> None:
    message = r"interval='morriss' is not one of .*; did you mean 'morris'\?"
    with pytest.raises(InputError, match=message):
        partial_pooling.estimate(five_and_none, interval="morriss")  # type: ignore[arg-type]


def test_words_are_imported_when_named() -> None:
    import bayesgroups.frequentist as room

    assert set(room.__all__) >= {"no_pooling", "complete_pooling", "james_stein", "partial_pooling"}
    assert room.partial_pooling.estimate is partial_pooling.estimate
    with pytest.raises(AttributeError, match="'bayesgroups.frequentist' has no attribute 'pooling'; it has complete"):
        _ = room.pooling


def test_a_cold_process_loads_no_scipy() -> None:
    import subprocess
    import sys

    program = (
        "import sys, numpy as np\n"
        "from bayesgroups.frequentist.intervals import moments, morris\n"
        "from bayesgroups.frequentist import partial_pooling\n"
        "z = np.array([.1, .2, .4, .8, np.nan])\n"
        "morris.interval(morris.fit(z, 0 * z + .01), .9)\n"
        "moments.interval(moments.fit(z, 0 * z + .01), .9)\n"
        "assert not any(name.startswith('scipy.s') for name in sys.modules)\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True)
