"""Estimates and intervals of tau^2 against those that R's metafor printed; `tests/golden/metafor` has the program."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pytest

from bayesgroups.data.arrays import FloatArray
from bayesgroups.questions.disparities import heterogeneity, q_profile
from bayesgroups.questions.disparities.population_variance import Estimate, of_population

FOLDER = Path(__file__).parents[2] / "golden" / "metafor"
ESTIMATORS = ("HE", "DL", "PM", "SJ", "ML", "REML")


def table(name: str) -> dict[tuple[str, str], FloatArray]:
    lines = csv.reader((FOLDER / name).read_text(encoding="utf-8").splitlines()[1:])
    return {(line[0], line[1]): np.array(line[2:], dtype=np.float64) for line in lines}


INPUTS, ANSWERS = table("inputs.csv"), table("estimates.csv")
DATA = tuple(dict.fromkeys(name for name, _ in INPUTS))


def answer(name: str, method: str, interval: str) -> Estimate:
    y, v = INPUTS[name, "y"], INPUTS[name, "v"]
    return of_population(y, v, v, method.lower(), interval, 0.95)


def test_every_data_set_was_answered() -> None:
    assert len(DATA) == 7
    assert len(ANSWERS) == 7 * (len(ESTIMATORS) + 4)


@pytest.mark.parametrize("name", DATA)
def test_estimates_and_standard_errors(name: str) -> None:
    """To 1e-6 where there is a formula, and where an optimiser stops at 1e-13 as well."""
    for method in ESTIMATORS:
        found, theirs = answer(name, method, "q_profile"), ANSWERS[name, method]
        assert max(found.raw, 0.0) == pytest.approx(theirs[0], rel=1e-6, abs=1e-9), method
        if method in ("DL", "ML", "REML") and theirs[0] > 0:
            assert found.std_error == pytest.approx(theirs[1], rel=1e-6), method
    y, v = INPUTS[name, "y"], INPUTS[name, "v"]
    assert float(heterogeneity.q_statistic(y, v)) == pytest.approx(ANSWERS[name, "DL"][4], rel=1e-9)
    assert 100 * float(heterogeneity.i_squared(y, v)) == pytest.approx(float(ANSWERS[name, "I2"][0]), rel=1e-9)


@pytest.mark.parametrize("name", DATA)
def test_intervals(name: str) -> None:
    y, v = INPUTS[name, "y"], INPUTS[name, "v"]
    found = q_profile.two_sided(y, v, 0.95)
    ends = [float(found.lower), float(found.upper)]
    assert ends == pytest.approx(ANSWERS[name, "Q-profile"].tolist(), rel=1e-6, abs=1e-9)
    for method in ("ML", "REML"):
        limits = answer(name, method, "profile_likelihood").interval
        theirs = ANSWERS[name, f"profile likelihood {method}"].tolist()
        assert [float(limits.lower), float(limits.upper)] == pytest.approx(theirs, rel=1e-6, abs=1e-9), method
