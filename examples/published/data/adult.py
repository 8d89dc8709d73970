"""Adult: predictions of a large language model about the income of 48,842 people of the census of 1994."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from bayesgroups.errors import InputError
from examples.published.data.local_files import read_columns, whole_numbers

if TYPE_CHECKING:
    import pandas as pd

FILE = "adult_llama.csv"
AGES = ("under 25", "25-64", "65 and over")
"""Levels of ``age_band``."""
_OLDEST = (24, 64)
_INCOMES = {"less than or equal to 50K": 0, "greater than 50K": 1}


def load_adult(path: str | Path) -> pd.DataFrame:
    """Load the incomes of 48,842 people and what a language model said about them.

    Parameters
    ----------
    path : str or Path
        ``adult_llama.csv`` (or ``.csv.gz``), or the folder that holds it.

    Returns
    -------
    pandas DataFrame
        One row per person, in the order of the file: ``race`` (5 levels), ``sex`` (2), ``age`` (years), ``age_band``
        (under 25, 25-64, 65 and over), ``income`` and ``predicted`` (1 above 50,000 dollars a year), and ``error``
        (1 where they differ).

    Raises
    ------
    InputError
        If there is no such file, it is not CSV, lacks columns or holds an unknown value.

    References
    ----------
    Khodak, Mackey, Chouldechova, Dudik (2024), SureMap, https://doi.org/10.48550/arXiv.2411.09730 (predictions of
    Llama 3 70B with eight examples, and the age bands); Becker, Kohavi (1996), https://doi.org/10.24432/C5XW20.

    Examples
    --------
    >>> from examples.published.data import load_adult
    >>> people = load_adult("data/adult")  # doctest: +SKIP
    """
    import pandas as pd

    raw = read_columns(path, FILE, ["race", "sex", "age", "label", "pred"])
    age = whole_numbers(raw, "age")
    income, predicted = _incomes(raw, "label"), _incomes(raw, "pred")
    bands = np.array(AGES)[np.searchsorted(np.array(_OLDEST), age)]
    return pd.DataFrame(
        {
            "race": _names(raw, "race"),
            "sex": _names(raw, "sex"),
            "age": age,
            "age_band": bands,
            "income": income,
            "predicted": predicted,
            "error": [int(decision != outcome) for decision, outcome in zip(predicted, income, strict=True)],
        }
    )


def _incomes(raw: pd.DataFrame, column: str) -> list[int]:
    values = [value.strip() for value in raw[column].tolist()]
    strange = next((value for value in values if value not in _INCOMES), None)
    if strange is not None:
        raise InputError(f"column {column!r} has value {strange!r}; expected one of {sorted(_INCOMES)}")
    return [_INCOMES[value] for value in values]


def _names(raw: pd.DataFrame, column: str) -> list[str]:
    # The file has a blank before each name.
    values = [value.strip() for value in raw[column].tolist()]
    if "" in values:
        raise InputError(f"column {column!r} is empty in row {values.index('')}; expected a name")
    return values
