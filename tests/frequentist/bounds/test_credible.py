"""Credible sets of bounds: the worked example, limits, and what is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
import xarray as xr

import bayesgroups as bg
from bayesgroups.errors import InputError
from bayesgroups.frequentist.bounds import credible_sets
from bayesgroups.frequentist.bounds.credible import shares


def worked(times: int = 1) -> xr.Dataset:
    rows = pd.DataFrame({"sex": "f", "said": list("abcabc"), "disagrees": [0, 0, 0, 1, 1, 1]})
    counts = np.array([[40.0], [18.0], [10.0]]), np.array([[10.0], [12.0], [10.0]])
    cell = ("label", "subgroup")
    tally = bg.disagreement_tally(rows, ["sex"], "said", "disagrees")
    return tally.assign(agreements=(cell, times * counts[0]), disagreements=(cell, times * counts[1]))


def test_the_worked_example() -> None:
    agree, disagree = shares(worked()["agreements"].values, worked()["disagreements"].values, 0.5, 40_000, 1)
    np.testing.assert_allclose((agree + disagree).sum(axis=1), 1.0)
    lower = agree[:, 0, 0] / (agree[:, 0, 0] + disagree[:, 1, 0] + disagree[:, 2, 0])
    assert [lower.mean(), *np.quantile(lower, [0.05, 0.95])] == pytest.approx([0.638, 0.537, 0.734], abs=0.003)
    found = credible_sets(worked(), "equal_opportunity", seed=1).sel(label="a", subgroup="f")
    assert float(found["lower"]) == pytest.approx(0.638, abs=0.004)
    found = credible_sets(worked(), "predictive_equality", seed=1).sel(label="a", subgroup="f")
    means = [float(found["lower"]), float(found["upper"])]
    assert means == pytest.approx([0.168, 0.266], abs=0.004)
    ninety = found.sel(level=0.9)
    limits = [float(ninety["credible_lower"]), float(ninety["credible_upper"])]
    assert limits == pytest.approx([0.097, 0.387], abs=0.008)


@pytest.mark.parametrize("across", [None, "subgroups"])
def test_many_judgements_leave_the_sharp_bounds(across: Any) -> None:
    large = worked(100_000)
    if across:
        large = xr.concat([large, large.assign_coords(subgroup=["m"])], "subgroup", data_vars="minimal")
    for notion in ("equal_opportunity", "predictive_equality"):
        exact = bg.disagreement_bounds(large, notion, across=across)
        found = credible_sets(large, notion, seed=1, across=across)
        for end in ("lower", "upper"):
            np.testing.assert_allclose(found[end], exact[end], atol=2e-3)
            np.testing.assert_allclose(found[f"credible_{end}"].sel(level=0.95), exact[end], atol=4e-3)


def test_a_prior_must_be_positive() -> None:
    with pytest.raises(InputError, match="prior=0 must be a positive number"):
        credible_sets(worked(), "calibration", seed=1, prior=0)
