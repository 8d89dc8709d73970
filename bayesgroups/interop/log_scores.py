"""The score of logs: one of those that a log has, and what becomes of answers without it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Literal

from bayesgroups.errors import InputError, near_misses

if TYPE_CHECKING:
    import pandas as pd

Unscored = Literal["error", "drop", "wrong"]
"""What becomes of answers without a score: an error, no rows, or the grade 0."""
PREFIX = "score_"


def chosen_score(source: Path, scores: list[str], score: str | None) -> str:
    """Column of the score that is asked for, or of the only one; an error lists them."""
    names = [name.removeprefix(PREFIX) for name in scores]
    if not names:
        raise InputError(f"file {str(source)!r} has no score in any sample; score it first, as inspect score")
    if score is None and len(names) > 1:
        raise InputError(
            f"file {str(source)!r} has the scores {', '.join(map(repr, names))}; choose one, as score={names[0]!r}"
        )
    if score is not None and score.removeprefix(PREFIX) not in names:
        raise InputError(f"file {str(source)!r} has no score {score!r}; {near_misses(score, names)}")
    return scores[0] if score is None else scores[names.index(score.removeprefix(PREFIX))]


def settled(rows: pd.DataFrame, unscored: Unscored) -> pd.DataFrame:
    """Rows with a number for every score, as ``unscored`` says."""
    import pandas as pd

    without = pd.Series(rows["score"]).isna()
    if not bool(without.any()):
        return rows
    if unscored == "drop":
        return rows.loc[~without].reset_index(drop=True)
    if unscored == "wrong":
        wild = rows.loc[~without & ~rows["score"].between(0.0, 1.0), "score"]
        if len(wild):
            raise InputError(
                f"unscored='wrong' gives the grade 0, which is the worst of scores between 0 and 1 only; got {wild.iloc[0]:g}; "
                "leave the answers out with unscored='drop'"
            )
        return rows.assign(score=rows["score"].fillna(0.0))
    raise InputError(_refusal(rows, without))


def _refusal(rows: pd.DataFrame, without: pd.Series) -> str:
    """Numbers of answers without a score by system, the first of them, and both ways on."""
    counts = rows.assign(without=without).groupby("system", sort=False)["without"].agg(["sum", "size"])
    parts = [
        f"{int(counts.loc[name, 'sum'])} of {int(counts.loc[name, 'size'])} answers of {name!r}"
        for name in counts.index
        if counts.loc[name, "sum"]
    ]
    failed = int((rows.loc[without, "error"] != "").sum())
    first = rows.loc[without].iloc[0]
    why = f" ({first['error']})" if first["error"] else ""
    return (
        f"{'; '.join(parts)} have no score, {failed} of them because of an error; the first is item {first['item']!r}{why}. "
        "Count them as wrong with unscored='wrong', or leave them out with unscored='drop'"
    )
