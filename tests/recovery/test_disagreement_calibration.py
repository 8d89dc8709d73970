"""The record of simulation-based calibration of the disagreement model, held to uniformity; and how it is made.

The record is made, in about five minutes, by

    python -m tests.recovery.studies.disagreement_calibration --output tests/recovery/records/sbc_disagreement.csv
"""

from __future__ import annotations

from pathlib import Path

import pytest

from bayesgroups.errors import InputError
from tests.recovery.sbc_records import (
    assert_follows_from_its_ranks,
    assert_uniform,
    lines_of,
    ranks_of,
)
from tests.recovery.studies.calibration_study import ranks_by_quantity
from tests.recovery.studies.disagreement_calibration import JUDGEMENTS, METRICS, SEED, STUDY, main
from tests.studies.resumed import resumed

NAME = "disagreement"


def test_every_quantity_is_there() -> None:
    names = [f"{metric}[{n}]" for metric in METRICS for n in JUDGEMENTS]
    assert [quantity for _, quantity in ranks_of(NAME)] == [*names, "log_likelihood"]
    assert all(int(line["replications"]) >= 800 and int(line["seed"]) == SEED for line in lines_of(NAME))


def test_ranks_are_uniform() -> None:
    assert_uniform(NAME)


def test_the_record_follows_from_its_ranks() -> None:
    assert_follows_from_its_ranks(NAME)


def test_no_fit_failed_a_check() -> None:
    (line,) = lines_of(NAME, "checks")
    assert line["failed"] == "0"
    assert int(line["fits"]) >= 800


def test_the_code_makes_the_record(tmp_path: Path) -> None:
    answer, again = resumed(lambda run: STUDY.calibrate("disagreement", 2, executor=run), tmp_path / "kept")
    assert answer.identical(again)
    assert {name: rank.tolist() for name, rank in ranks_by_quantity(answer).items()} == {
        quantity: rank[:2].tolist() for (_, quantity), rank in ranks_of(NAME).items()
    }
    assert not answer["fit"].any()
    main(["--output", str(tmp_path / "one.csv"), "--replications", "2", "--checkpoints", str(tmp_path / "kept")])
    assert sorted(path.name for path in tmp_path.glob("*.csv")) == ["one.csv", "one_checks.csv", "one_ranks.csv"]


def test_no_replications_are_refused() -> None:
    with pytest.raises(InputError, match="replications=0 must be 1 or more"):
        STUDY.calibrate("disagreement", 0)
