"""The record of simulation-based calibration of structured regression, held to uniformity; and how it is made.

The record is made, in about ten minutes, by

    python -m tests.recovery.studies.structured_calibration --output tests/recovery/records/sbc_structured_regression.csv
"""

from __future__ import annotations

from pathlib import Path

import pytest

from bayesgroups.errors import InputError
from bayesgroups.inference.scale_mixtures import Prior
from tests.recovery.sbc_records import (
    assert_follows_from_its_ranks,
    assert_made_again,
    assert_not_all_small,
    assert_uniform,
    lines_of,
    ranks_of,
)
from tests.recovery.studies.calibration_study import ranks_by_quantity
from tests.recovery.studies.structured_calibration import COUNTS, SEED, STUDY, main

NAME = "structured_regression"
PRIORS: tuple[Prior, ...] = ("horseshoe", "laplace")
QUANTITIES = [
    "overall", "tau", "log_likelihood", *(f"mu[{n}]" for n in COUNTS[:8]), "beta[level]", "beta[gradual]", "beta[subgroup]",
]  # fmt: skip


def test_every_quantity_is_there() -> None:
    assert list(ranks_of(NAME)) == [(prior, quantity) for prior in PRIORS for quantity in QUANTITIES]
    assert all(int(line["replications"]) >= 200 and int(line["seed"]) == SEED for line in lines_of(NAME))


def test_ranks_are_uniform() -> None:
    assert_uniform(NAME, errors=4.0)
    assert_not_all_small(NAME, len(QUANTITIES))


def test_the_record_follows_from_its_ranks() -> None:
    assert_follows_from_its_ranks(NAME)


@pytest.mark.parametrize("prior", PRIORS)
@pytest.mark.record
def test_the_code_makes_the_record(prior: Prior) -> None:
    assert_made_again(NAME, prior, ranks_by_quantity(STUDY.calibrate(prior, 2)), effective=400, slack=5)


@pytest.mark.record
def test_the_command_writes_a_line_per_quantity(tmp_path: Path) -> None:
    main(["--output", str(tmp_path / "sbc.csv"), "--replications", "2", "--seed", "7"])
    assert (tmp_path / "sbc.csv").read_text(encoding="utf-8").count("\n") == 1 + 2 * len(QUANTITIES)
    assert (tmp_path / "sbc_ranks.csv").read_text(encoding="utf-8").startswith("likelihood,quantity,0,1\n")


def test_bad_arguments_are_refused() -> None:
    with pytest.raises(InputError, match="likelihood='ridge' is not one of 'horseshoe', 'laplace'"):
        STUDY.calibrate("ridge")
    with pytest.raises(InputError, match="replications=0 must be 1 or more"):
        STUDY.calibrate("laplace", 0)
