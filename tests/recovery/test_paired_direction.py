"""The record of the direction of two systems, pooled with priors of several scales and not pooled; and how it is made."""

from __future__ import annotations

import csv
from dataclasses import asdict
from pathlib import Path

import numpy as np
import pytest
from scipy.special import logit

from tests.recovery.remade import assert_remade
from tests.recovery.studies import paired_direction as study

RECORD = Path(__file__).parent / "records" / "paired_direction.csv"
Key = tuple[int, int, float, str]


def record() -> dict[Key, dict[str, float]]:
    numbers = ("coverage", "mc_error", "farthest_coverage", "width", "error", "failed", "replications")
    with RECORD.open(encoding="utf-8", newline="") as file:
        return {
            (int(line["subgroups"]), int(line["discordant"]), float(line["spread"]), line["prior"]): {
                name: float(line[name]) for name in numbers
            }
            for line in csv.DictReader(file)
        }


def coverage(lines: dict[Key, dict[str, float]], prior: str, spreads: tuple[float, ...]) -> list[float]:
    return [line["coverage"] for key, line in lines.items() if key[3] == prior and key[2] in spreads]


def test_the_record_has_every_design() -> None:
    assert list(record()) == [(*design, prior) for design in study.DESIGNS for prior in study.PRIORS]


def test_no_pooling_covers_whatever_the_spread() -> None:
    for key, line in record().items():
        if key[3] == "none":
            assert line["coverage"] >= 0.95 - 4 * max(line["mc_error"], 0.006)


def test_the_default_covers_up_to_its_own_scale_twice_and_then_too_seldom() -> None:
    lines = record()
    assert min(coverage(lines, "0.25", (0.0, 0.25, 0.5))) > 0.92
    assert min(coverage(lines, "0.25", (1.0, 1.5))) == pytest.approx(0.828, abs=0.001)
    for spread in (1.0, 1.5):  # with 50 discordant items the rows speak
        assert lines[(30, 50, spread, "0.25")]["coverage"] > 0.94


def test_twice_the_default_covers_far_better_where_systems_differ_between_subgroups() -> None:
    lines = record()
    assert min(coverage(lines, "0.5", study.SPREADS)) > 0.91
    for key in study.DESIGNS:
        if key[2] >= 1.0:
            assert lines[(*key, "0.5")]["coverage"] >= lines[(*key, "0.25")]["coverage"] - 0.005


def test_pooling_lessens_the_error_wherever_discordant_items_are_few() -> None:
    lines = record()
    for key in study.DESIGNS:
        errors = {prior: lines[(*key, prior)]["error"] for prior in study.PRIORS}
        assert errors["0.25"] < (1.08 if key[1] == 50 else 1.06) * errors["none"]
        assert errors["0.5"] < 1.02 * errors["none"]
        if key[1] == 3 and key[2] <= 0.5:
            assert errors["0.25"] < 0.65 * errors["none"]
        if key[2] == 0.0:
            assert errors["0.25"] < errors["0.5"] < errors["1.0"] < errors["none"]
        if key[2] == 1.5:
            assert errors["0.5"] < errors["0.25"] + 0.001


def test_few_data_sets_fail_their_checks() -> None:
    assert sum(line["failed"] for line in record().values()) <= 0.01 * sum(
        line["replications"] for line in record().values()
    )


@pytest.mark.parametrize("spread", [0.0, 1.0])
def test_truths_have_the_spread_of_the_design(spread: float) -> None:
    rng = np.random.default_rng(1)
    sets = [logit(study.truths(30, spread, rng)) for _ in range(2000)]
    between = np.var([values - values.mean() for values in sets])
    # Effects of attributes with 5 and 6 levels, and own ones, around their means.
    assert between == pytest.approx(spread**2 / 3 * (4 / 5 + 5 / 6 + 29 / 30), rel=0.05, abs=1e-12)


@pytest.mark.record
def test_lines_can_be_made_again() -> None:
    keys = ("subgroups", "discordant", "spread", "prior")
    assert_remade(RECORD, [asdict(line) for line in study.lines(6, 50, 0.5, ("none", "0.25"))], keys)


@pytest.mark.record
def test_the_program_writes_its_record(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(study, "DESIGNS", [(6, 50, 0.5)])
    monkeypatch.setattr(study.lines, "__defaults__", (("none", "0.5"), None, study.SEED))
    study.main(["--output", str(tmp_path / "again.csv"), "--replications", "2"])
    with (tmp_path / "again.csv").open(encoding="utf-8", newline="") as file:
        assert [line["prior"] for line in csv.DictReader(file)] == ["none", "0.5"]
