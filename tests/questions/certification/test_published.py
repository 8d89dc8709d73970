"""Tables 2 to 4 of Himmelreich et al.: all 54 printed values and whose they are."""

from __future__ import annotations

import pandas as pd
import pytest
import xarray as xr

import bayesgroups as bg
from examples.published.intersectionality.published_certification import CRITICAL_VALUE, LINES, Line


def tally_of(line: Line) -> xr.Dataset:
    """The critical subgroups of a data set; right decisions of three models are thirds of a row."""
    entries = list(line.entries.values())
    table = pd.DataFrame({"subgroup_": [entry.subgroup for entry in entries]})
    counts = bg.tally_from_counts(
        [entry.right for entry in entries], [3 * entry.rows for entry in entries], table, metric="acc"
    )
    counts["count"] = counts["count"] / 3
    counts["successes"] = counts["successes"] / 3
    return counts


@pytest.mark.parametrize("line", LINES, ids=lambda line: line.name)
def test_the_printed_values_come_back(line: Line) -> None:
    found = bg.certify(tally_of(line), critical_value=CRITICAL_VALUE).isel(metric=0)
    assert float(found["worst"]) == pytest.approx(line.worst_value, abs=2e-15)
    assert float(found["optimist_unclipped"]) == pytest.approx(line.optimist_value, abs=2e-15)
    assert float(found["pessimist_unclipped"]) == pytest.approx(line.pessimist_value, abs=2e-15)
    assert found["interval_method"] == "wald"
    # Of nlsy the subgroups of one and of two rows have the same accuracy: we name the smaller, the paper the larger.
    worst = line.worst.subgroup if line.name != "nlsy" else line.pessimist.subgroup
    assert found["worst_subgroup"] == worst
    assert found["optimist_subgroup"] == line.optimist.subgroup
    assert found["pessimist_subgroup"] == line.pessimist.subgroup


def test_there_are_54_values() -> None:
    assert len(LINES) == 18
    assert LINES[0].worst_value == pytest.approx(0.8020050125313280, abs=2e-15)
    assert LINES[2].worst_value == pytest.approx(0.944444444444445, abs=1e-14)


def test_limits_in_the_range_are_clipped() -> None:
    nlsy = next(line for line in LINES if line.name == "nlsy")
    assert float(bg.certify(tally_of(nlsy), critical_value=CRITICAL_VALUE)["pessimist"][0]) == 0.0
