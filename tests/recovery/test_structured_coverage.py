"""The record of coverage after a lasso, held to thresholds; and how it is made.

The record is made, in about ten minutes, by

    python -m bayesgroups.studies.structured_coverage --output tests/recovery/records/structured_coverage.csv
"""

from __future__ import annotations

import csv
import io
from functools import cache
from pathlib import Path

import pytest

from bayesgroups.errors import InputError
from bayesgroups.studies.records import as_csv
from bayesgroups.studies.structured_coverage import main, study
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


def test_a_small_study_is_reproducible(tmp_path: Path) -> None:
    path = tmp_path / "made" / "record.csv"
    main(["--output", str(path), "--replications", "2", "--bootstraps", "5", "--seed", "3"])
    found, again = resumed(lambda run: study(2, seed=3, bootstraps=5, executor=run), tmp_path / "kept")
    assert found == again
    assert path.read_bytes() == as_csv(found).encode()
    assert path.read_text(encoding="utf-8").splitlines()[0] == ",".join(record()[0])


def test_one_replication_is_refused() -> None:
    with pytest.raises(InputError, match="replications=1 must be 2 or more"):
        study(replications=1)
