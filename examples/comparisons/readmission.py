"""The readmission study: a risk model trained on a quarter of the diabetes admissions scores the others."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from bayesgroups.datasets.draws import generator

if TYPE_CHECKING:
    import pandas as pd

BY = ("race", "gender", "age")
"""Attributes of the 32 subgroups."""


def score_held_back(admissions: pd.DataFrame, seed: int) -> pd.DataFrame:
    """Train on a quarter of the admissions and score the others, which are the population of the study.

    Parameters
    ----------
    admissions : pandas DataFrame
        From `bayesgroups.datasets.load_diabetes`.
    seed : int
        Decides which quarter.

    Returns
    -------
    pandas DataFrame
        The admissions held back, in their order, with a column ``score``: the risk of readmission, in [0, 1], by a
        logistic regression that sees everything but race and the patient.

    Raises
    ------
    InputError
        If the seed is not a whole number.

    References
    ----------
    Herlihy, Truong, Chouldechova, Dudik (2024), section 5.1; the penalty and the coding are ours.

    Examples
    --------
    >>> from examples.comparisons.readmission import score_held_back
    >>> population = score_held_back(admissions, seed=1)  # doctest: +SKIP
    """
    from sklearn.compose import make_column_selector, make_column_transformer
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder, StandardScaler

    order = generator(seed).permutation(len(admissions))
    train = admissions.iloc[order[: len(order) // 4]]
    held_back = admissions.iloc[np.sort(order[len(order) // 4 :])]
    levels = OneHotEncoder(min_frequency=50, handle_unknown="infrequent_if_exist")
    columns = make_column_transformer(
        (StandardScaler(), make_column_selector(dtype_include="number")),
        (levels, make_column_selector(dtype_exclude="number")),
    )
    model = make_pipeline(columns, LogisticRegression(C=0.1, max_iter=1000))
    model.fit(_predictors(train), train["readmitted"])
    return held_back.assign(score=model.predict_proba(_predictors(held_back))[:, 1])


def _predictors(rows: pd.DataFrame) -> pd.DataFrame:
    return rows.drop(columns=["race", "patient", "readmitted"]).fillna("missing")
