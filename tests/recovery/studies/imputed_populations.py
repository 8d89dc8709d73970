"""Evaluation sets in which some subgroups have no rows, although their values are known.

Twelve subgroups by race, sex and age; subgroup a has the value

    eta_a = centre + spread (sqrt(1/6) (race + sex + age effect) + sqrt(1/2) own effect)

with standard normal effects, so that half of the variance between subgroups follows attributes. Four subgroups, drawn anew each
time, have no rows, the others 5 to 80. What eta is depends on the kind of evaluation set:

``rate``
    The logit of a rate; counts. Centre logit .3.
``mean``
    The mean of a loss with standard deviation 1; rows. Centre 2.
``cells``
    The logit of the false negative rate, and with other effects of the false positive rate; outcomes and decisions.
``scores``
    The mean of the logit of the score among positives, with standard deviation 1; the false negative rate at a score of .5.
``judgements``
    The logit of the rate at which critics disagree, by the label that was given; the share of each label that is right.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import product

import numpy as np
import pandas as pd
import xarray as xr
from scipy.special import expit, ndtr

import bayesgroups as bg
from bayesgroups.data.arrays import FloatArray, IntArray

ATTRIBUTES = {"race": ["a", "b", "c"], "sex": ["f", "m"], "age": ["1", "2"]}
TABLE = pd.DataFrame(list(product(*ATTRIBUTES.values())), columns=list(ATTRIBUTES))
EMPTY = 4
SMALLEST, LARGEST = 5, 80
"""Rows of subgroups that have some."""
CENTRE = float(np.log(0.3 / 0.7))


def values(spread: float, rng: np.random.Generator) -> FloatArray:
    """Deviations (subgroup,) of eta from its centre."""
    shared = np.zeros(len(TABLE))
    for attribute, levels in ATTRIBUTES.items():
        effects = rng.standard_normal(len(levels))
        shared += effects[[levels.index(level) for level in TABLE[attribute]]]
    return np.asarray(spread * (np.sqrt(1 / 6) * shared + np.sqrt(1 / 2) * rng.standard_normal(len(TABLE))))


def sizes(rng: np.random.Generator) -> IntArray:
    """Numbers of rows (subgroup,), 0 for those without."""
    rows = np.round(np.geomspace(SMALLEST, LARGEST, len(TABLE) - EMPTY)).astype(np.int64)
    return rng.permutation(np.concatenate([np.zeros(EMPTY, dtype=np.int64), rows]))


def rates(spread: float, rng: np.random.Generator) -> tuple[xr.Dataset, FloatArray]:
    """Counts, and the true rates (subgroup,)."""
    truth, trials = expit(CENTRE + values(spread, rng)), sizes(rng)
    return bg.tally_from_counts(rng.binomial(trials, truth), trials, TABLE, metric="fnr"), truth


def means(spread: float, rng: np.random.Generator) -> tuple[xr.Dataset, FloatArray]:
    """Rows with losses, and the true means (subgroup,)."""
    truth, subgroup = 2 + values(spread, rng), np.repeat(np.arange(len(TABLE)), sizes(rng))
    rows = TABLE.iloc[subgroup].assign(loss=truth[subgroup] + rng.standard_normal(len(subgroup)))
    return bg.tally(rows, ATTRIBUTES, ["mean"], loss="loss"), truth


def cells(spread: float, rng: np.random.Generator) -> tuple[xr.Dataset, FloatArray]:
    """Rows with outcomes, half of them 1, and decisions, and the true false negative rates (subgroup,)."""
    truth, other = expit(CENTRE + values(spread, rng)), expit(CENTRE + values(spread, rng))
    subgroup = np.repeat(np.arange(len(TABLE)), 2 * sizes(rng))
    y = np.arange(len(subgroup)) % 2
    selected = rng.random(len(subgroup)) < np.where(y == 1, 1 - truth[subgroup], other[subgroup])
    rows = TABLE.iloc[subgroup].assign(y=y, d=selected.astype(int))
    return bg.tally(rows, ATTRIBUTES, ["fnr"], y_true="y", y_pred="d", confusion=True), truth


def scores(spread: float, rng: np.random.Generator) -> tuple[xr.Dataset, FloatArray]:
    """Rows with outcomes, half of them 1, and scores, and the true false negative rates (subgroup,)."""
    deviation = values(spread, rng)
    subgroup = np.repeat(np.arange(len(TABLE)), 2 * sizes(rng))
    y = np.arange(len(subgroup)) % 2
    logit = np.where(y == 1, 0.5, -0.5) + deviation[subgroup] + rng.standard_normal(len(subgroup))
    rows = TABLE.iloc[subgroup].assign(y=y, p=expit(logit))
    tally = bg.tally(rows, ATTRIBUTES, ["fnr", "auc"], y_true="y", y_score="p", threshold=0.5)
    return tally, np.asarray(ndtr(-(0.5 + deviation)), dtype=np.float64)


def judgements(spread: float, rng: np.random.Generator) -> tuple[xr.Dataset, FloatArray]:
    """Rows with labels, half of them each, and disagreement, and the true shares of the label p that are right (subgroup,)."""
    wrong = np.stack([expit(CENTRE + values(spread, rng)) for _ in range(2)])
    subgroup = np.repeat(np.arange(len(TABLE)), 2 * sizes(rng))
    label = np.arange(len(subgroup)) % 2
    rows = TABLE.iloc[subgroup].assign(
        label=np.where(label == 1, "p", "n"), no=(rng.random(len(subgroup)) < wrong[label, subgroup]).astype(int)
    )
    return bg.disagreement_tally(rows, ATTRIBUTES, "label", "no").sel(metric=["ppv[p]"]), 1 - wrong[1]


KINDS: dict[str, Callable[[float, np.random.Generator], tuple[xr.Dataset, FloatArray]]] = {
    "rate": rates, "mean": means, "cells": cells, "scores": scores, "judgements": judgements,
}  # fmt: skip
"""Evaluation sets by kind: a tally whose first metric is the one, and its true values."""
