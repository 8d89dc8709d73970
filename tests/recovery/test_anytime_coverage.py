"""The record of sequences that an interval ever misses; and how it is made."""

from __future__ import annotations

import csv
from dataclasses import asdict
from pathlib import Path

import numpy as np
import pytest

from bayesgroups.frequentist.intervals import anytime
from tests.recovery.remade import assert_remade
from tests.recovery.studies import anytime_coverage as study

RECORD = Path(__file__).parent / "records" / "anytime_coverage.csv"


def record() -> dict[tuple[str, str], dict[str, str]]:
    with RECORD.open(encoding="utf-8", newline="") as file:
        return {(line["rows"], line["interval"]): line for line in csv.DictReader(file)}


def test_anytime_limits_miss_in_no_more_sequences_than_they_say() -> None:
    lines = record()
    assert list(lines) == study.DESIGNS
    for (_, interval), line in lines.items():
        missed, error = float(line["ever_missed"]), float(line["mc_error"])
        assert int(line["looks"]) == 3000
        if interval.startswith("anytime"):
            assert missed <= 0.05 + 3 * error
        else:
            assert missed > 0.4  # limits for one look do not bear many
            assert float(line["missed_last"]) == pytest.approx(0.05, abs=4 * np.sqrt(0.05 * 0.95 / 2000))


def test_a_rate_is_left_out_exactly_where_its_ratio_is_small() -> None:
    k, n = np.meshgrid(np.arange(41.0), np.arange(1.0, 41.0))
    k = np.minimum(k, n)
    limits = anytime.rate(k, n, study.LEVEL)
    outside = (limits.lower > 0.1) | (limits.upper < 0.1)
    np.testing.assert_array_equal(study.rate_misses(k, n, 0.1, "anytime_beta"), outside)


@pytest.mark.record
@pytest.mark.parametrize("design", [("rate 0.1", "anytime_beta"), ("mean of exponential losses", "anytime_normal")])
def test_lines_can_be_made_again(design: tuple[str, str]) -> None:
    assert_remade(RECORD, [asdict(study.line(*design))], ("rows", "interval"))


def test_the_program_writes_its_record(tmp_path: Path) -> None:
    study.main(["--output", str(tmp_path / "again.csv"), "--replications", "4"])
    with (tmp_path / "again.csv").open(encoding="utf-8", newline="") as file:
        assert [(line["rows"], line["interval"]) for line in csv.DictReader(file)] == study.DESIGNS
