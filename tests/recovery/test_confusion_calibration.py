"""The record of simulation-based calibration of the confusion model, held to uniformity and to the gate; and how it is made.

The record is made, in about three minutes, by

    python -m tests.recovery.studies.confusion_calibration --output tests/recovery/records/sbc_confusion.csv
"""

from __future__ import annotations

from pathlib import Path

import pytest

from bayesgroups.errors import InputError
from tests.recovery.sbc_records import (
    assert_follows_from_its_ranks,
    assert_made_again,
    assert_uniform,
    lines_of,
    ranks_of,
)
from tests.recovery.studies.calibration_study import ranks_by_quantity
from tests.recovery.studies.confusion_calibration import METRICS, ROWS, SEED, STUDY, main
from tests.studies.resumed import resumed

NAME = "confusion"
EFFECTIVE = 900.0
"""Effective number of every fourth draw of chains, at least: 963 and 985 in 48 runs of two data sets."""


def test_every_quantity_is_there() -> None:
    assert [quantity for _, quantity in ranks_of(NAME)] == [f"{metric}[{n}]" for metric in METRICS for n in ROWS]
    assert all(int(line["replications"]) >= 300 and int(line["seed"]) == SEED for line in lines_of(NAME))


def test_ranks_are_uniform() -> None:
    assert_uniform(NAME)


def test_the_record_follows_from_its_ranks() -> None:
    assert_follows_from_its_ranks(NAME)


def test_fits_pass_the_gate() -> None:
    """One fit in a hundred may be left to NUTS."""
    fits = lines_of(NAME, "fits")
    assert len(fits) >= 300
    assert sum(int(fit["passed"]) for fit in fits) >= 0.99 * len(fits)


def test_the_code_makes_the_record(tmp_path: Path) -> None:
    answer, again = resumed(lambda run: STUDY.calibrate("binomial", 1, executor=run), tmp_path / "kept")
    assert answer.identical(again)
    assert_made_again(NAME, "binomial", ranks_by_quantity(answer), effective=EFFECTIVE)
    assert answer["fit"].sizes == {"measure": 1, "replication": 1}
    main(["--output", str(tmp_path / "one.csv"), "--replications", "1", "--checkpoints", str(tmp_path / "kept")])
    assert sorted(path.name for path in tmp_path.glob("*.csv")) == ["one.csv", "one_fits.csv", "one_ranks.csv"]


def test_no_replications_are_refused() -> None:
    with pytest.raises(InputError, match="replications=0 must be 1 or more"):
        STUDY.calibrate("binomial", 0)
