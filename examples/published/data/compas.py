"""COMPAS: scores of recidivism of 7,214 defendants of Broward County and what happened within two years."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from bayesgroups.errors import InputError
from examples.published.data.local_files import read_columns, whole_numbers

if TYPE_CHECKING:
    import pandas as pd

FILE = "compas-scores-two-years_deid.csv"
AGES = ("under 25", "25-45", "over 45")
"""Levels of ``age_band``."""
HIGHEST_LOW = 4
"""Deciles above it are predictions of a new offence: medium and high risk."""
_AGES = {"Less than 25": "under 25", "25 - 45": "25-45", "Greater than 45": "over 45"}


def load_compas(path: str | Path) -> pd.DataFrame:
    """Load the two-year recidivism data of ProPublica, without names.

    Parameters
    ----------
    path : str or Path
        ``compas-scores-two-years_deid.csv`` (or ``.csv.gz``), or the folder that holds it.

    Returns
    -------
    pandas DataFrame
        One row per defendant, in the order of the file: ``race`` (6 levels), ``sex`` (2), ``age`` (years), ``age_band``
        (under 25, 25-45, over 45), ``priors_count``, ``juv_fel_count``, ``juv_misd_count``, ``juv_other_count``,
        ``charge_degree`` (F or M), ``decile_score`` (1 to 10), ``recidivism`` (1 if charged again within two years),
        ``predicted`` (1 for a decile above 4) and ``error`` (1 where the last two differ).

    Raises
    ------
    InputError
        If there is no such file, it is not CSV, lacks columns or holds an unknown value.

    Notes
    -----
    The follow-up was cut differently for those who offended again and the others, so that base rates are too high.

    References
    ----------
    Larson, Mattu, Kirchner, Angwin (2016), https://github.com/propublica/compas-analysis; Bao et al. (2021), It's
    COMPASlicated, https://doi.org/10.48550/arXiv.2106.05498 (what the data are not good for).

    Examples
    --------
    >>> from examples.published.data import load_compas
    >>> defendants = load_compas("data/compas")  # doctest: +SKIP
    """
    import pandas as pd

    counts = ["priors_count", "juv_fel_count", "juv_misd_count", "juv_other_count"]
    raw = read_columns(
        path, FILE, ["race", "sex", "age", "age_cat", "c_charge_degree", "decile_score", "two_year_recid", *counts]
    )
    recidivism, decile = whole_numbers(raw, "two_year_recid"), whole_numbers(raw, "decile_score")
    for column, values, low, high in (("two_year_recid", recidivism, 0, 1), ("decile_score", decile, 1, 10)):
        outside = (values < low) | (values > high)
        if outside.any():
            raise InputError(f"column {column!r} has value {values[outside][0]}; expected {low} to {high}")
    predicted = (decile > HIGHEST_LOW).astype(int)
    return pd.DataFrame(
        {
            "race": _names(raw, "race"),
            "sex": _names(raw, "sex"),
            "age": whole_numbers(raw, "age"),
            "age_band": _ages(raw),
            **{name: whole_numbers(raw, name) for name in counts},
            "charge_degree": _names(raw, "c_charge_degree"),
            "decile_score": decile,
            "recidivism": recidivism,
            "predicted": predicted,
            "error": (predicted != recidivism).astype(int),
        }
    )


def _names(raw: pd.DataFrame, column: str) -> list[str]:
    values: list[str] = raw[column].tolist()
    if "" in values:
        raise InputError(f"column {column!r} is empty in row {values.index('')}; expected a name")
    return values


def _ages(raw: pd.DataFrame) -> list[str]:
    values: list[str] = raw["age_cat"].tolist()
    strange = next((value for value in values if value not in _AGES), None)
    if strange is not None:
        raise InputError(f"column 'age_cat' has value {strange!r}; expected one of {sorted(_AGES)}")
    return [_AGES[value] for value in values]
