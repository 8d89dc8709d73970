"""The record of coverage of subgroups without rows, held to thresholds, and one line of it made again."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import bayesgroups as bg
from bayesgroups.errors import InputError
from tests.recovery.studies import imputed_coverage
from tests.recovery.studies.imputed_coverage import COMPETITORS, LEVELS, SIDES, SPREADS, Line, main, read, study
from tests.recovery.studies.imputed_populations import ATTRIBUTES, CENTRE, EMPTY, KINDS, TABLE, values
from tests.studies.resumed import resumed

RECORD = Path(__file__).parent / "records" / "imputed_coverage.csv"

NO_DIFFERENCES = ("complete_pooling",)
"""Its model says that subgroups do not differ, and it covers only where that is so."""
WITHOUT_INTERVALS = ("no_pooling", "confusion", "model_based_metrics", "disagreement")
"""Frequentist sides that do not answer for a subgroup without rows."""
HALF_NORMAL = ("partial_pooling", "crossed_effects", "confusion", "disagreement")
"""Bayesian sides whose spread has a half-normal prior of scale .5 or less, in logits or in standard deviations of a row: the
largest spread, 1, lies in its tail and is drawn towards 0."""
FEW_EFFECTS = ("structured_regression",)
"""Bayesian sides whose prior says that few effects matter, where here all of them do: intervals are too short at every spread
but 0."""


@pytest.fixture(scope="module")
def record() -> pd.DataFrame:
    return pd.read_csv(RECORD)


def claiming(record: pd.DataFrame) -> pd.DataFrame:
    """Lines of sides that answer, and whose model has differences between subgroups or data that have none."""
    answered = ~((record["side"] == "frequentist") & record["estimator"].isin(WITHOUT_INTERVALS))
    return record[answered & (~record["estimator"].isin(NO_DIFFERENCES) | (record["spread"] == 0))]


def over_spreads(lines: pd.DataFrame) -> pd.Series:
    """Mean coverage over spreads and two of its Monte Carlo errors, by side and kind."""
    groups = lines.groupby(["side", "kind"])
    error = groups["mc_error"].agg(lambda errors: float(np.sqrt((errors**2).sum()) / len(errors)))
    return groups["coverage"].mean() + 2 * error


def test_the_record_is_whole(record: pd.DataFrame) -> None:
    kinds = sum(len(competitor.kinds) for competitor in COMPETITORS.values())
    assert len(record) == kinds * len(SPREADS) * len(SIDES) * len(LEVELS)
    assert record["estimator"].unique().tolist() == list(COMPETITORS)
    assert not record.duplicated(["estimator", "side", "kind", "spread", "level"]).any()


def test_sides_that_do_not_answer_for_subgroups_without_rows_say_so(record: pd.DataFrame) -> None:
    silent = (record["side"] == "frequentist") & record["estimator"].isin(WITHOUT_INTERVALS)
    assert (record.loc[silent, "answered"] == 0).all()
    assert record.loc[silent, "coverage"].isna().all()
    assert (record.loc[~silent, "answered"] == 1).all()


@pytest.mark.parametrize("name", COMPETITORS)
def test_intervals_of_95_percent_cover_at_least_90(record: pd.DataFrame, name: str) -> None:
    lines = claiming(record)
    lines = lines[(lines["estimator"] == name) & (lines["level"] == 0.95)]
    far = (lines["spread"] == SPREADS[-1]) & (name in HALF_NORMAL) | (lines["spread"] > 0) & (name in FEW_EFFECTS)
    near = lines[~(far & (lines["side"] == "bayesian"))]
    assert (near["coverage"] + 3 * near["mc_error"] >= 0.90).all()
    # Over spreads chance is less.
    assert (over_spreads(near) >= 0.90).all()
    assert (lines["coverage"] + 2 * lines["mc_error"] >= 0.85).all()


@pytest.mark.parametrize("name", COMPETITORS)
def test_intervals_of_80_percent_cover_at_least_75(record: pd.DataFrame, name: str) -> None:
    lines = claiming(record)
    lines = lines[(lines["estimator"] == name) & (lines["level"] == 0.8) & (lines["spread"] < SPREADS[-1])]
    lines = lines[(lines["side"] == "frequentist") | (name not in FEW_EFFECTS)]
    assert (lines["coverage"] + 3 * lines["mc_error"] >= 0.75).all()
    assert (over_spreads(lines) >= 0.75).all()


def test_structured_regression_is_as_wide_as_subgroups_differ(record: pd.DataFrame) -> None:
    own = record[(record["estimator"] == "structured_regression") & (record["side"] == "frequentist")]
    for _, lines in own[own["level"] == 0.95].groupby("kind"):
        width = lines.sort_values("spread")["width"].to_numpy()
        assert (np.diff(width) > 0).all()
        assert (lines["coverage"] >= 0.88).all()


def test_complete_pooling_does_not_cover_subgroups_that_differ(record: pd.DataFrame) -> None:
    own = record[(record["estimator"] == "complete_pooling") & (record["level"] == 0.95)]
    assert (own.loc[own["spread"] == 0, "coverage"] > 0.88).all()
    assert (own.loc[own["spread"] == 1, "coverage"] < 0.5).all()


@pytest.mark.record
def test_a_line_of_the_record_can_be_made_again(record: pd.DataFrame) -> None:
    """The frequentist side of complete pooling at the largest spread, in two of its evaluation sets at a time."""
    line = record.query("estimator == 'complete_pooling' and kind == 'rate' and spread == 1 and level == 0.95")
    line = line[line["side"] == "frequentist"].iloc[0]
    seed, position, shares, widths = int(line["seed"]), SPREADS.index(1.0), [], []
    for replication in range(int(line["replications"])):
        tally, truth = KINDS["rate"](1.0, np.random.default_rng([seed, 0, position, replication]))
        reference = bg.CompletePooling().reference(tally, seed=replication).isel(metric=0).sel(level=0.95)
        empty = tally["rows"].values == 0
        lower, upper = reference["lower"].values[empty], reference["upper"].values[empty]
        shares.append(((lower <= truth[empty]) & (truth[empty] <= upper)).mean())
        widths.append((upper - lower).mean())
    assert float(line["coverage"]) == round(float(np.mean(shares)), 6)
    assert float(line["width"]) == pytest.approx(float(np.mean(widths)), abs=1e-6)


@pytest.mark.record
def test_the_truth_is_what_the_module_says() -> None:
    rng = np.random.default_rng(3)
    deviations = np.stack([values(0.5, rng) for _ in range(4000)])
    assert deviations.std() == pytest.approx(0.5, abs=0.01)
    same_race = (
        (TABLE["race"] == TABLE["race"][0]).to_numpy() & (TABLE["sex"] != TABLE["sex"][0]) & (TABLE["age"] != "1")
    )
    shared = (deviations[:, [0]] * deviations[:, same_race.to_numpy()]).mean()
    assert shared == pytest.approx(0.25 / 6, abs=0.01)
    for kind, draw in KINDS.items():
        tally, truth = draw(0.0, np.random.default_rng(1))
        assert (tally["rows"].values == 0).sum() == EMPTY, kind
        assert np.ptp(truth) == 0
        assert [list(dict.fromkeys(tally[name].values.tolist())) for name in ATTRIBUTES] == list(ATTRIBUTES.values())
        large, truths = draw(0.0, np.random.default_rng(2))
        total = float((large["count"][0] * large["estimate"][0]).sum() / large["count"][0].sum())
        assert total == pytest.approx(truths[0], abs=0.15)
    assert KINDS["rate"](0.0, np.random.default_rng(1))[1][0] == pytest.approx(1 / (1 + np.exp(-CENTRE)))


@pytest.mark.record
def test_a_small_study_goes_on_and_replaces_one_estimator(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(imputed_coverage, "SPREADS", (0.5,))
    found, again = resumed(lambda run: study(24, 1, estimators=["partial_pooling"], executor=run), tmp_path / "kept")
    assert found == again
    path = tmp_path / "record.csv"
    for name in ("partial_pooling", "complete_pooling"):
        main(["--output", str(path), "--replications", "24", "--seed", "1", "--estimator", name])
    lines = read(path)
    assert [line.estimator for line in lines] == ["complete_pooling"] * 8 + ["partial_pooling"] * 8
    assert lines[8:] == [rounded(line) for line in found]
    assert path.read_text(encoding="utf-8").splitlines()[0] == RECORD.read_text(encoding="utf-8").splitlines()[0]


def rounded(line: Line) -> Line:
    numbers = {name: round(value, 6) for name, value in vars(line).items() if isinstance(value, float)}
    return Line(**(vars(line) | numbers))


def test_what_cannot_be_measured_is_refused() -> None:
    with pytest.raises(InputError, match="replications=23 must be 24 or more"):
        study(23)
    with pytest.raises(InputError, match="estimator 'pooling' is not one of no_pooling, complete_pooling"):
        study(24, estimators=["pooling"])
