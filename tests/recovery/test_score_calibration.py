"""The record of simulation-based calibration of model-based metrics, held to uniformity; and how it is made.

The record is made, in some minutes, by

    python -m tests.recovery.studies.score_calibration --output tests/recovery/records/sbc_model_based_metrics.csv
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
from tests.recovery.studies.score_calibration import SEED, STUDY, Kind, main
from tests.studies.resumed import resumed

NAME = "model_based_metrics"
KINDS: tuple[Kind, ...] = ("normal", "skewed", "row_covariates")


def test_every_quantity_is_there() -> None:
    assert {likelihood for likelihood, _ in ranks_of(NAME)} == set(KINDS)
    assert {"auc[2]", "spread", "mean[3,1]", "sd[2,0]", "scale[3]", "slope[1,0]", "covariate[5,1]"} <= {
        quantity for _, quantity in ranks_of(NAME)
    }
    assert all(int(line["replications"]) >= 300 and int(line["seed"]) == SEED for line in lines_of(NAME))


def test_ranks_are_uniform() -> None:
    assert_uniform(NAME, errors=4.0)


def test_the_record_follows_from_its_ranks() -> None:
    assert_follows_from_its_ranks(NAME)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.record
def test_the_code_makes_the_record(kind: Kind, tmp_path: Path) -> None:
    answer, again = resumed(lambda run: STUDY.calibrate(kind, 1, executor=run), tmp_path)
    assert answer.identical(again)
    assert_made_again(NAME, kind, ranks_by_quantity(answer), effective=150, slack=10)


@pytest.mark.record
def test_the_command_writes_a_line_per_quantity(tmp_path: Path) -> None:
    main(["--output", str(tmp_path / "sbc.csv"), "--replications", "1", "--seed", "7"])
    assert (tmp_path / "sbc.csv").read_text(encoding="utf-8").count("\n") == 1 + len(ranks_of(NAME))
    assert (tmp_path / "sbc_ranks.csv").read_text(encoding="utf-8").startswith("likelihood,quantity,0\n")


def test_bad_arguments_are_refused() -> None:
    with pytest.raises(InputError, match="likelihood='t' is not one of 'normal', 'skewed', 'row_covariates'"):
        STUDY.calibrate("t")
    with pytest.raises(InputError, match="replications=0 must be 1 or more"):
        STUDY.calibrate("normal", 0)
