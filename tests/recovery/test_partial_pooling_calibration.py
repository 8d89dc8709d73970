"""The record of simulation-based calibration of partial pooling, held to uniformity; and how it is made.

The record is made, in about a minute and a half, by

    python -m tests.recovery.studies.partial_pooling_calibration --output tests/recovery/records/sbc_partial_pooling.csv
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from bayesgroups.errors import InputError
from tests.recovery.sbc_records import (
    assert_follows_from_its_ranks,
    assert_not_all_small,
    assert_same_ranks,
    assert_uniform,
    lines_of,
    ranks_of,
)
from tests.recovery.studies.calibration_study import DRAWS, measure, ranks_by_quantity
from tests.recovery.studies.partial_pooling_calibration import SEED, STUDY, TRIALS, main

NAME = "partial_pooling"
QUANTITIES = ["overall", "tau", "log_likelihood", *(f"mu[{n}]" for n in TRIALS)]


def test_every_quantity_is_there() -> None:
    expected = [(likelihood, quantity) for likelihood in STUDY.designs for quantity in QUANTITIES]
    assert list(ranks_of(NAME)) == expected
    assert all(int(line["replications"]) >= 500 and int(line["seed"]) == SEED for line in lines_of(NAME))


def test_ranks_are_uniform() -> None:
    assert_uniform(NAME, errors=4.0)
    assert_not_all_small(NAME, len(QUANTITIES))


def test_the_record_follows_from_its_ranks() -> None:
    assert_follows_from_its_ranks(NAME)


@pytest.mark.parametrize("likelihood", STUDY.designs)
def test_the_code_makes_the_record(likelihood: str) -> None:
    assert_same_ranks(NAME, likelihood, ranks_by_quantity(STUDY.calibrate(likelihood, 20)))


def test_the_same_seed_gives_the_same_bytes(tmp_path: Path) -> None:
    for folder in ("one", "two"):
        main(["--output", str(tmp_path / folder / "sbc.csv"), "--replications", "3", "--seed", "7"])
    for name in ("sbc.csv", "sbc_ranks.csv"):
        assert (tmp_path / "one" / name).read_bytes() == (tmp_path / "two" / name).read_bytes()
    assert (tmp_path / "one" / "sbc.csv").read_text(encoding="utf-8").count("\n") == 1 + 2 * len(QUANTITIES)


@pytest.mark.parametrize(
    "broken",
    [
        lambda rank: np.clip(1.15 * (rank - 500) + 500, 0, DRAWS).astype(np.int64),  # intervals a little too short
        lambda rank: (500 + 0.87 * (rank - 500)).astype(np.int64),  # a little too long
        lambda rank: (DRAWS * (rank / DRAWS) ** 1.15).astype(np.int64),  # a little off
    ],
)
def test_a_wrong_engine_would_be_found(broken: object) -> None:
    assert callable(broken)
    found = {"tau": broken(ranks_of(NAME)["binomial", "tau"])}
    line = measure("binomial", found, SEED)[0]
    assert min(line.chi2_p, line.ks_p) < 0.001 / (4 * len(QUANTITIES))


def test_bad_arguments_are_refused() -> None:
    with pytest.raises(InputError, match="likelihood='poisson' is not one of 'binomial', 'normal'"):
        STUDY.calibrate("poisson")
    with pytest.raises(InputError, match="replications=0 must be 1 or more"):
        STUDY.calibrate("normal", 0)
