"""The record of simulation-based calibration of the confusion model of few labels, held to uniformity; and how it is made."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.recovery.sbc_records import (
    assert_follows_from_its_ranks,
    assert_same_ranks,
    assert_uniform,
    lines_of,
    ranks_of,
)
from tests.recovery.studies.calibration_study import DRAWS, ranks_by_quantity
from tests.recovery.studies.few_labels_calibration import JUDGED, METRICS, SEED, STUDY, main

NAME = "few_labels"


def test_every_quantity_is_there() -> None:
    assert [quantity for _, quantity in ranks_of(NAME)] == [f"{metric}[{n}]" for metric in METRICS for n in JUDGED]
    assert all(int(line["replications"]) >= 300 and int(line["seed"]) == SEED for line in lines_of(NAME))


def test_ranks_are_uniform() -> None:
    assert_uniform(NAME)


def test_the_record_follows_from_its_ranks() -> None:
    assert_follows_from_its_ranks(NAME)


def test_fits_pass_their_checks() -> None:
    """All fits are in the record; with a thousand draws one in fifty may be left to NUTS."""
    passed = [int(fit["passed"]) for fit in lines_of(NAME, "fits")]
    assert len(passed) >= 300
    assert sum(passed) >= 0.98 * len(passed)


@pytest.mark.record
def test_the_code_makes_the_record(tmp_path: Path) -> None:
    answer = STUDY.calibrate("few_labels", 1)
    assert_same_ranks(NAME, "few_labels", ranks_by_quantity(answer), moved=DRAWS // 100)
    main(["--output", str(tmp_path / "one.csv"), "--replications", "1"])
    assert sorted(path.name for path in tmp_path.glob("*.csv")) == ["one.csv", "one_fits.csv", "one_ranks.csv"]
