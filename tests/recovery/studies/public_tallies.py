"""Tallies of every data set of `bayesgroups.datasets`, by name: rates, means, areas under curves, confusion cells, judgements."""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd
import xarray as xr

import bayesgroups as bg
from bayesgroups import datasets
from bayesgroups.datasets import STUDY_SIZES, Binormal, binormal_metrics
from examples.published.data import load_adult, load_bios_confusion, load_common_voice, load_compas, load_dressel_farid

THRESHOLD = 0.3
"""Of the binormal scores."""
SEED = 1
"""Of what is drawn."""


def folder() -> Path:
    """Folder of the public data: ``BAYESGROUPS_DATA``, or else the folder beside the repository."""
    return Path(os.environ.get("BAYESGROUPS_DATA", Path(__file__).parents[4] / "shared" / "data"))


@cache
def tally(name: str) -> xr.Dataset:
    """The tally of one data set.

    Examples
    --------
    >>> tally("binormal").sizes["subgroup"]
    32
    """
    return TALLIES[name]()


def _demonstration(*, cells: bool) -> xr.Dataset:
    shown = datasets.demonstration(0)
    metrics = ["fnr", "ppv"] if cells else ["fnr", "auc"]
    return bg.tally(
        shown.rows, shown.by, metrics, y_true="readmitted", y_score="score", threshold=shown.threshold, confusion=cells
    )


def _synthetic(model: str) -> xr.Dataset:
    shown = datasets.demonstration(0)
    value = datasets.synthetic_metric(shown.rows, model, by=shown.by, seed=SEED).values  # type: ignore[arg-type]
    rows = shown.rows.assign(value=value)
    if model == "expl":
        return bg.tally(rows, shown.by, ["mean"], loss="value")
    return bg.tally(rows, shown.by, ["sel"], y_pred="value")


def _binormal() -> xr.Dataset:
    rng, number = np.random.default_rng(SEED), len(STUDY_SIZES)
    law = Binormal(
        prevalence=np.full(number, 0.4),
        mean_negative=rng.normal(-1.5, 0.2, number),
        mean_positive=rng.normal(0.0, 0.4, number),
        sd_negative=np.ones(number),
        sd_positive=np.ones(number),
    )
    who = pd.DataFrame(itertools.product("abcd", "fm", "wxyz"), columns=["race", "sex", "age"])
    positives = rng.binomial(STUDY_SIZES, law.prevalence)
    hits = rng.binomial(positives, binormal_metrics(law, THRESHOLD)["tpr"])
    return bg.tally_from_counts(hits, positives, who, metric="tpr")


def _adult() -> xr.Dataset:
    people = load_adult(folder() / "adult")
    return bg.tally(people, ["race", "sex", "age_band"], ["acc"], y_true="income", y_pred="predicted")


def _bios() -> xr.Dataset:
    counts = load_bios_confusion(folder() / "bios_pfc").isel(epoch=-1)
    people = counts.transpose("subgroup", "label", "predicted").values
    pairs = itertools.product(counts["subgroup"].values, counts["label"].values)
    who = pd.DataFrame(pairs, columns=["group", "profession"])
    return bg.tally_from_counts(np.einsum("gll->gl", people).ravel(), people.sum(axis=-1).ravel(), who, metric="tpr")


def _common_voice() -> xr.Dataset:
    speakers = load_common_voice(folder() / "asr_commonvoice")
    return bg.tally(speakers, ["sex", "age"], ["mean"], loss="wer")


def _compas(*, cells: bool) -> xr.Dataset:
    people = load_compas(folder() / "compas")
    metrics = ["fpr", "fnr"] if cells else ["fpr"]
    by = ["race", "sex", "age_band"]
    return bg.tally(people, by, metrics, y_true="recidivism", y_pred="predicted", confusion=cells)


def _diabetes() -> xr.Dataset:
    return bg.tally(
        datasets.load_diabetes(folder() / "diabetes"), ["race", "gender", "age"], ["sel"], y_pred="readmitted"
    )


def _judgements(*, by_label: bool) -> xr.Dataset:
    rows = load_dressel_farid(folder() / "dressel_farid")
    if by_label:
        return bg.disagreement_tally(rows, ["race", "sex"], "risk", "disagrees")
    return bg.tally(rows, ["race", "sex"], ["sel"], y_pred="disagrees")


TALLIES: dict[str, Callable[[], xr.Dataset]] = {
    "demonstration": lambda: _demonstration(cells=False),
    "demonstration, cells": lambda: _demonstration(cells=True),
    "synthetic, rate": lambda: _synthetic("age+rc"),
    "synthetic, mean": lambda: _synthetic("expl"),
    "binormal": _binormal,
    "adult": _adult,
    "bios": _bios,
    "common_voice": _common_voice,
    "compas": lambda: _compas(cells=False),
    "compas, cells": lambda: _compas(cells=True),
    "diabetes": _diabetes,
    "dressel_farid": lambda: _judgements(by_label=False),
    "dressel_farid, labels": lambda: _judgements(by_label=True),
}
