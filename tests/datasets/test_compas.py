"""COMPAS: the levels, what is wrong with a file, and the known numbers."""

from __future__ import annotations

import os
from pathlib import Path

import pandas as pd
import pytest

from bayesgroups.errors import InputError
from examples.published.data import load_compas

ROWS = {
    "race": ["Other", "Caucasian", "Hispanic"],
    "sex": ["Male", "Female", "Male"],
    "age": ["69", "30", "20"],
    "age_cat": ["Greater than 45", "25 - 45", "Less than 25"],
    "c_charge_degree": ["F", "M", "F"],
    "decile_score": ["1", "5", "10"],
    "two_year_recid": ["0", "0", "1"],
    "priors_count": ["0", "3", "2"],
    "juv_fel_count": ["0", "0", "1"],
    "juv_misd_count": ["0", "0", "1"],
    "juv_other_count": ["0", "0", "1"],
}


def _write(folder: Path, **changes: list[str]) -> Path:
    path = folder / "compas-scores-two-years_deid.csv"
    pd.DataFrame(ROWS | changes).to_csv(path, index=False)
    return path


def test_defendants_are_recoded(tmp_path: Path) -> None:
    _write(tmp_path)
    people = load_compas(tmp_path)
    assert people["age_band"].tolist() == ["over 45", "25-45", "under 25"]
    assert people["predicted"].tolist() == [0, 1, 1]
    assert people["recidivism"].tolist() == [0, 0, 1]
    assert people["error"].tolist() == [0, 1, 0]
    assert people["priors_count"].tolist() == [0, 3, 2]


@pytest.mark.parametrize(
    ("column", "value", "message"),
    [
        ("age_cat", "old", "column 'age_cat' has value 'old'; expected one of"),
        ("decile_score", "11", "column 'decile_score' has value 11; expected 1 to 10"),
        ("two_year_recid", "2", "column 'two_year_recid' has value 2; expected 0 to 1"),
        ("sex", "", "column 'sex' is empty in row 1; expected a name"),
        ("age", "-1", "column 'age' has value '-1'; expected a whole number"),
    ],
)
def test_what_is_wrong_is_named(column: str, value: str, message: str, tmp_path: Path) -> None:
    changed = [ROWS[column][0], value, ROWS[column][2]]
    with pytest.raises(InputError, match=message):
        load_compas(_write(tmp_path, **{column: changed}))


def test_the_known_numbers() -> None:
    root = Path(os.environ.get("BAYESGROUPS_DATA", Path(__file__).parents[3] / "shared" / "data"))
    name = "compas-scores-two-years_deid.csv.gz"
    folders = [folder for folder in (root / "compas", root) if (folder / name).is_file()]
    if not folders:
        pytest.skip(f"no COMPAS data: {root / 'compas'} has no {name}; set BAYESGROUPS_DATA to its folder")
    people = load_compas(folders[0])
    assert len(people) == 7214
    assert round(100 * (1 - float(people["error"].to_numpy().mean())), 1) == 65.4
    published = {"African-American": (44.85, 27.99), "Caucasian": (23.45, 47.72)}
    for race, (false_positives, false_negatives) in published.items():
        group = people.loc[people["race"] == race]
        wrong = group.groupby("recidivism")["error"].mean()
        assert round(100 * float(wrong[0]), 2) == false_positives
        assert round(100 * float(wrong[1]), 2) == false_negatives
