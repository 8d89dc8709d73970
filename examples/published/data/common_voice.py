"""Common Voice: word errors of a speech recogniser, per speaker."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Literal, get_args

from bayesgroups.errors import InputError, near_misses
from examples.published.data.local_files import read_columns, whole_numbers

if TYPE_CHECKING:
    import pandas as pd

FILE = "clips.csv"
AGES = ("teens", "twenties", "thirties", "forties", "fifties", "sixties", "seventies", "eighties", "nineties")
"""Levels of ``age``, in order."""
SEXES = ("female", "male", "other")
_AGES = {name: name for name in AGES} | {"fourties": "forties"}

Texts = Literal["raw", "normalised"]
_COLUMNS = {"raw": ("errors_raw_tailclean", "ref_words"), "normalised": ("errors_norm", "ref_words_norm")}


def load_common_voice(path: str | Path, *, texts: Texts = "raw") -> pd.DataFrame:
    """Load the word error rates of the 2,581 speakers who gave sex and age.

    Parameters
    ----------
    path : str or Path
        ``clips.csv`` (or ``.csv.gz``), or the folder that holds it.
    texts : {"raw", "normalised"}
        What errors are counted on: ``raw`` texts less the repeated tail of what was recognised, or ``normalised``
        ones (case and punctuation removed) with the repetitions kept, whose rates reach 21.

    Returns
    -------
    pandas DataFrame
        One row per speaker, ordered by speaker: ``speaker``, ``sex`` (female, male, other), ``age`` (teens to
        nineties), ``clips``, ``words`` and ``errors`` summed over the speaker's clips, and ``wer``, errors per word
        of reference (can exceed 1).

    Raises
    ------
    InputError
        If there is no such file, it is not CSV, lacks columns, holds an unknown value, a speaker has two sexes or
        ages, or nobody gave both.

    Notes
    -----
    A row is a speaker because the clips of a speaker are not independent: the mean of ``wer`` over speakers counts
    everyone once. Five clips in six come from people who did not give sex and age and are left out; they need not
    be like the others.

    References
    ----------
    Khodak, Mackey, Chouldechova, Dudik (2024), SureMap, https://doi.org/10.48550/arXiv.2411.09730 (Whisper tiny on
    the English test and validation clips); Ardila et al. (2020), Common Voice,
    https://doi.org/10.48550/arXiv.1912.06670.

    Examples
    --------
    >>> from examples.published.data import load_common_voice
    >>> speakers = load_common_voice("data/asr_commonvoice", texts="normalised")  # doctest: +SKIP
    """
    import pandas as pd

    if texts not in get_args(Texts):
        raise InputError(f"texts={texts!r} is unknown; {near_misses(str(texts), get_args(Texts))}")
    errors, words = _COLUMNS[texts]
    raw = read_columns(path, FILE, ["speaker", "gender", "age", errors, words])
    has_both = (raw["gender"] != "") & (raw["age"] != "")
    raw = raw.loc[has_both.to_numpy()]
    if len(raw) == 0:
        raise InputError("no clip has both gender and age; nobody is left")
    clips = pd.DataFrame(
        {
            "speaker": whole_numbers(raw, "speaker"),
            "sex": _levels(raw, "gender", {name: name for name in SEXES}),
            "age": _levels(raw, "age", _AGES),
            "words": whole_numbers(raw, words),
            "errors": whole_numbers(raw, errors),
        }
    )
    by_speaker = clips.groupby("speaker", sort=True)
    people: list[int] = clips.drop_duplicates(["speaker", "sex", "age"])["speaker"].tolist()
    speaker, times = Counter(people).most_common(1)[0]
    if times > 1:
        raise InputError(f"speaker {speaker} has more than one sex or age; expected one of each")
    speakers = by_speaker.agg(
        sex=("sex", "first"),
        age=("age", "first"),
        clips=("sex", "size"),
        words=("words", "sum"),
        errors=("errors", "sum"),
    ).reset_index()
    silent = speakers["words"].to_numpy() == 0
    if silent.any():
        speaker = speakers["speaker"].to_numpy()[int(silent.argmax())]
        raise InputError(f"speaker {speaker} has no words of reference, so no error rate; drop the clips")
    return speakers.assign(wer=speakers["errors"] / speakers["words"])


def _levels(raw: pd.DataFrame, column: str, levels: dict[str, str]) -> list[str]:
    values: list[str] = raw[column].tolist()
    strange = next((value for value in values if value not in levels), None)
    if strange is not None:
        raise InputError(f"column {column!r} has value {strange!r}; expected one of {sorted(levels)}")
    return [levels[value] for value in values]
