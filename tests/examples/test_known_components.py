"""Crossed effects with known standard deviations: a closed form, and the populations they are known from."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import xarray as xr

import bayesgroups as bg
from bayesgroups.inference.collapsed.crossed_effects import sample
from bayesgroups.models.shared.scales import natural_scale
from bayesgroups.studies.populations import Population
from examples.comparisons import known_components
from examples.comparisons.known_components import KnownComponents, knowing

WHO = pd.DataFrame({"race": ["a", "a", "b", "b", "c", "c"], "sex": ["f", "m"] * 3})
SDS = (0.05, 0.1, 0.02)


@pytest.fixture
def rates() -> xr.Dataset:
    return bg.tally_from_counts([3, 30, 9, 2, 6, 0], [9, 100, 60, 11, 20, 0], WHO, metric="fnr")


def _normal_posterior(tally: xr.Dataset) -> tuple[np.ndarray, np.ndarray]:
    """Mean and standard deviation of a normal model whose variances are known."""
    natural = natural_scale(tally).isel(metric=0)
    codes = [pd.factorize(WHO[name])[0] for name in ("race", "sex")]
    same = [code[:, None] == code for code in codes]
    prior = float(natural["scale"]) ** 2 + SDS[0] ** 2 * same[0] + SDS[1] ** 2 * same[1] + SDS[2] ** 2 * np.eye(6)
    seen = np.isfinite(tally["sampling_variance"].values[0])
    z, v = (tally[name].values[0][seen] for name in ("estimate", "sampling_variance"))
    gain = np.linalg.solve(prior[np.ix_(seen, seen)] + np.diag(v), prior[seen]).T
    mean = float(natural["centre"]) + gain @ (z - float(natural["centre"]))
    return mean, np.sqrt(np.diag(prior - gain @ prior[seen]))


def test_with_a_normal_likelihood_they_give_the_closed_form(rates: xr.Dataset) -> None:
    found = sample(rates, seed=1, binomial_likelihood=False, component_sd=SDS)
    mean, sd = _normal_posterior(rates)
    drawn = found.draws["mu"].isel(metric=0)
    assert drawn.mean(("chain", "draw")).values == pytest.approx(mean, abs=4 * sd.max() / np.sqrt(4000))
    assert drawn.std(("chain", "draw")).values == pytest.approx(sd, rel=0.06)
    assert found.draws["component_sd"].values == pytest.approx(np.broadcast_to(SDS, (4, 1000, 1, 3)))
    assert all(check.passed for check in found.checks)


def test_with_counts_too_their_standard_deviations_are_kept(rates: xr.Dataset) -> None:
    """Huge ones leave every subgroup to itself, tiny ones pool all: rates of the two ends."""
    alone, pooled = (
        sample(rates, seed=1, component_sd=(each,) * 3).draws["mu"].mean(("chain", "draw")).values[0]
        for each in (5.0, 1e-6)
    )
    assert alone[1:3] == pytest.approx(rates["estimate"].values[0, 1:3], abs=0.02)
    assert pooled == pytest.approx(np.full(6, 50 / 200), abs=0.01)


def test_there_is_one_for_every_component(rates: xr.Dataset) -> None:
    with pytest.raises(ValueError, match="component_sd must have 3 numbers, as race, sex, race:sex"):
        sample(rates, seed=1, component_sd=(0.1, 0.1))


def test_they_are_never_learned_instead(rates: xr.Dataset) -> None:
    known = KnownComponents(component_sd=(("fnr", SDS),))
    assert bg.estimate(rates, known, seed=1).attrs["inference"] == "hamiltonian"
    with pytest.raises(bg.InputError, match="known standard deviations are for the exact engine"):
        bg.estimate(rates, known, seed=1, inference="nuts")


@pytest.fixture(scope="module")
def population() -> Population:
    """People whose errors differ by race, not by sex."""
    rng = np.random.default_rng(3)
    people = pd.DataFrame({"race": rng.choice(list("abcd"), 40_000), "sex": rng.choice(["f", "m"], 40_000)})
    logit = people["race"].map({"a": -0.6, "b": -0.2, "c": 0.2, "d": 0.6}) - 1
    people["wrong"] = (rng.random(40_000) < 1 / (1 + np.exp(-logit))).astype(int)
    wrong = bg.Metric("wrong", value="wrong", kind="rate")
    levels = {"race": tuple("abcd"), "sex": ("f", "m")}
    return Population("people", people, levels, (wrong,), rows=400, design="independent")


def test_they_are_learned_from_the_whole_population(population: Population) -> None:
    found = knowing(population, seed=1)
    ((name, sds),) = found.component_sd
    assert name == "wrong"
    assert sds[0] > 0.3
    assert max(sds[1:]) < 0.2
    assert isinstance(found, KnownComponents)


@pytest.mark.record
def test_the_command_scores_them_beside_those_that_learn(
    population: Population, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(known_components, "populations", lambda folder, fewest: [population])
    known_components.main(["--data", str(tmp_path), "--output", str(tmp_path), "--draws", "3"])
    assert "| known_components (bayesian) |" in capsys.readouterr().out
    score = pd.read_csv(tmp_path / "score.csv").set_index("estimator")
    assert score.loc["known_components (bayesian)", "mae_all"] < score.loc["standard", "mae_all"] == 1
    assert (tmp_path / "records" / "people").is_dir()


def test_the_command_needs_data(tmp_path: Path) -> None:
    with pytest.raises(bg.InputError, match="diabetic_data"):
        known_components.main(["--data", str(tmp_path), "--output", str(tmp_path / "out")])
