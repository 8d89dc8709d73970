"""The record of coverage after a lasso, held to thresholds; and how it is made.

The record is made, in about ten minutes, by

    python -m tests.recovery.studies.structured_coverage --output tests/recovery/records/structured_coverage.csv
"""

from __future__ import annotations

import csv
import io
from dataclasses import asdict
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bayesgroups.datasets import STUDY_SIZES
from bayesgroups.errors import InputError
from bayesgroups.frequentist.intervals import Interval
from bayesgroups.frequentist.structured import cross_validation, rblpr
from examples.records import as_csv
from tests.recovery.remade import assert_remade
from tests.recovery.studies import structured_coverage
from tests.recovery.studies.structured_coverage import main, study
from tests.studies.resumed import resumed

RECORD = Path(__file__).parent / "records" / "structured_coverage.csv"
Line = dict[str, str]
TRUTHS = ("additive", "rough")
PENALTIES = ("0.3", "0.05", "0.01", "cv")


@cache
def record() -> list[Line]:
    return list(csv.DictReader(io.StringIO(RECORD.read_text(encoding="utf-8"))))


def value(column: str, truth: str, penalty: str, errors: str, size_class: str = "all", level: float = 0.95) -> float:
    found = [
        line
        for line in record()
        if (line["truth"], line["penalty"], line["errors"], line["size_class"], float(line["level"]))
        == (truth, penalty, errors, size_class, level)
    ]
    assert len(found) == 1
    return float(found[0][column])


@pytest.mark.parametrize("truth", TRUTHS)
@pytest.mark.parametrize("penalty", PENALTIES)
@pytest.mark.parametrize("size_class", ["all", "small", "large"])
def test_errors_of_known_variance_cover_at_every_penalty(truth: str, penalty: str, size_class: str) -> None:
    slack = 3 * value("mc_error", truth, penalty, "known_variance", size_class)
    assert 0.92 - slack < value("coverage", truth, penalty, "known_variance", size_class) < 0.98
    assert value("width_ratio", truth, penalty, "known_variance", size_class) < 1


@pytest.mark.parametrize("truth", TRUTHS)
def test_residuals_collapse_as_the_penalty_falls(truth: str) -> None:
    """A reference simulation has coverage .90, .77, .34 and relative widths .82, .59, .23 at these penalties."""
    coverage = [value("coverage", truth, penalty, "residual") for penalty in PENALTIES[:3]]
    width = [value("width_ratio", truth, penalty, "residual") for penalty in PENALTIES[:3]]
    assert coverage[0] > 0.87
    assert 0.7 < coverage[1] < 0.9
    assert coverage[2] < 0.6
    assert width[0] > width[1] > width[2]
    assert width[2] < 0.4


@pytest.mark.parametrize("truth", TRUTHS)
def test_the_lasso_is_closer_to_the_truth_than_the_standard_estimate(truth: str) -> None:
    assert value("mae_ratio", truth, "cv", "known_variance", "small") < 0.6
    assert value("mae_ratio", truth, "cv", "known_variance") < 0.75


def test_features_that_tell_something_help() -> None:
    additive, rough = (value("mae_ratio", truth, "cv", "known_variance") for truth in TRUTHS)
    assert additive < rough


@pytest.mark.record
def test_a_small_study_is_reproducible(tmp_path: Path) -> None:
    path = tmp_path / "made" / "record.csv"
    main(["--output", str(path), "--replications", "2", "--bootstraps", "5", "--seed", "3"])
    found, again = resumed(lambda run: study(2, seed=3, bootstraps=5, executor=run), tmp_path / "kept")
    assert found == again
    assert path.read_bytes() == as_csv(found).encode()
    assert path.read_text(encoding="utf-8").splitlines()[0] == ",".join(record()[0])


@pytest.mark.parametrize("truth", TRUTHS)
@pytest.mark.record
def test_relative_errors_can_be_made_again(truth: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Those of all fixed penalties and classes, in all replications: they need no bootstrap, which is drawn after the data."""
    nothing = Interval(np.zeros(32), np.ones(32))
    monkeypatch.setattr(rblpr, "run", lambda *_, **__: None)
    monkeypatch.setattr(rblpr, "interval", lambda *_: nothing)
    trials: dict[tuple[str, ...], list[Any]] = {}
    for replication in range(structured_coverage.REPLICATIONS):
        for key, parts in structured_coverage._judge(truth, structured_coverage.SEED, 1, 0, replication):
            trials.setdefault(key, []).append(parts)
    small = np.array(STUDY_SIZES) <= structured_coverage.SMALL
    keys = ["truth", "penalty", "errors", "size_class", "level"]
    columns = {*keys, "mae_ratio", "replications", "seed"}
    for (penalty, errors), made in trials.items():
        lines = structured_coverage._summarise(truth, penalty, errors, np.array(made), small, structured_coverage.SEED)
        kept = [{name: part for name, part in asdict(line).items() if name in columns} for line in lines]
        assert_remade(RECORD, kept, keys, tolerance=1e-5)
    assert len(trials) == 6


@pytest.mark.slow
def test_a_penalty_can_be_made_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """The largest one with errors of known variance, drawn first of all, in all replications of one truth.

    A third of the replications deal rows to folds before, and the penalty that they choose is not needed.
    """
    monkeypatch.setattr(structured_coverage, "SHARES", (0.3,))
    monkeypatch.setattr(cross_validation, "losses", lambda *_: np.zeros(1))
    monkeypatch.setattr(cross_validation, "choose", lambda _: 0)
    monkeypatch.setattr(cross_validation, "grid", lambda largest: np.array([largest]))
    crossed = structured_coverage.REPLICATIONS // structured_coverage.CV_THINNING
    work = [
        structured_coverage._judge("additive", structured_coverage.SEED, structured_coverage.BOOTSTRAPS, crossed, i)
        for i in range(structured_coverage.REPLICATIONS)
    ]
    made = np.array([judged[0][1] for judged in work])
    small = np.array(STUDY_SIZES) <= structured_coverage.SMALL
    lines = structured_coverage._summarise("additive", "0.3", "known_variance", made, small, structured_coverage.SEED)
    keys = ["truth", "penalty", "errors", "size_class", "level"]
    assert_remade(RECORD, [asdict(line) for line in lines], keys, tolerance=1e-5)


def test_one_replication_is_refused() -> None:
    with pytest.raises(InputError, match="replications=1 must be 2 or more"):
        study(replications=1)
