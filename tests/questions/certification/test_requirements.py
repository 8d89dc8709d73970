"""The older definitions, and what may be required of any definition."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import xarray as xr

import bayesgroups as bg
from bayesgroups.errors import InputError
from bayesgroups.questions.certification import Definition, definitions, desiderata

WHO = pd.DataFrame({"site": ["a", "b", "c"]})
BY_NAME = {one.name: one for one in definitions()}


def counts(hits: list[int] | None = None, trials: list[int] | None = None, metric: str = "acc") -> xr.Dataset:
    return bg.tally_from_counts(hits or [850, 420, 3], trials or [1000, 500, 10], WHO, metric=metric)


def satisfied(name: str, tally: xr.Dataset) -> dict[str, int]:
    found = desiderata(BY_NAME[name], tally).isel(metric=0)
    return dict(zip(found["check"].values.tolist(), found["satisfied"].values.tolist(), strict=True))


def test_the_definitions_of_a_table() -> None:
    found = bg.fairness_definitions(counts(), tolerance=0.1).isel(metric=0)
    everyone = 1273 / 1510
    expected = [everyone - 0.3, (0.85 - everyone) * 1000 / 1510, np.log(0.85 / 0.3), 10 / 1510]
    np.testing.assert_allclose(found["value"], expected)
    assert np.isnan(found["lower"]).all()
    assert found["left_out"] == ""


def test_a_ratio_to_nothing_is_infinite() -> None:
    found = bg.fairness_definitions(counts([850, 420, 0]))["value"].sel(definition="differential_ratio")
    assert found.values.tolist() == [np.inf]


def test_the_definitions_of_draws() -> None:
    report = bg.estimate(counts(), bg.NoPooling(bootstrap=500), seed=1)
    for using in ("posterior", "bootstrap"):
        found = bg.fairness_definitions(report, using=using).isel(metric=0)
        assert (found["lower"] < found["upper"]).values[:3].all()
        assert (found["lower"] <= found["value"]).all()


def test_a_subgroup_without_a_number_is_named() -> None:
    found = bg.fairness_definitions(counts([850, 420, 0], [1000, 500, 0]))
    assert found["left_out"].values.tolist() == ["c (no rows)"]


def test_weighting_by_size_is_not_the_same_standard() -> None:
    """The example of the paper: the same group is fine at 1 % of people and not at 20 %."""
    judged = BY_NAME["size_weighted_gap"].unfairness
    values = np.array([0.15, 0.85])
    assert judged(values, np.array([1.0, 99.0]), 0.85) == pytest.approx(0.007)
    assert judged(values, np.array([20.0, 80.0]), 0.85) == pytest.approx(0.14)
    found = satisfied("size_weighted_gap", counts())
    assert (found["minimal_justice"], found["consistent_conceptualisation"], found["data_not_punished"]) == (0, 0, 0)


def test_gaps_reward_errors() -> None:
    """Serving the best-served worse brings subgroups together."""
    assert satisfied("equality_gap", counts()) == {
        "minimal_justice": 1, "consistent_conceptualisation": 1, "data_not_punished": 1, "errors_not_rewarded": 0,
    }  # fmt: skip
    table = desiderata(BY_NAME["equality_gap"], counts()).isel(metric=0).sel(check="errors_not_rewarded")
    assert table["fails"].values.tolist() == [1, 1, 0]
    assert table["after"].values[0] < table["before"].values[0]
    assert "fails in 2 of 3 subgroups, e.g. a" in str(table["sentence"].values)


def test_a_share_of_people_exempts_the_few() -> None:
    found = desiderata(BY_NAME["share_beyond"], counts()).isel(metric=0).sel(check="consistent_conceptualisation")
    assert found["fails"].values.tolist() == [0, 0, 1]


def test_the_optimist_punishes_data_and_the_pessimist_does_not() -> None:
    for kind in ("raw", "clipped", "exact"):
        optimist, pessimist = (satisfied(f"{side}_{kind}", counts()) for side in ("optimist", "pessimist"))
        assert optimist == {**dict.fromkeys(optimist, 1), "data_not_punished": 0}
        assert pessimist == dict.fromkeys(pessimist, 1)


def test_raw_limits_reward_errors_at_the_ends() -> None:
    """Of 20, one right decision less than one raises the pessimist's raw limit from -.032 to 0; clipped limits stay."""
    low = counts([1, 20, 20], [20, 20, 20])
    assert satisfied("pessimist_raw", low)["errors_not_rewarded"] == 0
    assert satisfied("pessimist_clipped", low)["errors_not_rewarded"] == 1
    high = counts([20, 20, 20], [20, 20, 20])
    assert satisfied("optimist_raw", high)["errors_not_rewarded"] == 1  # another subgroup still has 1
    alone = bg.tally_from_counts([20], [20], WHO.iloc[:1], metric="acc")
    assert satisfied("optimist_raw", alone)["errors_not_rewarded"] == 0
    assert satisfied("optimist_clipped", alone)["errors_not_rewarded"] == 1


def test_a_definition_of_ones_own_and_errors_instead_of_right_decisions() -> None:
    own = Definition("mean shortfall", lambda m, n, overall: float(np.mean(1 - m)), 0.3)
    first = desiderata(own, counts()).isel(metric=0)
    # Each of three subgroups at 0 makes the mean shortfall .44, so nobody is exempt.
    assert first["satisfied"].values.tolist() == [1, 1, 1, 1]
    second = desiderata(own, counts([150, 80, 7], metric="fnr")).isel(metric=0)
    np.testing.assert_allclose(second["before"], first["before"])


def test_a_table_without_numbers_fails_nothing() -> None:
    found = desiderata(BY_NAME["equality_gap"], counts([0, 0, 0], [0, 0, 0])).isel(metric=0)
    assert found["sentence"].values.tolist() == ["fails in 0 of 0 subgroups"] * 4


def test_what_is_refused() -> None:
    values = bg.tally_from_estimates([0.7, 0.8, 0.9], [0.001] * 3, WHO, metric="acc")
    with pytest.raises(InputError, match="metric 'acc' is no rate; the checks change shares"):
        desiderata(BY_NAME["equality_gap"], values)
    with pytest.raises(InputError, match="tolerance=-1 must be 0 or larger"):
        bg.fairness_definitions(counts(), tolerance=-1)
    assert np.isfinite(bg.fairness_definitions(values)["value"].values).all()
