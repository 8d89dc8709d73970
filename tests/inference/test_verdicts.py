"""A check passes or fails by its threshold, NaN always fails, and constants are no quantities."""

from __future__ import annotations

import math
import subprocess
import sys

import arviz as az
import numpy as np
import pytest
import xarray as xr

from bayesgroups.report import diagnostics as verdicts
from bayesgroups.report.diagnostics import Check, at_least, at_most, checks_dataset, nuts_checks, usable

CHAINS, DRAWS = 4, 500


def _tree(**variables: xr.DataArray) -> xr.DataTree:
    random = np.random.default_rng(1)
    stats = xr.Dataset(
        {
            "diverging": (("chain", "draw"), np.zeros((CHAINS, DRAWS), dtype=bool)),
            "energy": (("chain", "draw"), random.normal(size=(CHAINS, DRAWS))),
        }
    )
    return xr.DataTree.from_dict({"posterior": xr.Dataset(variables), "sample_stats": stats})


def _draws(seed: int = 2) -> xr.DataArray:
    values = np.random.default_rng(seed).normal(size=(CHAINS, DRAWS, 2, 3))
    return xr.DataArray(values, dims=("chain", "draw", "metric", "subgroup"), coords={"metric": ["fnr", "wer"]})


def _by_name(tree: xr.DataTree, metric: str = "fnr") -> dict[str, Check]:
    return {check.name: check for check in nuts_checks(tree, metric)}


def test_values_are_the_extremes_of_arviz() -> None:
    mu, alpha = _draws(), _draws(3).isel(metric=0, subgroup=0, drop=True)
    tree = _tree(mu=mu, alpha=alpha)
    checks = _by_name(tree, "wer")
    concerned = xr.Dataset({"mu": mu.sel(metric="wer"), "alpha": alpha})

    def extreme(statistic: xr.Dataset, largest: bool) -> float:
        ends = statistic.max() if largest else statistic.min()
        values = [float(value) for value in ends.data_vars.values()]
        return max(values) if largest else min(values)

    assert checks["R-hat"].value == pytest.approx(extreme(az.rhat(concerned), largest=True))
    assert checks["bulk ESS"].value == pytest.approx(extreme(az.ess(concerned, method="bulk"), largest=False))
    tail = az.ess(concerned, method="tail", prob=(0.05, 0.95))
    assert checks["tail ESS"].value == pytest.approx(extreme(tail, largest=False))
    assert checks["E-BFMI"].value == pytest.approx(float(az.bfmi(tree).to_dataset()["energy"].min()))
    assert checks["divergences"].value == 0
    assert all(check.passed for check in checks.values())


def test_a_metric_answers_for_itself_only() -> None:
    mu = _draws()
    mu[0, :, 1] += 5.0
    assert usable(nuts_checks(_tree(mu=mu), "fnr"))
    r_hat = _by_name(_tree(mu=mu), "wer")["R-hat"]
    assert not r_hat.passed
    assert r_hat.sentence.startswith("wer: the largest R-hat is ")
    assert r_hat.sentence.endswith("but may be at most 1.01.")


def test_constants_are_left_out() -> None:
    mu = _draws()
    mu[..., 0] = 1.0
    with_constant, without = _by_name(_tree(mu=mu)), _by_name(_tree(mu=mu[..., 1:]))
    assert with_constant == without


def test_nothing_but_constants_does_not_pass() -> None:
    checks = _by_name(_tree(mu=xr.ones_like(_draws())))
    assert math.isnan(checks["R-hat"].value)
    assert not checks["R-hat"].passed
    assert not checks["bulk ESS"].passed
    assert checks["tail ESS"].sentence.endswith("could not be computed, but must be at least 400.")


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_a_draw_that_is_not_finite_fails(bad: float) -> None:
    mu = _draws()
    mu[1, 7, 0, 2] = bad
    checks = _by_name(_tree(mu=mu))
    assert not any(checks[name].passed for name in ("R-hat", "bulk ESS", "tail ESS"))


@pytest.mark.parametrize("stuck", [1, 4])
def test_stuck_chains_fail(stuck: int) -> None:
    mu = _draws()
    for chain in range(stuck):
        mu[chain] = float(chain)
    assert not _by_name(_tree(mu=mu))["R-hat"].passed


def test_divergences_and_energy() -> None:
    tree = _tree(mu=_draws())
    stats = tree["sample_stats"].to_dataset()
    stats["diverging"][0, 3] = True
    stats["energy"] = stats["energy"].cumsum("draw")
    tree["sample_stats"] = xr.DataTree(stats)
    checks = _by_name(tree)
    assert (checks["divergences"].value, checks["divergences"].passed) == (1, False)
    assert not checks["E-BFMI"].passed
    tree["sample_stats"] = xr.DataTree(stats.assign(energy=xr.zeros_like(stats["energy"])))
    assert math.isnan(_by_name(tree)["E-BFMI"].value)


def test_missing_statistics_fail() -> None:
    checks = _by_name(xr.DataTree.from_dict({"posterior": xr.Dataset({"mu": _draws()})}))
    assert not checks["divergences"].passed
    assert not checks["E-BFMI"].passed
    assert checks["R-hat"].passed


@pytest.mark.parametrize(("value", "low", "high"), [(0.9, True, False), (1.0, True, True), (1.1, False, True)])
def test_thresholds_themselves_pass(value: float, low: bool, high: bool) -> None:
    assert at_most("k-hat", "fnr", value, 1.0, "the k-hat").passed is low
    assert at_least("ESS", "fnr", value, 1.0, "the ESS").passed is high


def test_nan_never_passes() -> None:
    assert not at_most("k-hat", "fnr", math.nan, verdicts.K_HAT, "the k-hat").passed
    assert not at_least("ESS", "fnr", math.nan, verdicts.IS_ESS, "the ESS").passed


def test_checks_are_stored_and_judged() -> None:
    checks = [
        at_most("k-hat", "fnr", 0.2, verdicts.K_HAT, "the k-hat"),
        at_least("ESS", "fnr", 9.0, 400.0, "the ESS"),
    ]
    stored = checks_dataset(checks)
    assert stored["check"].values.tolist() == ["fnr: k-hat", "fnr: ESS"]
    assert stored["passed"].values.tolist() == [1, 0]
    assert stored["passed"].dtype == np.int8
    assert stored["value"].values.tolist() == [0.2, 9.0]
    assert stored["metric"].values.tolist() == ["fnr", "fnr"]
    assert stored["sentence"].values[1] == "fnr: the ESS is 9, but must be at least 400."
    assert not usable(checks)
    assert usable(checks[:1])
    assert checks_dataset([]).sizes["check"] == 0


def test_verdicts_need_no_arviz() -> None:
    code = "import sys, bayesgroups.report.diagnostics; sys.exit(any(n.startswith('arviz') for n in sys.modules))"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
