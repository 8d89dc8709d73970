"""The recorded densities of subgroups left out, beside those of fits without the subgroup."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import bayesgroups as bg
from tests.public_data import public_data
from tests.recovery.remade import assert_remade
from tests.recovery.studies import left_out

RECORD = Path(__file__).parent / "records" / "left_out.csv"
KEYS = ("data", "estimator", "subgroup")


@pytest.fixture(scope="module")
def record() -> pd.DataFrame:
    return pd.read_csv(RECORD)


def test_densities_are_those_of_fits_without_the_subgroup(record: pd.DataFrame) -> None:
    assert len(record) == 30
    assert (record["pareto_k"] < 0.7).all()
    difference = record["elpd"] - record["refitted"]
    assert (difference.abs() < 4 * record["error"] + 0.01).all()
    # One error of a fit in the root of the mean square would be 1 if the other side had none.
    assert np.sqrt(((difference / np.hypot(record["error"], 0.005)) ** 2).mean()) < 1.5


@pytest.mark.parametrize("data", ["demonstration", "120 subgroups"])
@pytest.mark.record
def test_partial_pooling_is_made_again(data: str) -> None:
    made = left_out.lines(data, bg.PartialPooling(), number=5)
    assert_remade(RECORD, [line._asdict() for line in made], KEYS, tolerance=1e-4)


@pytest.mark.slow
@pytest.mark.parametrize("data", ["demonstration", "compas"])
def test_crossed_effects_are_made_again(data: str) -> None:
    public_data("compas")
    made = left_out.lines(data, bg.CrossedEffects(), number=5)
    assert_remade(RECORD, [line._asdict() for line in made], KEYS, tolerance=1e-4)
