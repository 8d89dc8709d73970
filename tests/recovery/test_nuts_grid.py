"""The recorded grid of NUTS on all data sets, held to the thresholds of usable chains and to the exact engines."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

import bayesgroups as bg
from bayesgroups.report.diagnostics import DIVERGENCES, ESS, R_HAT
from tests.recovery.studies import nuts_grid

RECORD = Path(__file__).parent / "records" / "nuts_grid.csv"
DISTANCE = 4.0
"""Monte Carlo standard errors that a posterior mean of NUTS may be away from that of the exact engine."""


@pytest.fixture(scope="module")
def record() -> pd.DataFrame:
    return pd.read_csv(RECORD)


def test_the_grid_is_whole(record: pd.DataFrame) -> None:
    assert list(zip(record["data"], record["estimator"], strict=True)) == nuts_grid.settings()
    public = {"adult", "bios", "common_voice", "compas", "diabetes", "dressel_farid", "demonstration", "binormal"}
    for estimator in ("partial_pooling", "james_stein", "crossed_effects"):
        assert public <= set(record.loc[record["estimator"] == estimator, "data"])


def test_nuts_is_usable_everywhere(record: pd.DataFrame) -> None:
    assert (record["usable"] == 1).all()
    assert record["r_hat"].max() <= R_HAT
    assert record[["bulk_ess", "tail_ess"]].min().min() >= ESS
    assert record["divergences"].max() <= DIVERGENCES


def test_smaller_steps_are_the_exception(record: pd.DataFrame) -> None:
    assert record["repeated"].mean() <= 0.1


def test_nuts_agrees_with_the_exact_engines(record: pd.DataFrame) -> None:
    assert record["distance"].max() <= DISTANCE


@pytest.mark.slow
def test_the_command_makes_a_line_again(
    record: pd.DataFrame, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The same draws but for rounding, which another processor may carry further: within a tenth of every figure there."""
    pair = ("binormal", "partial_pooling")
    kept = record.iloc[nuts_grid.settings().index(pair)]
    monkeypatch.setattr(nuts_grid, "settings", lambda: [pair])
    for _ in range(2):  # the second time everything is in the checkpoints
        nuts_grid.main(["--output", str(tmp_path / "grid.csv"), "--checkpoints", str(tmp_path / "kept")])
        assert capsys.readouterr().out.startswith("1 fits, 1 usable, means at most ")
    written = pd.read_csv(tmp_path / "grid.csv")
    assert written.columns.tolist() == record.columns.tolist()
    line = written.iloc[0]
    same = ["data", "estimator", "metric", "subgroups", "divergences", "repeated", "usable"]
    assert line[same].tolist() == kept[same].tolist()
    assert line["r_hat"] == pytest.approx(kept["r_hat"], abs=0.003)
    for name in ("bulk_ess", "tail_ess", "distance"):
        assert line[name] == pytest.approx(kept[name], rel=0.1)


def test_a_posterior_elsewhere_is_far_away() -> None:
    table = pd.DataFrame({"site": ["a", "b", "c"]})
    same, other = (bg.tally_from_counts(successes, [20, 30, 60], table) for successes in ([2, 10, 9], [2, 12, 9]))
    reports = [bg.estimate(tally, bg.PartialPooling(), seed=seed) for tally, seed in ((same, 1), (same, 2), (other, 2))]
    assert nuts_grid.distance(reports[0], reports[1]) < DISTANCE
    assert nuts_grid.distance(reports[0], reports[2]) > 3 * DISTANCE
