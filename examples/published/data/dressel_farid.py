"""Recidivism judged by people: 800 people each judged 50 of 1,000 defendants, beside the COMPAS score of each defendant."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Literal, get_args

import numpy as np

from bayesgroups.errors import InputError, near_misses
from examples.published.data.local_files import read_columns, whole_numbers

if TYPE_CHECKING:
    import pandas as pd

RESPONSES, DEFENDANTS, PARTICIPANTS = "responses_long.csv", "defendants_1000.csv", "participants.csv"
RACES = ("White", "Black", "Hispanic", "Asian", "Native American", "Other")
"""Levels of ``race``, in the order of their codes 1 to 6."""
SEXES = ("male", "female")
"""Levels of ``sex``, codes 0 and 1."""
RISKS = ("low", "high")
"""Levels of ``risk`` and ``judged``."""
HIGH = 5
"""COMPAS deciles from here on are high risk."""

Condition = Literal["no_race", "race"]


def load_dressel_farid(path: str | Path, *, condition: Condition = "no_race") -> pd.DataFrame:
    """Load the 20,000 judgements of one condition, with what the score said of the same defendant.

    Parameters
    ----------
    path : str or Path
        The folder that holds ``responses_long.csv``, ``defendants_1000.csv`` and ``participants.csv`` (or ``.csv.gz``).
    condition : {"no_race", "race"}
        Whether the description that participants read named the defendant's race. The 400 participants of one condition
        are not those of the other.

    Returns
    -------
    pandas DataFrame
        One row per judgement, in the order of the file: ``participant``, ``participant_gender`` (a code of the source,
        whose meaning it does not state), ``defendant``, ``race`` (6 levels), ``sex``, ``age`` (years), ``risk`` (what COMPAS
        said: high from decile 5), ``judged`` (what the participant said: high if the defendant will reoffend),
        ``disagrees`` (1 where the two differ) and ``reoffended`` (1 if arrested again within two years).

    Raises
    ------
    InputError
        If a file is absent or not CSV, lacks columns or holds an unknown value, or a judgement is of a defendant or by a
        participant that is not listed.

    Notes
    -----
    Participants judged one of 20 sets of 50 defendants, so that each defendant was judged by 20 people: judgements are
    crossed by participant and defendant and not independent. COMPAS was not shown to them; that they disagree with it is
    computed, not asked.

    References
    ----------
    Dressel, Farid (2018), "The accuracy, fairness, and limits of predicting recidivism", Science Advances 4, eaao5580,
    https://doi.org/10.1126/sciadv.aao5580.

    Examples
    --------
    >>> from examples.published.data import load_dressel_farid
    >>> judgements = load_dressel_farid("data/dressel_farid", condition="race")  # doctest: +SKIP
    """
    import pandas as pd

    if condition not in get_args(Condition):
        raise InputError(f"condition={condition!r} is unknown; {near_misses(str(condition), get_args(Condition))}")
    raw = read_columns(path, RESPONSES, ["condition", "participant", "id", "prediction"])
    raw = raw.loc[(raw["condition"] == condition).to_numpy()]
    if len(raw) == 0:
        raise InputError(f"{RESPONSES} has no row of condition {condition!r}")
    people = read_columns(path, DEFENDANTS, ["id", "race", "sex", "age", "compas_decile_score", "two_year_recid"])
    defendants = pd.DataFrame(
        {
            "race": _levels(people, "race", RACES, first=1),
            "sex": _levels(people, "sex", SEXES),
            "age": whole_numbers(people, "age"),
            "risk": [RISKS[int(decile >= HIGH)] for decile in whole_numbers(people, "compas_decile_score")],
            "reoffended": [int(level) for level in _levels(people, "two_year_recid", ("0", "1"))],
        },
        index=people["id"].tolist(),
    )
    judges = read_columns(path, PARTICIPANTS, ["participant", "gender"])
    gender = dict(zip(judges["participant"].tolist(), judges["gender"].tolist(), strict=True))
    _refuse_strangers(raw, "id", defendants.index.tolist(), DEFENDANTS)
    _refuse_strangers(raw, "participant", list(gender), PARTICIPANTS)
    seen = defendants.loc[raw["id"].tolist()].reset_index(drop=True)
    judged = _levels(raw, "prediction", RISKS)
    judgements = pd.DataFrame(
        {
            "participant": raw["participant"].tolist(),
            "participant_gender": [gender[name] for name in raw["participant"].tolist()],
            "defendant": raw["id"].tolist(),
            **{name: seen[name] for name in ("race", "sex", "age", "risk")},
            "judged": judged,
        }
    )
    disagrees = np.array(judged) != seen["risk"].to_numpy()
    return judgements.assign(disagrees=disagrees.astype(np.int64), reoffended=seen["reoffended"])


def _levels(raw: pd.DataFrame, column: str, levels: tuple[str, ...], *, first: int = 0) -> list[str]:
    """Levels for codes that count from ``first``."""
    names = {str(code): name for code, name in enumerate(levels, first)}
    values: list[str] = raw[column].tolist()
    strange = next((value for value in values if value not in names), None)
    if strange is not None:
        raise InputError(f"column {column!r} has value {strange!r}; expected one of {list(names)}")
    return [names[value] for value in values]


def _refuse_strangers(raw: pd.DataFrame, column: str, listed: list[str], file: str) -> None:
    allowed = set(listed)
    strange = next((value for value in raw[column].tolist() if value not in allowed), None)
    if strange is not None:
        raise InputError(f"{RESPONSES}: {column} {strange!r} is not listed in {file}")
