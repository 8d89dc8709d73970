"""Adult with the predictions of a language model: the levels, the errors, and the known numbers."""

from __future__ import annotations

import os
from pathlib import Path

import pandas as pd
import pytest

from bayesgroups.errors import InputError
from examples.published.data import load_adult

ROWS = {
    "id": ["1", "2", "3", "4"],
    "age": ["24", "25", "64", "65"],
    "race": [" White", " Black", "Other", " White"],
    "sex": [" Female", " Male", " Male", " Female"],
    "label": ["greater than 50K", "less than or equal to 50K", "greater than 50K", "less than or equal to 50K"],
    "pred": ["greater than 50K", "greater than 50K", " less than or equal to 50K", "less than or equal to 50K"],
}


def _write(folder: Path, **changes: list[str]) -> Path:
    path = folder / "adult_llama.csv"
    pd.DataFrame(ROWS | changes).to_csv(path, index=False)
    return path


def test_people_are_recoded(tmp_path: Path) -> None:
    _write(tmp_path)
    people = load_adult(tmp_path)
    assert people["race"].tolist() == ["White", "Black", "Other", "White"]
    assert people["age_band"].tolist() == ["under 25", "25-64", "25-64", "65 and over"]
    assert people["income"].tolist() == [1, 0, 1, 0]
    assert people["predicted"].tolist() == [1, 1, 0, 0]
    assert people["error"].tolist() == [0, 1, 1, 0]


def test_what_is_wrong_is_named(tmp_path: Path) -> None:
    path = _write(tmp_path, pred=["greater than 50K", "unsure", "greater than 50K", "greater than 50K"])
    with pytest.raises(InputError, match="column 'pred' has value 'unsure'; expected one of"):
        load_adult(path)
    path = _write(tmp_path, race=["White", " ", "White", "White"])
    with pytest.raises(InputError, match="column 'race' is empty in row 1"):
        load_adult(path)
    path.write_text("age,race,sex\n1,a,b\n")
    with pytest.raises(InputError, match="has no columns 'label', 'pred'"):
        load_adult(path)


def test_the_known_numbers() -> None:
    root = Path(os.environ.get("BAYESGROUPS_DATA", Path(__file__).parents[3] / "shared" / "data"))
    folders = [folder for folder in (root / "adult", root) if (folder / "adult_llama.csv.gz").is_file()]
    if not folders:
        pytest.skip(f"no Adult data: {root / 'adult'} has no adult_llama.csv.gz; set BAYESGROUPS_DATA to its folder")
    people = load_adult(folders[0])
    assert len(people) == 48_842
    assert int(people["income"].to_numpy().sum()) == 11_687
    assert round(1 - float(people["error"].to_numpy().mean()), 4) == 0.8291
    by_group = people.groupby(["race", "sex"])["error"].mean()
    assert round(1 - float(by_group["Asian-Pac-Islander", "Male"]), 4) == 0.7715
    sizes = people.groupby(["race", "sex", "age_band"]).size()
    assert len(sizes) == 30
    assert int((sizes >= 40).sum()) == 23
