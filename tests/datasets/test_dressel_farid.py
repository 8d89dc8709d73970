"""Judgements of recidivism: the levels, the disagreement, and the known numbers."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from bayesgroups.errors import InputError
from examples.published.data import load_dressel_farid

FILES = {
    "responses_long.csv": {
        "condition": ["no_race", "no_race", "race", "no_race"],
        "participant": ["N1", "N1", "R1", "N2"],
        "id": ["7", "8", "7", "7"],
        "prediction": ["1", "0", "0", "1"],
    },
    "defendants_1000.csv": {
        "id": ["8", "7"],
        "race": ["2", "1"],
        "sex": ["0", "1"],
        "age": ["30", "41"],
        "compas_decile_score": ["5", "4"],
        "two_year_recid": ["1", "0"],
    },
    "participants.csv": {"participant": ["N1", "N2", "R1"], "gender": ["0", "1", "2"]},
}


def _write(folder: Path, file: str = "participants.csv", **changes: list[str]) -> Path:
    for name, columns in FILES.items():
        pd.DataFrame(columns | (changes if name == file else {})).to_csv(folder / name, index=False)
    return folder


def test_judgements_are_joined_and_recoded(tmp_path: Path) -> None:
    found = load_dressel_farid(_write(tmp_path))
    assert found["participant"].tolist() == ["N1", "N1", "N2"]
    assert found["participant_gender"].tolist() == ["0", "0", "1"]
    assert found["defendant"].tolist() == ["7", "8", "7"]
    assert found["race"].tolist() == ["White", "Black", "White"]
    assert found["sex"].tolist() == ["female", "male", "female"]
    assert found["age"].tolist() == [41, 30, 41]
    assert found["risk"].tolist() == ["low", "high", "low"]
    assert found["judged"].tolist() == ["high", "low", "high"]
    assert found["disagrees"].tolist() == [1, 1, 1]
    assert found["reoffended"].tolist() == [0, 1, 0]
    assert load_dressel_farid(tmp_path, condition="race")["disagrees"].tolist() == [0]


def test_what_is_wrong_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="condition='raze' is unknown; did you mean 'race'"):
        load_dressel_farid(tmp_path, condition="raze")  # type: ignore[arg-type]
    folder = _write(tmp_path, "defendants_1000.csv", race=["2", "9"])
    with pytest.raises(InputError, match="column 'race' has value '9'; expected one of"):
        load_dressel_farid(folder)
    folder = _write(tmp_path, "responses_long.csv", id=["7", "99", "7", "7"])
    with pytest.raises(InputError, match="responses_long.csv: id '99' is not listed in defendants_1000.csv"):
        load_dressel_farid(folder)
    folder = _write(tmp_path, "responses_long.csv", condition=["race"] * 4)
    with pytest.raises(InputError, match="has no row of condition 'no_race'"):
        load_dressel_farid(folder)


def test_the_known_numbers() -> None:
    root = Path(os.environ.get("BAYESGROUPS_DATA", Path(__file__).parents[3] / "shared" / "data"))
    folders = [folder for folder in (root / "dressel_farid", root) if (folder / "participants.csv").is_file()]
    if not folders:
        pytest.skip(f"no data: {root / 'dressel_farid'} has no participants.csv; set BAYESGROUPS_DATA to its folder")
    for condition, mean, compas in (("no_race", 0.621, 0.652), ("race", 0.623, 0.652)):
        found = load_dressel_farid(folders[0], condition=condition)  # type: ignore[arg-type]
        assert len(found) == 20_000
        assert (found.groupby("participant").size() == 50).all()
        assert (found.groupby("defendant").size() == 20).all()
        said, so = (found["judged"] == "high").to_numpy(), (found["reoffended"] == 1).to_numpy()
        assert round(float(np.mean(said == so)), 3) == mean
        assert round(float(np.mean((found["risk"] == "high").to_numpy() == so)), 3) == compas
        sizes = found.groupby("race")["defendant"].nunique()
        assert (int(sizes["Black"]), int(sizes["White"])) == (530, 377)
