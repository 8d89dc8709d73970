"""The recorded simulation-based calibration of partial pooling, held to uniformity, and its command.

python -m bayesgroups.studies.calibration --output tests/recovery/records/sbc_partial_pooling.csv
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from bayesgroups.studies.calibration import SEED, calibrate_partial_pooling, summarise

RECORD = Path(__file__).parent / "records" / "sbc_partial_pooling.csv"
QUANTITIES = {"overall", "tau", "mu[0]", "mu[1]", "mu[4]", "mu[9]"}


@pytest.fixture(scope="module")
def record() -> pd.DataFrame:
    return pd.read_csv(RECORD)


def test_record_is_complete(record: pd.DataFrame) -> None:
    assert set(record["likelihood"]) == {"binomial", "normal"}
    assert set(record["quantity"]) == QUANTITIES
    assert (record["replications"] >= 500).all()
    assert (record["seed"] == SEED).all()


def test_ranks_are_uniform(record: pd.DataFrame) -> None:
    # Twelve quantities, two tests each: the smallest p-value of a sound engine is below .001 once in forty records.
    assert record["chi_square_p"].min() > 0.001
    assert record["ks_p"].min() > 0.001
    error = np.sqrt(1 / 12 / record["replications"])
    assert (np.abs(record["mean"] - 0.5) / error).max() < 3.5
    assert np.abs(record["sd"] * np.sqrt(12) - 1).max() < 0.05


def test_the_command_gives_the_same_numbers_again() -> None:
    first, second = (calibrate_partial_pooling(4, SEED) for _ in range(2))
    pd.testing.assert_frame_equal(first, second, check_exact=True)
    more = calibrate_partial_pooling(5, SEED)
    pd.testing.assert_frame_equal(more[more["replication"] < 4].reset_index(drop=True), first, check_exact=True)


def test_a_wrong_engine_would_be_found() -> None:
    pits = calibrate_partial_pooling(60, SEED + 1)
    squeezed = pits.assign(pit=0.5 + 0.4 * (pits["pit"] - 0.5))  # a posterior that is much too wide
    assert summarise(squeezed)["chi_square_p"].max() < 0.01
