"""The record of simulation-based calibration of partial pooling, held to uniformity; and how it is made.

The record is made, in about a minute and a half, by

    python -m bayesgroups.studies.calibration --output tests/recovery/records/sbc_partial_pooling.csv
"""

from __future__ import annotations

import csv
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from bayesgroups.errors import InputError
from bayesgroups.studies.calibration import DRAWS, LIKELIHOODS, SEED, TRIALS, main, measure, ranks

RECORDS = Path(__file__).parent / "records"
QUANTITIES = ["overall", "tau", "log_likelihood", *(f"mu[{n}]" for n in TRIALS)]


@cache
def record() -> list[dict[str, str]]:
    with (RECORDS / "sbc_partial_pooling.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


@cache
def recorded_ranks() -> dict[tuple[str, str], NDArray[np.int64]]:
    with (RECORDS / "sbc_partial_pooling_ranks.csv").open(encoding="utf-8", newline="") as file:
        _, *lines = csv.reader(file)
    return {(line[0], line[1]): np.array(line[2:], dtype=np.int64) for line in lines}


def test_every_quantity_is_there() -> None:
    expected = [(likelihood, quantity) for likelihood in LIKELIHOODS for quantity in QUANTITIES]
    assert [(line["likelihood"], line["quantity"]) for line in record()] == list(recorded_ranks()) == expected
    assert all(int(line["replications"]) >= 500 and int(line["seed"]) == SEED for line in record())


def test_ranks_are_uniform() -> None:
    """The smallest of all p-values falls below the bound once in a thousand records of a sound engine."""
    p_values = [float(line[name]) for line in record() for name in ("chi2_p", "ks_p")]
    assert min(p_values) > 0.001 / len(p_values)
    # And they are not all small: were they uniform, a mean this low would come about once in a thousand records.
    assert np.mean(p_values) > 0.5 - 3.1 * np.sqrt(1 / 12 / len(QUANTITIES))
    for line in record():
        size = float(line["replications"])
        assert abs(float(line["mean_pit"]) - 0.5) < 4 * np.sqrt(1 / 12 / size)
        assert abs(float(line["variance_pit"]) - 1) < 4 * np.sqrt(0.8 / size)


def test_the_record_follows_from_its_ranks() -> None:
    lines = iter(record())
    for likelihood in LIKELIHOODS:
        found = {quantity: recorded_ranks()[likelihood, quantity] for quantity in QUANTITIES}
        for again in measure(likelihood, found):
            line = next(lines)
            assert again.replications == int(line["replications"])
            for name in ("chi2_p", "ks_p", "mean_pit", "variance_pit"):
                assert getattr(again, name) == pytest.approx(float(line[name]), abs=1e-5)


@pytest.mark.parametrize("likelihood", LIKELIHOODS)
def test_the_code_makes_the_record(likelihood: str) -> None:
    """The first data sets are the same; ranks may move by what fresh draws from the same posterior move them."""
    again = ranks(likelihood, replications=20)
    for quantity in QUANTITIES:
        before = recorded_ranks()[likelihood, quantity][:20]
        share = (again[quantity] + before + 1) / (2 * DRAWS + 2)
        assert (np.abs(again[quantity] - before) <= 4.5 * np.sqrt(2 * DRAWS * share * (1 - share)) + 3).all(), quantity


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
    found = {"tau": broken(recorded_ranks()["binomial", "tau"])}
    line = measure("binomial", found)[0]
    assert min(line.chi2_p, line.ks_p) < 0.001 / (4 * len(QUANTITIES))


def test_bad_arguments_are_refused() -> None:
    with pytest.raises(InputError, match="likelihood='poisson' is not one of 'binomial', 'normal'"):
        ranks("poisson")
    with pytest.raises(InputError, match="replications=0 must be 1 or more"):
        ranks("normal", replications=0)
