"""The rule for who takes part in a question asked of subgroups."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import xarray as xr

import bayesgroups as bg
from bayesgroups.errors import InputError
from bayesgroups.tallies.participation import participants


@pytest.fixture
def tally() -> xr.Dataset:
    rows = pd.DataFrame({"sex": list("ffmmxx"), "y": [1, 1, 0, 1, 0, 0], "d": [1, 0, 1, 1, 0, 1]})
    return bg.tally(rows, {"sex": ["f", "m", "x", "z"]}, ["tpr", "acc"], y_true="y", y_pred="d")


def test_a_subgroup_with_rows_may_have_none_in_the_denominator(tally: xr.Dataset) -> None:
    everyone = np.ones(4, dtype=bool)
    for metric, names in (("tpr", "x (no positives); z (no rows)"), ("acc", "z (no rows)")):
        taking_part = participants(tally.sel(metric=metric), everyone, "leave_out")
        assert taking_part.names == names
        assert int(taking_part.included.sum()) == 4 - len(taking_part.left_out)


def test_nobody_takes_part_without_an_answer(tally: xr.Dataset) -> None:
    answered = np.array([True, False, True, False])
    taking_part = participants(tally.sel(metric="tpr"), answered, "include")
    assert taking_part.included.tolist() == answered.tolist()
    assert taking_part.left_out == ("m (no draws)", "z (no rows)")


def test_a_treatment_that_does_not_exist_is_refused(tally: xr.Dataset) -> None:
    with pytest.raises(InputError, match=r"imputed='drop' is not one of 'leave_out', 'include'"):
        participants(tally.sel(metric="tpr"), np.ones(4, dtype=bool), "drop")  # type: ignore[arg-type]
