"""Bios: professions told from biographies by models that were debiased in different ways, and one that was not."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Literal, get_args

import numpy as np
import xarray as xr

from bayesgroups.errors import InputError
from examples.published.data.local_files import read_columns, whole_numbers

if TYPE_CHECKING:
    import pandas as pd

Groups = Literal["both", "gender"]
Split = Literal["dev", "test"]
SUBGROUPS = ("male | high", "male | low", "female | high", "female | low")
"""Gender and the wealth of the economy, as the files number them from 0."""
PROFESSIONS = (
    "accountant", "architect", "attorney", "chiropractor", "comedian", "composer", "dentist", "dietitian", "dj", "filmmaker",
    "interior_designer", "journalist", "model", "nurse", "painter", "paralegal", "pastor", "personal_trainer", "photographer",
    "physician", "poet", "professor", "psychologist", "rapper", "software_engineer", "surgeon", "teacher", "yoga_teacher",
)  # fmt: skip
"""Names of the labels, as the files number them from 0."""
_GOALS = ("dev_performance", "dev_fairness", "test_performance", "test_fairness")
_CONFUSION = "bios_both_confusion.csv"


def load_bios_runs(path: str | Path, groups: Groups = "both") -> pd.DataFrame:
    """Load the runs of debiasing methods: accuracy and fairness of each on development and test data.

    Parameters
    ----------
    path : str or Path
        ``bios_both_results.csv`` or ``bios_gender_results.csv`` (or ``.csv.gz``), or the folder that holds them.
    groups : {"both", "gender"}
        Fairness between the four subgroups of gender and economy, or between genders.

    Returns
    -------
    pandas DataFrame
        One row per run: ``method``, ``config`` (the hyper-parameters), ``run``, and ``dev_performance``,
        ``dev_fairness``, ``test_performance``, ``test_fairness``. Performance is accuracy; fairness is 1 less the quadratic
        mean over professions of the sum over subgroups of the gaps in the true positive rate.

    Raises
    ------
    InputError
        If there is no such file, it is not CSV, lacks columns or holds something that is no number.

    References
    ----------
    Han, Baldwin, Cohn (2023), https://doi.org/10.18653/v1/2023.eacl-main.23; De-Arteaga et al. (2019), Bias in Bios,
    https://doi.org/10.1145/3287560.3287572.

    Examples
    --------
    >>> from examples.published.data import load_bios_runs
    >>> runs = load_bios_runs("data/bios")  # doctest: +SKIP
    """
    if groups not in get_args(Groups):
        raise InputError(f"groups={groups!r} does not exist; expected 'both' or 'gender'")
    raw = read_columns(path, f"bios_{groups}_results.csv", ["method", "config", "run", *_GOALS])
    for column in _GOALS:
        raw[column] = _numbers(raw, column)
    return raw


def load_bios_confusion(path: str | Path, split: Split = "test") -> xr.DataArray:
    """Load the confusion counts of a model that was not debiased, at every checkpoint of its training.

    Parameters
    ----------
    path : str or Path
        ``bios_both_confusion.csv`` (or ``.csv.gz``), or the folder that holds it.
    split : {"dev", "test"}
        10,956 or 27,851 people.

    Returns
    -------
    xr.DataArray
        People by ``epoch`` (as text), ``subgroup`` (gender and economy), ``label`` (the profession, 0 to 27) and
        ``predicted``.

    Raises
    ------
    InputError
        If there is no such file, it is not CSV, lacks columns, or holds an unknown subgroup or something that is no count.

    References
    ----------
    Han, Baldwin, Cohn (2023), https://doi.org/10.18653/v1/2023.eacl-main.23.

    Examples
    --------
    >>> from examples.published.data import load_bios_confusion
    >>> counts = load_bios_confusion("data/bios")  # doctest: +SKIP
    """
    if split not in get_args(Split):
        raise InputError(f"split={split!r} does not exist; expected 'dev' or 'test'")
    raw = read_columns(path, _CONFUSION, ["epoch", "split", "group", "true_class", "pred_class", "count"])
    raw = raw.loc[raw["split"] == split]
    if len(raw) == 0:
        raise InputError(f"column 'split' has no {split!r}")
    group, true, predicted = (whole_numbers(raw, column) for column in ("group", "true_class", "pred_class"))
    if group.max() >= len(SUBGROUPS):
        raise InputError(f"column 'group' has value {group.max()}; expected 0 to {len(SUBGROUPS) - 1}")
    epochs = sorted(set(raw["epoch"].tolist()), key=float)
    place = np.array([epochs.index(epoch) for epoch in raw["epoch"].tolist()])
    classes = int(max(true.max(), predicted.max())) + 1
    counts = np.zeros((len(epochs), len(SUBGROUPS), classes, classes), dtype=np.int64)
    np.add.at(counts, (place, group, true, predicted), whole_numbers(raw, "count"))
    names = [str(label) for label in range(classes)]
    coordinates = {"epoch": epochs, "subgroup": list(SUBGROUPS), "label": names, "predicted": names}
    return xr.DataArray(counts, coordinates, name="people")


def _numbers(raw: pd.DataFrame, column: str) -> list[float]:
    try:
        return [float(value) for value in raw[column].tolist()]
    except ValueError as problem:
        raise InputError(f"column {column!r} holds something that is no number ({problem})") from problem
