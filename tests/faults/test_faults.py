"""A few faults of every kind, and the record of many."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest

ROOT = Path(__file__).parents[2]
RECORD = Path(__file__).parent / "faults.csv"
HARM = ["torn", "lost", "left_behind", "raw_errors", "hangs"]


def test_the_record_has_five_hundred_kills_and_no_harm() -> None:
    record = pd.read_csv(RECORD)
    assert record.loc[record["fault"] == "killed", "cases"].sum() >= 500
    assert record.loc[record["fault"] == "interrupted", "cases"].sum() >= 100
    assert set(record["fault"]) >= {
        "killed", "interrupted", "disk full", "folder refuses", "memory limited", "three writers at once", "declared dimensions",
        "zip bomb",
    }  # fmt: skip
    assert not record[HARM].to_numpy().any()
    both = record[record["fault"].isin(["killed", "disk full"]) & (record["action"] != "study")]
    assert (both[["old", "new"]] > 0).all().all(), "faults came before and after the file was replaced"


@pytest.mark.slow
def test_faults_do_no_harm() -> None:
    command = [sys.executable, "-m", "tests.faults", "--kills", "12", "--seed", "2"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
