"""Word errors of transcripts: substitutions, deletions and insertions against a reference."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from bayesgroups.data.keywords import checked_keywords
from bayesgroups.errors import InputError, MissingDependencyError

if TYPE_CHECKING:
    import pandas as pd

NO_WORDS = "no word in the reference"


@checked_keywords
def word_errors(reference: Sequence[str] | pd.Series, hypothesis: Sequence[str] | pd.Series) -> pd.DataFrame:
    """Word errors of every transcript by the alignment of fewest edits.

    Words are what white space separates, compared as they stand: normalise case, punctuation and numbers before, for both sides
    alike. The number of errors is unique; where several alignments have it, their split into kinds is that of rapidfuzz.

    Parameters
    ----------
    reference, hypothesis : sequences of str, or Series
        What was said and what was recognised, one text per row; two Series must have the same index.

    Returns
    -------
    pd.DataFrame
        One row per text, with the index of a Series: ``substitutions``, ``deletions``, ``insertions``, ``errors`` (their sum),
        ``words`` of the reference, ``wer`` (errors / words, which can exceed 1; NaN without words) and ``reason``, why it is NaN.
        ``wer`` is a loss for `bayesgroups.tally`: ``metrics="mean", loss="wer"``, which weighs texts and not words.

    Raises
    ------
    InputError
        If the two differ in length or index, or a text is no string.
    MissingDependencyError
        If rapidfuzz is not installed.

    References
    ----------
    Levenshtein (1966), Binary codes capable of correcting deletions, insertions, and reversals.

    Examples
    --------
    >>> from bayesgroups import word_errors
    >>> table = word_errors(["turn the light on", "yes"], ["turn light on now", "yes"])
    >>> table[["substitutions", "deletions", "insertions", "wer"]].values.tolist()
    [[0.0, 1.0, 1.0, 0.5], [0.0, 0.0, 0.0, 0.0]]
    """
    import numpy as np
    import pandas as pd

    try:
        from rapidfuzz.distance import Levenshtein
    except ImportError as problem:
        raise MissingDependencyError(
            "word errors need rapidfuzz; install it: pip install 'bayesgroups[speech]'"
        ) from problem
    texts = {"reference": _texts(reference, "reference"), "hypothesis": _texts(hypothesis, "hypothesis")}
    if len(texts["reference"]) != len(texts["hypothesis"]):
        raise InputError(
            f"hypothesis has {len(texts['hypothesis'])} texts and reference {len(texts['reference'])}; give one for each row"
        )
    indexed = [each.index for each in (reference, hypothesis) if isinstance(each, pd.Series)]
    if len(indexed) == 2 and not indexed[0].equals(indexed[1]):
        raise InputError("reference and hypothesis are Series with different indices; put both in one frame first")
    rows = []
    for spoken, heard in zip(texts["reference"], texts["hypothesis"], strict=True):
        kinds = [edit.tag for edit in Levenshtein.editops(spoken, heard)]
        rows.append([*(kinds.count(kind) for kind in ("replace", "delete", "insert")), len(kinds), len(spoken)])
    names = ["substitutions", "deletions", "insertions", "errors", "words"]
    table = pd.DataFrame(
        np.array(rows, dtype=np.int64).reshape(-1, 5), columns=names, index=indexed[0] if indexed else None
    )
    table["wer"] = table["errors"] / table["words"].where(table["words"] > 0)
    table["reason"] = np.where(table["words"] == 0, NO_WORDS, "")
    return table


def _texts(texts: Sequence[str] | pd.Series, name: str) -> list[list[str]]:
    """Words of every text."""
    if isinstance(texts, str):
        raise InputError(f"{name} must be a sequence of texts, one per row; got one text, put it in a list")
    for row, text in enumerate(texts):
        if not isinstance(text, str):
            raise InputError(f"{name} must hold texts; row {row} has {text!r}; drop such rows, or give '' for silence")
    return [text.split() for text in texts]
