"""The speech example runs from the file to the page, on made-up clips in the form of the public file."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import bayesgroups as bg
from examples import speech, speech_regression
from tests.public_data import public_data
from tests.recovery.remade import assert_same_page

PAGE = Path(__file__).parents[2] / "docs" / "examples" / "speech.md"


def made_up(speakers: int = 300) -> pd.DataFrame:
    rng = np.random.default_rng(1)
    people = pd.DataFrame(
        {
            "speaker": np.arange(speakers),
            "age": rng.choice(["", "teens", "twenties", "fourties", "fifties", "eighties"], speakers),
            "gender": rng.choice(["", "female", "male", "other"], speakers, p=[0.1, 0.4, 0.4, 0.1]),
            "rate": rng.uniform(0.05, 0.6, speakers),
        }
    )
    clips = people.loc[people.index.repeat(rng.integers(1, 5, speakers))].reset_index(drop=True)
    words = rng.integers(3, 20, len(clips))
    errors = rng.binomial(words, clips["rate"])
    return clips.assign(
        clip=clips.index, ref_words=words, ref_words_norm=words, errors_norm=errors, errors_raw_tailclean=errors
    )


@pytest.mark.parametrize("inside", [".", "asr_commonvoice"])
def test_the_file_is_found(inside: str, tmp_path: Path) -> None:
    path = tmp_path / inside / "clips.csv.gz"
    path.parent.mkdir(exist_ok=True)
    path.touch()
    assert speech.find_data(tmp_path).samefile(path)
    assert speech.find_data(path) == path


@pytest.mark.record
def test_from_the_file_to_the_page(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    clips = made_up()
    clips.to_csv(tmp_path / "clips.csv.gz", index=False)
    page = tmp_path / "speech.md"
    speech.main(["--data", str(tmp_path), "--output", str(page)])
    text = page.read_text(encoding="utf-8")
    assert f"out of {len(clips):,} clips of 300 speakers" in text
    assert "Their table of clips is not available" in text
    assert "| female / sixties and older |" in text
    assert (tmp_path / "speech_regression.svg").is_file()
    assert "nan" not in text.lower()
    assert str(tmp_path) not in text
    assert "female | forties" in capsys.readouterr().out
    heads = [line for line in text.splitlines() if line.startswith("#")]
    assert heads == [line for line in PAGE.read_text(encoding="utf-8").splitlines() if line.startswith("#")]


def test_speakers_tell_less_than_clips() -> None:
    clips = speech.clips_with_sex_and_age(made_up())
    plain, robust = (speech.tally_of(clips, analysis) for analysis in ("ignore", "robust"))
    effects = speech.design_effects(plain, robust)
    assert float(robust["icc"][0]) > 0.2
    assert float(effects["wer_pooled"].min()) >= 1
    assert float(effects["wer_pooled"].max()) > 1.3


def test_no_data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("BAYESGROUPS_DATA", raising=False)
    with pytest.raises(SystemExit):
        speech.main([])
    with pytest.raises(FileNotFoundError, match=r"no clips.csv or clips.csv.gz"):
        speech.main(["--data", str(tmp_path)])


@pytest.mark.record
def test_the_command_makes_the_page(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The whole page, from the public clips."""
    page = tmp_path / "speech.md"
    speech.main(["--data", str(public_data("asr_commonvoice")), "--seed", "1", "--output", str(page)])
    assert_same_page(page.read_text(encoding="utf-8"), PAGE.read_text(encoding="utf-8"))
    assert "written" in capsys.readouterr().out


def test_tests_of_rows_are_those_of_the_public_function() -> None:
    """Made-up clips: the table has the numbers of `bayesgroups.goodness_of_fit_rows`, and subgroup means have none of four."""
    clips = speech.clips_with_sex_and_age(made_up())
    tests = speech_regression.tests_of_rows(clips, "wer")
    by_hand = bg.goodness_of_fit_rows(clips, speech_regression.CHAIN, "wer", cluster="speaker")
    lines = tests[(tests["ages"] == "six") & (tests["unit"] == "clips of speakers")]
    assert lines["p"].to_list() == by_hand["robust_p_value"].values.tolist()
    two = tests[tests["ages"] == "two"]
    assert two["on means"].isna().to_list() == [False, True, True] * 3
    assert np.isfinite(two["p"]).all()
    assert speech_regression.test_table(tests).count("\n") == 1 + 6


def test_speakers_are_means_of_their_clips() -> None:
    clips = speech.clips_with_sex_and_age(made_up())
    people = speech_regression.speakers_of(clips)
    assert people["speaker"].is_unique
    first = clips[clips["speaker"] == people["speaker"][0]]
    assert people["wer"][0] == pytest.approx(first["wer"].mean())
