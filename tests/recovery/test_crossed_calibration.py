"""The record of simulation-based calibration of crossed effects, held to uniformity and to the gate; and how it is made.

The record is made, in about a quarter of an hour, by

    python -m bayesgroups.studies.crossed_calibration --output tests/recovery/records/sbc_crossed_effects.csv
"""

from __future__ import annotations

import csv
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from bayesgroups.errors import InputError
from bayesgroups.inference.verdicts import IS_ESS, K_HAT
from bayesgroups.studies.calibration import DRAWS
from bayesgroups.studies.crossed_calibration import COUNTS, LIKELIHOODS, SEED, cells, main, study

RECORDS = Path(__file__).parent / "records"
QUANTITIES = ["overall", "log_likelihood", *(f"tau[{k}]" for k in range(6)), *(f"mu[{n}]" for n in COUNTS)]


@cache
def record(name: str = "") -> list[dict[str, str]]:
    with (RECORDS / f"sbc_crossed_effects{name}.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_every_quantity_is_there() -> None:
    expected = [(likelihood, quantity) for likelihood in LIKELIHOODS for quantity in QUANTITIES]
    assert [(line["likelihood"], line["quantity"]) for line in record()] == expected
    assert all(int(line["replications"]) >= 500 and int(line["seed"]) == SEED for line in record())


def test_ranks_are_uniform() -> None:
    """The smallest of all p-values falls below the bound once in a thousand records of a sound engine."""
    p_values = [float(line[name]) for line in record() for name in ("chi2_p", "ks_p")]
    assert min(p_values) > 0.001 / len(p_values)
    for line in record():
        size = float(line["replications"])
        assert abs(float(line["mean_pit"]) - 0.5) < 4.2 * np.sqrt(1 / 12 / size)
        assert abs(float(line["variance_pit"]) - 1) < 4.2 * np.sqrt(0.8 / size)


def test_fits_pass_the_gate() -> None:
    """One fit in a hundred may be left to NUTS; here, with a thousand draws, so many are."""
    fits = record("_fits")
    assert len(fits) >= 1000
    failed = [fit for fit in fits if float(fit["k_hat"]) > K_HAT or float(fit["ess"]) < IS_ESS]
    assert len(failed) <= 0.01 * len(fits)
    assert all(fit["likelihood"] == "binomial" for fit in failed)


def test_the_same_command_gives_the_same_ranks(tmp_path: Path) -> None:
    main(["--output", str(tmp_path / "one.csv"), "--replications", "2"])
    ranks, fits = study("normal", 2, SEED)
    with (RECORDS / "sbc_crossed_effects_ranks.csv").open(encoding="utf-8", newline="") as file:
        _, *lines = csv.reader(file)
    recorded = {(line[0], line[1]): np.array(line[2:4], dtype=int) for line in lines}
    for quantity, rank in ranks.items():
        # Another linear algebra library may round an importance weight differently and move a draw.
        assert np.abs(rank - recorded["normal", quantity]).max() <= 0.05 * DRAWS
    assert all(k < K_HAT and ess > IS_ESS for k, ess in fits)
    assert {path.name for path in tmp_path.iterdir()} == {"one.csv", "one_ranks.csv", "one_fits.csv"}


def test_the_design_has_every_component() -> None:
    assert [int(cell.max()) + 1 for cell in cells()] == [3, 2, 2, 6, 6, 4, 12]


def test_bad_arguments_are_refused() -> None:
    with pytest.raises(InputError, match="likelihood='probit' is not one of 'binomial', 'normal'"):
        study("probit", 1, SEED)
    with pytest.raises(InputError, match="replications=0 must be 1 or more"):
        study("normal", 0, SEED)
