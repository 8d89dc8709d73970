"""Word errors per speaker: sums over clips, who is left out, and the known numbers."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from bayesgroups.errors import InputError
from examples.published.data import load_common_voice

ROWS: dict[str, list[Any]] = {
    "clip": [0, 1, 2, 3, 4],
    "speaker": [7, 3, 7, 5, 6],
    "age": ["fourties", "teens", "fourties", "", "nineties"],
    "gender": ["male", "female", "male", "male", ""],
    "ref_words": [10, 5, 30, 3, 3],
    "errors_raw_tailclean": [1, 0, 7, 3, 3],
    "ref_words_norm": [9, 5, 31, 3, 3],
    "errors_norm": [40, 1, 0, 3, 3],
}


def _write(folder: Path, **changes: list[Any]) -> Path:
    path = folder / "clips.csv"
    pd.DataFrame(ROWS | changes).to_csv(path, index=False)
    return path


def test_clips_are_summed_by_speaker(tmp_path: Path) -> None:
    _write(tmp_path)
    speakers = load_common_voice(tmp_path)
    assert speakers["speaker"].tolist() == [3, 7]
    assert speakers["age"].tolist() == ["teens", "forties"]
    assert speakers["clips"].tolist() == [1, 2]
    assert speakers["wer"].tolist() == [0.0, 8 / 40]
    normalised = load_common_voice(tmp_path, texts="normalised")
    assert normalised["wer"].tolist() == [1 / 5, 1.0]


def test_what_is_wrong_is_named(tmp_path: Path) -> None:
    path = _write(tmp_path)
    with pytest.raises(InputError, match="texts='norm' is unknown; known: 'normalised', 'raw'"):
        load_common_voice(path, texts="norm")  # type: ignore[arg-type]
    _write(tmp_path, gender=["male", "female", "female", "male", ""])
    with pytest.raises(InputError, match="speaker 7 has more than one sex or age"):
        load_common_voice(path)
    _write(tmp_path, age=["old", "teens", "fourties", "", "nineties"])
    with pytest.raises(InputError, match="column 'age' has value 'old'; expected one of"):
        load_common_voice(path)
    _write(tmp_path, ref_words=[0, 5, 0, 3, 3])
    with pytest.raises(InputError, match="speaker 7 has no words of reference"):
        load_common_voice(path)
    _write(tmp_path, gender=[""] * 5)
    with pytest.raises(InputError, match="no clip has both gender and age"):
        load_common_voice(path)
    pd.DataFrame(ROWS).drop(columns=["errors_norm", "age"]).to_csv(path, index=False)
    with pytest.raises(InputError, match="has no columns 'age', 'errors_norm'"):
        load_common_voice(path, texts="normalised")


def test_the_known_numbers() -> None:
    root = Path(os.environ.get("BAYESGROUPS_DATA", Path(__file__).parents[3] / "shared" / "data"))
    folders = [folder for folder in (root / "asr_commonvoice", root) if (folder / "clips.csv.gz").is_file()]
    if not folders:
        pytest.skip(
            f"no speech data: {root / 'asr_commonvoice'} has no clips.csv.gz; set BAYESGROUPS_DATA to its folder"
        )
    speakers = load_common_voice(folders[0], texts="normalised")
    assert len(speakers) == 2_581
    assert int(speakers["clips"].sum()) == 4_945
    sizes = speakers.groupby(["sex", "age"]).size()
    assert sizes["male"]["twenties"] == 1_008
    assert sizes["female"]["seventies"] == 11
    assert int((sizes >= 40).sum()) == 9
    assert np.isclose(speakers["wer"].max(), 20.83, atol=0.01)
