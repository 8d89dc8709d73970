"""The record of simulation-based calibration of structured regression, held to uniformity; and how it is made.

The record is made, in about ten minutes, by

    python -m bayesgroups.studies.structured_calibration --output tests/recovery/records/sbc_structured_regression.csv
"""

from __future__ import annotations

import csv
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from bayesgroups.errors import InputError
from bayesgroups.inference.gibbs import Prior
from bayesgroups.studies import structured_calibration
from bayesgroups.studies.calibration import DRAWS, measure
from bayesgroups.studies.structured_calibration import COUNTS, SEED, main, ranks

RECORDS = Path(__file__).parent / "records"
PRIORS: tuple[Prior, ...] = ("horseshoe", "laplace")
QUANTITIES = [
    "overall", "tau", "log_likelihood", *(f"mu[{n}]" for n in COUNTS[:8]), "beta[level]", "beta[gradual]", "beta[subgroup]",
]  # fmt: skip


@cache
def record() -> list[dict[str, str]]:
    with (RECORDS / "sbc_structured_regression.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


@cache
def recorded_ranks() -> dict[tuple[str, str], NDArray[np.int64]]:
    with (RECORDS / "sbc_structured_regression_ranks.csv").open(encoding="utf-8", newline="") as file:
        _, *lines = csv.reader(file)
    return {(line[0], line[1]): np.array(line[2:], dtype=np.int64) for line in lines}


def test_every_quantity_is_there() -> None:
    expected = [(prior, quantity) for prior in PRIORS for quantity in QUANTITIES]
    assert [(line["likelihood"], line["quantity"]) for line in record()] == list(recorded_ranks()) == expected
    assert all(int(line["replications"]) >= 200 and int(line["seed"]) == SEED for line in record())


def test_ranks_are_uniform() -> None:
    """The smallest of all p-values falls below the bound once in a thousand records of a sound sampler."""
    p_values = [float(line[name]) for line in record() for name in ("chi2_p", "ks_p")]
    assert min(p_values) > 0.001 / len(p_values)
    assert np.mean(p_values) > 0.5 - 3.1 * np.sqrt(1 / 12 / len(QUANTITIES))
    for line in record():
        size = float(line["replications"])
        assert abs(float(line["mean_pit"]) - 0.5) < 4 * np.sqrt(1 / 12 / size)
        assert abs(float(line["variance_pit"]) - 1) < 4 * np.sqrt(0.8 / size)


def test_the_record_follows_from_its_ranks() -> None:
    lines = iter(record())
    for prior in PRIORS:
        for again in measure(prior, {quantity: recorded_ranks()[prior, quantity] for quantity in QUANTITIES}):
            line = next(lines)
            assert again.replications == int(line["replications"])
            for name in ("chi2_p", "ks_p", "mean_pit", "variance_pit"):
                assert getattr(again, name) == pytest.approx(float(line[name]), abs=1e-5)


@pytest.mark.parametrize("prior", PRIORS)
def test_the_code_makes_the_record(prior: Prior) -> None:
    """The first data sets are the same; ranks may move by what other draws, some 400 in effect, move them."""
    again = ranks(prior, replications=2)
    for quantity in QUANTITIES:
        before = recorded_ranks()[prior, quantity][:2]
        share = (again[quantity] + before + 1) / (2 * DRAWS + 2)
        error = DRAWS * np.sqrt(2 * share * (1 - share) / 400)
        assert (np.abs(again[quantity] - before) <= 4.5 * error + 5).all(), quantity


def test_the_command_writes_a_line_per_quantity(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = {quantity: recorded_ranks()["laplace", quantity] for quantity in QUANTITIES}
    monkeypatch.setattr(structured_calibration, "ranks", lambda kind, replications, seed, *, executor: found)
    main(["--output", str(tmp_path / "sbc.csv"), "--replications", "3", "--seed", "7"])
    assert (tmp_path / "sbc.csv").read_text(encoding="utf-8").count("\n") == 1 + 2 * len(QUANTITIES)
    assert (tmp_path / "sbc_ranks.csv").read_text(encoding="utf-8").startswith("likelihood,quantity,0,1,")


def test_bad_arguments_are_refused() -> None:
    with pytest.raises(InputError, match="prior='ridge' is not one of 'horseshoe', 'laplace'"):
        ranks("ridge")  # type: ignore[arg-type]
    with pytest.raises(InputError, match="replications=0 must be 1 or more"):
        ranks("laplace", replications=0)
