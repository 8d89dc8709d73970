"""The record of simulation-based calibration of crossed effects, held to uniformity and to the gate; and how it is made.

The record is made, in about a quarter of an hour, by

    python -m tests.recovery.studies.crossed_calibration --output tests/recovery/records/sbc_crossed_effects.csv
"""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pytest

from bayesgroups.errors import InputError
from bayesgroups.report.diagnostics import IS_ESS
from tests.recovery.sbc_records import (
    assert_follows_from_its_ranks,
    assert_made_again,
    assert_uniform,
    lines_of,
    ranks_of,
    read_ranks,
)
from tests.recovery.studies.calibration_study import DRAWS
from tests.recovery.studies.crossed_calibration import CHAINS, COUNTS, LIKELIHOODS, SEED, STUDY, cells, main

NAME = "crossed_effects"
QUANTITIES = ["overall", "log_likelihood", *(f"tau[{k}]" for k in range(7)), *(f"mu[{n}]" for n in COUNTS)]


def test_every_quantity_is_there() -> None:
    assert list(ranks_of(NAME)) == [(likelihood, quantity) for likelihood in LIKELIHOODS for quantity in QUANTITIES]
    assert all(int(line["replications"]) >= 500 and int(line["seed"]) == SEED for line in lines_of(NAME))


def test_ranks_are_uniform() -> None:
    assert_uniform(NAME)


def test_the_record_follows_from_its_ranks() -> None:
    assert_follows_from_its_ranks(NAME)


def test_fits_pass_the_gate() -> None:
    """Two fits in a hundred may be left to NUTS, of means by chains one in twenty: a thousand draws of chains are worth fewer.

    Of rates one table in five has logits so skewed that chains take it, whatever weights would say.
    """
    lines = lines_of(NAME, "fits")
    fits = [fit for fit in lines if not fit["likelihood"].endswith(CHAINS)]
    alone = [fit for fit in lines if fit["likelihood"].endswith(CHAINS)]
    assert len(fits) >= 1000
    assert sum(int(fit["passed"]) for fit in alone) >= 0.93 * len(alone)
    assert all(int(fit["chains"]) for fit in alone)
    failed = [fit for fit in fits if not int(fit["passed"])]
    by_chains = {each: sum(int(fit["chains"]) for fit in fits if fit["likelihood"] == each) for each in LIKELIHOODS}
    assert min(by_chains["binomial"], by_chains["binomial, learned"]) >= 0.95 * 500
    assert 0 < by_chains["binomial, weights"] < 250
    assert by_chains["normal"] == 0
    assert all(fit["likelihood"].startswith("binomial") for fit in failed)
    several = [fit for fit in fits if int(fit["informative"]) > 1]
    by_default = [fit for fit in fits if fit["likelihood"] in ("binomial", "normal")]
    assert sum(fit in several for fit in by_default) >= 0.9 * len(by_default)
    assert sum(fit in failed for fit in several) <= 0.01 * len(several)
    assert len(failed) <= 0.02 * len(fits)


@pytest.mark.xfail(
    reason="one table of rates in five has logits so skewed that chains take it, whatever weights would say"
)
def test_chains_take_one_fit_in_twenty_of_weights_at_most() -> None:
    fits = [fit for fit in lines_of(NAME, "fits") if fit["likelihood"] in ("binomial, weights", "normal")]
    assert len(fits) == 1000
    assert sum(int(fit["chains"]) for fit in fits) < 0.05 * len(fits)


@pytest.mark.record
def test_the_code_makes_the_record(tmp_path: Path) -> None:
    main(["--output", str(tmp_path / "one.csv"), "--replications", "2"])
    found = read_ranks(tmp_path / "one_ranks.csv")
    for likelihood in LIKELIHOODS:
        again = {quantity: rank for (which, quantity), rank in found.items() if which == likelihood}
        assert_made_again(NAME, likelihood, again, effective=IS_ESS)
        for quantity, rank in again.items():
            # Another linear algebra library may round an importance weight differently and move a draw.
            assert np.abs(rank - ranks_of(NAME)[likelihood, quantity][: len(rank)]).max() <= 0.05 * DRAWS
    with (tmp_path / "one_fits.csv").open(encoding="utf-8", newline="") as file:
        fits = list(csv.DictReader(file))
    assert len(fits) == 2 * len(LIKELIHOODS)
    made = {(fit["likelihood"], fit["replication"]): fit for fit in lines_of(NAME, "fits")}
    assert all(made[fit["likelihood"], fit["replication"]] == fit for fit in fits)
    assert {path.name for path in tmp_path.iterdir()} == {"one.csv", "one_ranks.csv", "one_fits.csv"}


def test_the_design_has_every_component() -> None:
    assert [int(cell.max()) + 1 for cell in cells()] == [3, 2, 2, 6, 6, 4, 12]


def test_bad_arguments_are_refused() -> None:
    with pytest.raises(InputError, match="likelihood='probit' is not one of 'binomial', 'normal'"):
        STUDY.calibrate("probit", 1)
    with pytest.raises(InputError, match="replications=0 must be 1 or more"):
        STUDY.calibrate("normal", 0)
