"""The record of errors of statements about all subgroups: 5 % where it is exact, at most 5 % where it is conservative.

The record is made, in about one minute, by

    python -m tests.recovery.studies.family_wise --output tests/recovery/records/family_wise.csv
"""

from __future__ import annotations

import csv
import io
from dataclasses import asdict
from functools import cache
from pathlib import Path

import pytest

from bayesgroups.errors import InputError
from examples.records import as_csv
from tests.recovery.remade import assert_remade
from tests.recovery.studies import family_wise
from tests.recovery.studies.family_wise import main, study
from tests.studies.resumed import resumed

RECORD = Path(__file__).parent / "records" / "family_wise.csv"
SIMULATED = 0.004
"""A critical value that is itself simulated errs by about one standard error of 4,000 draws."""


@cache
def record() -> dict[tuple[str, str, str], tuple[float, float]]:
    """Error and its Monte Carlo error of every line."""
    return {
        (line["statement"], line["method"], line["correction"]): (float(line["error"]), float(line["mc_error"]))
        for line in csv.DictReader(io.StringIO(RECORD.read_text(encoding="utf-8")))
    }


@pytest.mark.parametrize(
    ("key", "slack"),
    [
        (("optimist", "pooled_t", "simultaneous"), 0.0),
        (("band", "pooled_t", "simultaneous"), 0.0),
        (("band of margins", "pooled_normal", "simultaneous"), SIMULATED),
        (("ranks", "pairs", "simultaneous"), SIMULATED),
        # Bands of draws: a thousand draws per table, and a prior that is not the one the truth came from.
        (("band", "posterior_max_t", "simultaneous"), 0.01),
    ],
    ids=lambda value: "-".join(value) if isinstance(value, tuple) else "",
)
def test_simultaneous_statements_err_in_five_percent(key: tuple[str, str, str], slack: float) -> None:
    error, mc_error = record()[key]
    assert error == pytest.approx(0.05, abs=3 * mc_error + slack)


@pytest.mark.parametrize(
    "key",
    [
        ("optimist", "clopper_pearson", "bonferroni"),
        ("optimist", "clopper_pearson", "simultaneous"),
        ("optimist", "pooled_t", "bonferroni"),
        ("pessimist", "clopper_pearson", "none"),
        ("band", "clopper_pearson", "simultaneous"),
        ("band of margins", "pooled_normal", "bonferroni"),
        ("discoveries", "pooled_normal", "benjamini_hochberg"),
    ],
    ids="-".join,
)
def test_guarantees_hold(key: tuple[str, str, str]) -> None:
    error, mc_error = record()[key]
    assert error <= 0.05 + 3 * mc_error


@pytest.mark.parametrize("method", ["wald", "wilson", "jeffreys", "clopper_pearson", "pooled_t"])
def test_without_correction_the_optimist_mostly_accuses(method: str) -> None:
    assert record()["optimist", method, "none"][0] > 0.5


def test_corrected_wald_and_wilson_limits_still_err_too_often() -> None:
    """In subgroups of a few rows their far tails are wrong, which no correction for number mends."""
    for method in ("wald", "wilson"):
        error, mc_error = record()["optimist", method, "bonferroni"]
        assert error > 0.05 + 3 * mc_error


def test_correction_makes_the_pessimist_needlessly_shy() -> None:
    for method in ("wald", "wilson", "clopper_pearson"):
        assert record()["pessimist", method, "bonferroni"][0] < 0.02
    assert record()["pessimist", "wald", "none"][0] > record()["pessimist", "clopper_pearson", "none"][0]


@pytest.mark.record
def test_the_study_repeats_itself(tmp_path: Path) -> None:
    lines, again = resumed(lambda run: study(replications=100, seed=3, executor=run), tmp_path / "kept")
    assert lines == again
    assert {(line.statement, line.method, line.correction) for line in lines} == set(record())
    path = tmp_path / "record.csv"
    main(["--output", str(path), "--replications", "100", "--seed", "3"])
    assert path.read_text(encoding="utf-8") == as_csv(lines)


def test_too_few_replications() -> None:
    with pytest.raises(InputError, match="replications=99 must be 100 or more"):
        study(replications=99)


@pytest.mark.parametrize("kind", range(4))
@pytest.mark.record
def test_lines_of_the_record_can_be_made_again(kind: int) -> None:
    """Of rates, means and margins, in all replications; ranks, reports and discoveries take longer."""
    lines = family_wise._measure(family_wise.REPLICATIONS, family_wise.SEED, kind)
    assert_remade(RECORD, list(map(asdict, lines)), ["statement", "method", "correction"])
