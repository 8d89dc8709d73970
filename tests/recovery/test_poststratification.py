"""Records of target populations: calibration of the draws, coverage of the frequentist intervals, and parts made again."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import xarray as xr

from bayesgroups.studies.uniformity import uniformity
from tests.recovery.studies import poststratification_calibration as calibration
from tests.recovery.studies import poststratification_coverage as coverage

RECORDS = Path(__file__).parent / "records"
RANKS = RECORDS / "sbc_poststratification.csv"
COVERAGE = RECORDS / "poststratification_coverage.csv"


@pytest.fixture(scope="module")
def record() -> pd.DataFrame:
    return pd.read_csv(COVERAGE)


def test_draws_of_targets_are_calibrated() -> None:
    ranks = calibration.read(RANKS)
    table = xr.DataArray(np.stack(list(ranks.values())), dims=("quantity", "replication"))
    assert table.sizes == {"quantity": len(calibration.QUANTITIES), "replication": calibration.REPLICATIONS}
    tests = uniformity(table, draws=calibration.DRAWS)
    # At least 1 % in all.
    assert (tests["ks_p"] > 0.01 / len(calibration.QUANTITIES)).all()
    assert (tests["chi2_p"] > 0.01 / len(calibration.QUANTITIES)).all()
    error = np.sqrt(4 / 5 / calibration.REPLICATIONS)  # of 12 times a mean squared distance, of a uniform variable
    assert (abs(tests["variance_pit"] - 1) < 4 * error).all()


def test_first_tables_of_the_calibration_are_made_again() -> None:
    ranks = calibration.read(RANKS)
    for number in range(3):
        assert calibration.replication(number) == {name: int(ranks[name][number]) for name in calibration.QUANTITIES}


def test_the_record_of_coverage_is_whole(record: pd.DataFrame) -> None:
    assert len(record) == len(coverage.FORMS) * len(coverage.RATES) * len(coverage.SHAPES)
    assert (record["answered"] > 0.97).all()


def test_intervals_of_ordinary_rates_cover(record: pd.DataFrame) -> None:
    """Intervals of 95 % reach 93 % but for chance: bounds, and rates about one half, but for the survey variance of few rows."""
    exact = (record["form"] == "survey") & (record["rows"] == "few") | (record["form"] == "means")
    promised = record[(record["form"] == "bounds") | (record["rates"] == "middle") & ~exact]
    assert len(promised) == 27
    assert (promised["coverage"] + 2 * promised["mc_error"] >= 0.93).all()
    assert promised["coverage"].mean() >= 0.93


def test_score_and_exact_limits_cover_rare_rates_too(record: pd.DataFrame) -> None:
    """Score limits reach 93 % in every design but for chance, and are shorter at rare rates; exact limits are longer."""
    known, score, exact = (record[record["form"] == form] for form in ("known", "score", "exact"))
    for part in (score, exact):
        assert (part["coverage"] + 2 * part["mc_error"] >= 0.93).all()
        assert (part.loc[part["rates"] == "rare", "coverage"] >= 0.93).all()
    rare = [part.loc[part["rates"] == "rare", "width"].to_numpy() for part in (score, known)]
    assert (rare[0] < rare[1]).all()
    assert (exact["width"].to_numpy() > known["width"].to_numpy()).all()


def test_mid_p_limits_cover_in_every_form(record: pd.DataFrame) -> None:
    """93 % but for chance, also of rare rates of few rows, of raked margins and of second samples."""
    mid_p = record[record["form"].isin(list(coverage.MID_P))]
    assert len(mid_p) == 20
    assert (mid_p["coverage"] + mid_p["mc_error"] >= 0.93).all()
    assert mid_p["coverage"].mean() >= 0.94
    known = record[record["form"] == "known"]
    assert (mid_p.loc[mid_p["form"] == "mid-p", "width"].to_numpy() < 1.11 * known["width"].to_numpy()).all()


def test_intervals_of_rare_rates_and_skewed_losses_fall_short(record: pd.DataFrame) -> None:
    """The lower limit of a rare rate is too high, as is the upper limit of skewed losses too low; many rows repair both."""
    rest = record[
        ~record["form"].isin(["bounds", "score", "exact", *coverage.MID_P])
        & ((record["rates"] == "rare") | record["form"].isin(["means", "survey"]))
    ]
    few, many = (rest[rest["rows"] == rows] for rows in ("few", "many"))
    assert (few["coverage"] >= 0.87).all()
    assert (many["coverage"] >= 0.91).all()
    assert few["coverage"].mean() < many["coverage"].mean()


def test_limits_of_a_design_stay_within_the_range(record: pd.DataFrame) -> None:
    kept = record.query("form == 'known' and rates == 'middle' and rows == 'few'").iloc[0]
    limits = [
        coverage.limits(
            "known", coverage.RATES["middle"], coverage.SHAPES["few"],
            np.random.default_rng([coverage.SEED, 0, 1, 0, number]),
        )
        for number in range(5)
    ]  # fmt: skip
    assert all(low < high and 0 <= low and high <= 1 for low, high, _ in limits)
    assert 0.93 - 2 * kept["mc_error"] <= kept["coverage"] <= 1


@pytest.mark.record
def test_known_sizes_cover_as_recorded(record: pd.DataFrame) -> None:
    kept = record.query("form == 'known' and rates == 'middle' and rows == 'few'").iloc[0]
    remade = coverage.line("known", "middle", "few")
    assert round(remade.coverage, 6) == kept["coverage"]
    assert round(remade.width, 6) == pytest.approx(kept["width"], abs=1.5e-6)


@pytest.mark.record
def test_studies_write_their_records(tmp_path: Path) -> None:
    calibration.main(["--output", str(tmp_path / "ranks.csv"), "--replications", "1"])
    assert {name: len(ranks) for name, ranks in calibration.read(tmp_path / "ranks.csv").items()} == dict.fromkeys(
        calibration.QUANTITIES, 1
    )
    coverage.main(["--output", str(tmp_path / "coverage.csv"), "--replications", "2"])
    assert len(coverage.read(tmp_path / "coverage.csv")) == 4 * len(coverage.FORMS)
