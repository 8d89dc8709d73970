"""The record of coverage of curves, at the level .90, held to thresholds; and how it is made.

python -m tests.recovery.studies.curve_coverage --output tests/recovery/records/curve_coverage.csv
"""

from __future__ import annotations

from dataclasses import asdict
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import xarray as xr

from bayesgroups.errors import InputError
from bayesgroups.questions.curves import calibration_curve
from examples.records import as_csv
from tests.recovery.remade import assert_remade
from tests.recovery.studies import curve_coverage
from tests.recovery.studies.curve_coverage import RATES, THRESHOLDS, draw, study
from tests.studies.resumed import resumed

RECORD = Path(__file__).parent / "records" / "curve_coverage.csv"
CURVES = ("tpr", "fpr", "ppv", "roc", "calibration", "isotonic")


@cache
def record() -> pd.DataFrame:
    return pd.read_csv(RECORD).set_index(["curve", "approach", "size_class"]).sort_index()


def line(curve: str, approach: str, size_class: str = "all") -> pd.Series:
    found: pd.Series = record().loc[curve, approach, size_class]
    return found


def test_the_record_is_whole() -> None:
    assert {key[0] for key in record().index} == set(CURVES)
    everything = record().loc[pd.IndexSlice[:, :, "all"], :]
    assert everything["pointwise_error"].max() < 0.015
    assert everything["simultaneous_error"].max() < 0.025


@pytest.mark.parametrize("curve", CURVES)
@pytest.mark.parametrize("approach", ["bayesian", "frequentist"])
def test_limits_and_bands_cover(curve: str, approach: str) -> None:
    found = line(curve, approach)
    assert found["pointwise"] > 0.88
    assert found["simultaneous"] > 0.87
    assert found["band_width"] > found["width"]
    for size_class in ("small", "large"):
        assert line(curve, approach, size_class)["simultaneous"] > 0.84


@pytest.mark.parametrize("curve", CURVES)
def test_pooling_gains_most_where_rows_are_few(curve: str) -> None:
    pooled, alone = line(curve, "bayesian", "small"), line(curve, "frequentist", "small")
    assert pooled["error"] < 0.8 * alone["error"]
    assert pooled["width"] < 0.9 * alone["width"]


def test_the_truth_is_what_rows_say() -> None:
    truth, _ = draw(np.random.default_rng(1))
    random = np.random.default_rng(2)
    size, g = 400_000, 3
    y = random.random(size) < truth.prevalence[g]
    logit = truth.mean[g] + y * truth.gap[g] + random.standard_normal(size)
    score = 1 / (1 + np.exp(-logit))
    cut = THRESHOLDS[8]
    assert truth.curve("tpr")[8, g] == pytest.approx((score[y] >= cut).mean(), abs=0.005)
    assert truth.curve("ppv")[8, g] == pytest.approx(y[score >= cut].mean(), abs=0.005)
    there = np.quantile(score[~y], 1 - RATES[4])
    assert truth.curve("roc")[4, g] == pytest.approx((score[y] >= there).mean(), abs=0.005)
    inside = (score > 0.3) & (score <= 0.4)
    assert truth.curve("calibration")[3, g] == pytest.approx(y[inside].mean(), abs=0.01)


@pytest.mark.record
def test_lines_of_the_record_can_be_made_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """The calibration curve, both sides, in all replications; a quantile of draws may take another one where rounding differs."""

    def calibration(source: xr.Dataset, seed: int) -> dict[str, xr.Dataset]:
        level, draws = curve_coverage.LEVEL, curve_coverage.DRAWS
        return {"calibration": calibration_curve(source, bins=curve_coverage.BINS, level=level, draws=draws, seed=seed)}

    monkeypatch.setattr(curve_coverage, "answers", calibration)
    lines = [asdict(line) for line in study()]
    assert len(lines) == 6
    assert_remade(RECORD, lines, ["curve", "approach", "size_class"], tolerance=1e-4)


@pytest.mark.record
def test_a_study_goes_on_from_its_checkpoints(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(curve_coverage, "DRAWS", 100)
    found, again = resumed(lambda run: study(2, 1, executor=run), tmp_path)
    assert as_csv(found) == as_csv(again)
    assert {(line.curve, line.approach, line.size_class) for line in found} == set(record().index)


def test_one_replication_has_no_error() -> None:
    with pytest.raises(InputError, match="replications=1 must be 2 or more, to have a Monte Carlo error"):
        study(1)
