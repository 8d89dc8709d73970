"""The record of simulation-based calibration with an ordered attribute, held to uniformity and to the gate; and how it is made.

The record is made, in five minutes, by

    python -m tests.recovery.studies.ordered_calibration --output tests/recovery/records/sbc_ordered.csv
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from bayesgroups.report.diagnostics import IS_ESS
from tests.recovery.sbc_records import (
    assert_follows_from_its_ranks,
    assert_made_again,
    assert_uniform,
    lines_of,
    ranks_of,
    read_ranks,
)
from tests.recovery.studies.crossed_calibration import OVERALL_SCALE
from tests.recovery.studies.ordered_calibration import (
    COMPONENTS,
    COUNTS,
    SEED,
    effects,
    main,
    walk_covariance,
)

NAME = "ordered"
QUANTITIES = [
    "overall", "share", "log_likelihood", *(f"tau[{name}]" for name in COMPONENTS), *(f"mu[{n}]" for n in COUNTS),
]  # fmt: skip


def test_every_quantity_is_there() -> None:
    assert list(ranks_of(NAME)) == [(likelihood, quantity) for likelihood in OVERALL_SCALE for quantity in QUANTITIES]
    assert all(int(line["replications"]) >= 500 and int(line["seed"]) == SEED for line in lines_of(NAME))


def test_ranks_are_uniform() -> None:
    assert_uniform(NAME)


def test_the_record_follows_from_its_ranks() -> None:
    assert_follows_from_its_ranks(NAME)


def test_fits_pass_the_gate() -> None:
    """With a thousand draws; the estimator takes four thousand."""
    fits = lines_of(NAME, "fits")
    assert len(fits) >= 1000
    assert sum(int(fit["passed"]) for fit in fits) >= 0.98 * len(fits)


def test_effects_have_the_variance_of_their_components() -> None:
    """Diagonal of the covariance of the sum, over 4,000 draws: errors are 2 % of a variance."""
    rng = np.random.default_rng(2)
    tau, share = np.array([0.6, 0.3, 0.2]), 0.7
    drawn = np.array([effects(rng, tau, share) for _ in range(4_000)])
    age = 1 - share + share * np.diag(walk_covariance(5))
    right = np.repeat((tau[0] ** 2 + tau[2] ** 2) * age, 2) + tau[1] ** 2
    assert drawn.var(axis=0) == pytest.approx(right, rel=0.1)


@pytest.mark.record
def test_the_code_makes_the_record(tmp_path: Path) -> None:
    main(["--output", str(tmp_path / "one.csv"), "--replications", "2"])
    found = read_ranks(tmp_path / "one_ranks.csv")
    for likelihood in OVERALL_SCALE:
        again = {quantity: rank for (which, quantity), rank in found.items() if which == likelihood}
        assert_made_again(NAME, likelihood, again, effective=IS_ESS)
