"""Simulation-based calibration: right posteriors pass, wrong ones do not, and bad functions are refused by name."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import xarray as xr

import bayesgroups as bg
from bayesgroups.errors import InputError
from bayesgroups.studies.uniformity import uniformity
from tests.studies.replications import conjugate, with_fit


def test_a_right_posterior_has_uniform_ranks_and_wrong_ones_have_not() -> None:
    right = bg.calibrate(conjugate, replications=1000, seed=1)
    assert float(right[["chi2_p", "ks_p"]].to_array().min()) > 1e-3
    assert right["quantity"].values.tolist() == ["rate", "log_likelihood"]
    error = np.sqrt(1 / 12 / 1000)
    assert (np.abs(right["mean_pit"] - 0.5) < 4 * error).all()
    twice = bg.calibrate(partial(conjugate, counted=2), replications=1000, seed=1).sel(quantity="rate")
    assert float(twice["chi2_p"]) < 1e-6
    assert float(twice["variance_pit"]) > 1.1, "draws vary too little"


def test_ranks_are_numbers_of_draws_below_the_truth_from_the_stream_of_the_replication() -> None:
    answer = bg.calibrate(conjugate, ["rate"], replications=3, seed=[7, 2])
    for number in range(3):
        truth, draws = conjugate(np.random.default_rng([7, 2, number]))
        assert int(answer["ranks"].sel(quantity="rate")[number]) == int((draws["rate"] < truth["rate"]).sum())
    assert answer.attrs == {"draws": 99, "replications": 3, "seed": [7, 2], "bins": 20}


def test_ties_are_broken_at_random() -> None:
    """A quantity with an atom has uniform ranks as well."""

    def atom(rng: np.random.Generator) -> tuple[dict[str, float], dict[str, Any]]:
        return {"zero": float(rng.integers(2))}, {"zero": rng.integers(2, size=99).astype(float)}

    answer = bg.calibrate(atom, replications=1000, seed=1)
    assert float(answer["ks_p"].min()) > 1e-3


def test_the_picture_draws_the_ranks() -> None:
    answer = bg.calibrate(conjugate, replications=50, seed=1)
    ranks = {str(name): values.values for name, values in answer["ranks"].to_dataset("quantity").items()}
    axes = bg.plots.calibration_ranks(ranks, draws=answer.attrs["draws"])
    assert "50 replications" in axes.get_title() + axes.get_title(loc="left")


def test_checkpoints_and_workers_leave_the_ranks_as_they_are(tmp_path: Path) -> None:
    whole = bg.calibrate(conjugate, replications=6, seed=1)
    finished: list[int] = []
    bg.calibrate(conjugate, replications=4, seed=1, folder=tmp_path)
    again = bg.calibrate(
        conjugate,
        replications=6,
        seed=1,
        folder=tmp_path,
        workers=2,
        progress=lambda _, done, __: finished.append(done),
    )
    assert whole.identical(again)
    assert finished == [4, 5, 6]
    with pytest.raises(InputError, match="is of another study"):
        bg.calibrate(conjugate, replications=6, seed=2, folder=tmp_path)
    bg.calibrate(partial(conjugate, draws=19), replications=1, seed=3, folder=tmp_path, bins=4)
    assert len(list(tmp_path.iterdir())) == 2, "each function has a file of its own"


def test_numbers_of_the_fit_are_kept(tmp_path: Path) -> None:
    answer = bg.calibrate(with_fit, replications=2, seed=1)
    draws = with_fit(np.random.default_rng([1, 1]))[1]["rate"]
    assert float(answer["fit"].sel(measure="k_hat", replication=1)) == draws.mean()
    answer.to_netcdf(tmp_path / "answer.nc")
    with xr.open_dataset(tmp_path / "answer.nc") as kept:
        assert kept["ranks"].equals(answer["ranks"])


def test_bins_that_do_not_divide_the_ranks_expect_what_they_hold() -> None:
    ranks = xr.DataArray(np.arange(100)[None] % 10, dims=("quantity", "replication"))
    assert float(uniformity(ranks, draws=9, bins=3)["chi2_p"][0]) == 1.0
    for bins in (1, 11):
        with pytest.raises(InputError, match=f"bins={bins} must be from 2 to 10"):
            uniformity(ranks, draws=9, bins=bins)


def returning(*parts: Any) -> Any:
    return lambda rng: parts


TRUTH, DRAWS = {"tau": 0.3}, {"tau": np.linspace(0, 1, 99)}


@pytest.mark.parametrize(
    ("replication", "message"),
    [
        (returning(TRUTH), r"replication 0 must return a tuple of two mappings, \(truth, draws\)"),
        (returning(TRUTH, {"mu": DRAWS["tau"]}), "truth has the quantities 'tau' and draws 'mu'"),
        (returning({}, {}), r"has no quantity \(none\); it has \(none\)"),
        (returning({"tau": [0.1, 0.2]}, DRAWS), r"truth of 'tau' must be one finite number; .* such as 'tau\[0\]'"),
        (returning({"tau": np.nan}, DRAWS), "truth of 'tau' must be one finite number"),
        (returning(TRUTH, {"tau": np.ones((9, 2))}), r"draws of 'tau' must be an array \(draw,\) .* shape \(9, 2\)"),
        (returning(TRUTH, {"tau": np.array([np.inf, 1.0])}), "with 1 that are not finite"),
        (
            returning({"tau": 0.3, "mu": 0.1}, {"tau": np.ones(99), "mu": np.ones(9)}),
            "quantities have different numbers of draws",
        ),
    ],
)
def test_what_a_replication_returns_is_checked(replication: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        bg.calibrate(replication, replications=1, seed=1)


def test_replications_that_differ_are_refused() -> None:
    def names(rng: np.random.Generator) -> Any:
        name = "a" if rng.random() < 0.5 else "b"
        return {name: 0.1}, {name: np.ones(99)}

    def numbers(rng: np.random.Generator) -> Any:
        return TRUTH, {"tau": np.ones(rng.integers(20, 99))}

    def measures(rng: np.random.Generator) -> Any:
        return TRUTH, DRAWS, {f"k{rng.integers(20)}": 0.1}

    for replication, message in (
        (names, "returned the quantities .*; all replications must return the same"),
        (numbers, "ranks are compared among equal numbers of draws"),
        (measures, "returned the numbers of the fit"),
    ):
        with pytest.raises(InputError, match=message):
            bg.calibrate(replication, replications=20, seed=1)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"replication": 3}, "replication=3 must be a function"),
        ({"quantities": "rate"}, "quantities='rate' must be a list"),
        ({"quantities": []}, r"quantities=\[\] must be a list"),
        ({"quantities": ["tau"]}, "has no quantity 'tau'; it has 'rate', 'log_likelihood'"),
        ({"replications": 0}, "replications=0 must be 1 or more"),
        ({"replications": True}, "replications=True must be 1 or more"),
        ({"seed": -1}, "seed=-1 must be a whole number"),
        ({"seed": []}, r"seed=\[\] must be a whole number"),
        ({"seed": 0.5}, "seed=0.5 must be a whole number"),
        ({"bins": 1}, "bins=1 must be a whole number, 2 or larger"),
        ({"bins": 101}, "bins=101 must be from 2 to 100"),
        ({"workers": 0}, "workers=0 must be a whole number"),
        ({"replication": lambda rng: 1, "workers": 2}, "cannot be sent to another process"),
        ({"replication": lambda rng: 1, "folder": "kept"}, "with folder=, replication must be a function of a module"),
    ],
)
def test_bad_arguments_are_refused(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        bg.calibrate(**{"replication": conjugate, "replications": 2, "seed": 1, **arguments})
