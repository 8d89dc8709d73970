"""Disagreement feedback with two to ten labels: deciles of one score of COMPAS, and a critic who has another's in mind.

    python -m examples.published.disagreement.deciles --data FOLDER/compas --output docs/examples/disagreement_labels.csv

The system is the score of recidivism of 7,214 defendants, the critic the score of violence, which has the same ten deciles
of the same people. Deciles are put together to two, three and five labels; three are low, medium and high as COMPAS has them.
"""

from __future__ import annotations

import argparse
import csv
from collections.abc import Sequence
from dataclasses import dataclass, fields
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from bayesgroups.data.arrays import FloatArray
from bayesgroups.errors import InputError
from bayesgroups.frequentist.bounds.differences import differences, over_labels
from bayesgroups.tallies.disagreement_notions import Notion
from bayesgroups.tallies.disagreement_rates import Bounds, bounds
from examples.published.data.compas import FILE
from examples.published.data.local_files import read_columns, whole_numbers
from examples.published.disagreement.rates_in_mind import INDEFINITE, outside, rates_in_mind
from examples.records import as_csv, write

FIRST_DECILES = {2: (5,), 3: (5, 8), 5: (3, 5, 7, 9), 10: tuple(range(2, 11))}
"""First deciles of all labels but the lowest, by the number of labels."""
LEVELS = {"race": ("African-American", "Caucasian"), "sex": ("Female", "Male")}
"""The two subgroups of each attribute."""
SAMPLES = 400
"""Samples, as many as the critics of the paper."""
ROWS = 500
"""Defendants of a sample."""


@dataclass(frozen=True, eq=False)
class Deciles:
    """Two deciles per defendant, 0 to 9: ``given`` by the system and in the ``mind`` of the critic; ``subgroup`` 0 or 1."""

    given: NDArray[np.int64]
    mind: NDArray[np.int64]
    subgroup: NDArray[np.intp]


@dataclass(frozen=True)
class LabelsLine:
    """One number of labels, attribute and notion.

    Attributes
    ----------
    labels : int
    attribute, notion : str
    defendants : int
    rates : int
        Rates bounded: labels by subgroups.
    outside_published, outside_sharp : float
        Share of rates outside their bounds.
    width, largest_width : float
        Mean and largest width of the sharp bounds of a rate.
    truth : float
        Largest difference between subgroups.
    published_lower, published_upper, sharp_lower, sharp_upper : float
        Bounds on it.
    published_error, sharp_error : float
        Mean absolute error of the middle of the bounds as an estimate of it, over samples of `ROWS` defendants.
    sharp_width : float
        Mean width of the sharp bounds on the difference, over the same samples.
    """

    labels: int
    attribute: str
    notion: str
    defendants: int
    rates: int
    outside_published: float
    outside_sharp: float
    width: float
    largest_width: float
    truth: float
    published_lower: float
    published_upper: float
    sharp_lower: float
    sharp_upper: float
    published_error: float
    sharp_error: float
    sharp_width: float


@dataclass(frozen=True)
class Answer:
    """Rates (sample, label, subgroup) with bounds, and the largest difference (sample,) with bounds on it."""

    rates: FloatArray
    published_rates: Bounds
    sharp_rates: Bounds
    truth: FloatArray
    published: Bounds
    sharp: Bounds


def load_deciles(path: str | Path, attribute: str) -> Deciles:
    """Read the two deciles of the defendants of two subgroups.

    Raises
    ------
    InputError
        If the file is absent or a decile is none.
    """
    raw = read_columns(path, FILE, [attribute, "decile_score", "v_decile_score"])
    raw = raw.loc[raw[attribute].isin(LEVELS[attribute]).to_numpy()]
    scores = {column: whole_numbers(raw, column) - 1 for column in ("decile_score", "v_decile_score")}
    for column, values in scores.items():
        outside = (values < 0) | (values > 9)
        if outside.any():
            raise InputError(f"column {column!r} has value {values[outside][0] + 1}; expected 1 to 10")
    subgroup = np.array([LEVELS[attribute].index(level) for level in raw[attribute]], dtype=np.intp)
    return Deciles(scores["decile_score"], scores["v_decile_score"], subgroup)


def counted(deciles: Deciles, labels: int, samples: NDArray[np.intp]) -> FloatArray:
    """Counts (sample, subgroup, label given, label in mind) of the defendants at positions ``samples`` (sample, row).

    Examples
    --------
    >>> two = Deciles(np.array([0, 9, 9]), np.array([0, 9, 0]), np.array([0, 0, 1]))
    >>> counted(two, 2, np.arange(3)[None]).tolist()
    [[[[1.0, 0.0], [0.0, 1.0]], [[0.0, 0.0], [1.0, 0.0]]]]
    """
    given, mind = (
        np.searchsorted(FIRST_DECILES[labels], each + 1, side="right") for each in (deciles.given, deciles.mind)
    )
    table = np.zeros((len(samples), 2, labels, labels))
    rows = np.broadcast_to(np.arange(len(samples))[:, None], samples.shape)
    np.add.at(table, (rows, deciles.subgroup[samples], given[samples], mind[samples]), 1.0)
    return table


def answer(table: FloatArray, notion: Notion) -> Answer:
    """Rates, differences and bounds of counts; labels whose rate does not exist in both subgroups take no part."""
    rates = rates_in_mind(table, notion)
    both = np.isfinite(rates).all(axis=-1, keepdims=True)
    rates = np.where(both, rates, np.nan)
    agree = np.moveaxis(np.diagonal(table, axis1=-2, axis2=-1), -1, -2)
    disagree = np.moveaxis(table.sum(axis=-1), -1, -2) - agree
    published, sharp = (_masked(bounds(agree, disagree, notion, form), both) for form in ("published", "sharp"))
    return Answer(
        rates, published, sharp, over_labels(differences(Bounds(rates, rates))).lower,
        over_labels(differences(published, "published")), over_labels(differences(sharp)),
    )  # fmt: skip


def _masked(ends: Bounds, some: NDArray[np.bool_]) -> Bounds:
    return Bounds(np.where(some, ends.lower, np.nan), np.where(some, ends.upper, np.nan))


def study(deciles: Deciles, attribute: str, labels: int, *, seed: int) -> list[LabelsLine]:
    """Compare published and sharp bounds with the rates of the critic.

    Parameters
    ----------
    deciles : Deciles
        Of all defendants of the two subgroups.
    attribute : {"race", "sex"}
    labels : {2, 3, 5, 10}
    seed : int
        Source of randomness of the samples, which are the same for every number of labels.

    Returns
    -------
    list of LabelsLine
        For the three notions that the paper bounds.
    """
    size = len(deciles.given)
    rng = np.random.default_rng(seed)
    drawn = np.stack([rng.permutation(size)[:ROWS] for _ in range(SAMPLES)])
    everyone, samples = counted(deciles, labels, np.arange(size)[None]), counted(deciles, labels, drawn)
    return [
        _line(answer(everyone, notion), answer(samples, notion), attribute, labels, notion, size)
        for notion in INDEFINITE
    ]


def _line(whole: Answer, samples: Answer, attribute: str, labels: int, notion: Notion, size: int) -> LabelsLine:
    width = whole.sharp_rates.upper - whole.sharp_rates.lower
    return LabelsLine(
        labels, attribute, notion, size, int(np.isfinite(whole.rates).sum()),
        outside(whole.rates, whole.published_rates), outside(whole.rates, whole.sharp_rates),
        float(np.nanmean(width)), float(np.nanmax(width)), float(whole.truth[0]),
        float(whole.published.lower[0]), float(whole.published.upper[0]),
        float(whole.sharp.lower[0]), float(whole.sharp.upper[0]),
        float(np.nanmean(np.abs(samples.published.midpoint - samples.truth))),
        float(np.nanmean(np.abs(samples.sharp.midpoint - samples.truth))),
        float(np.nanmean(samples.sharp.upper - samples.sharp.lower)),
    )  # fmt: skip


def read_lines(path: Path) -> list[LabelsLine]:
    """Read a record back."""
    kinds = {each.name: {"int": int, "float": float, "str": str}[str(each.type)] for each in fields(LabelsLine)}
    with path.open(encoding="utf-8", newline="") as file:
        return [LabelsLine(**{name: kinds[name](text) for name, text in line.items()}) for line in csv.DictReader(file)]


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the study and write its record."""
    program = "python -m examples.published.disagreement.deciles"
    parser = argparse.ArgumentParser(prog=program, description="Bounds from disagreement with two to ten labels.")
    parser.add_argument("--data", required=True, help="folder of the scores of COMPAS")
    parser.add_argument("--output", type=Path, required=True, help="the CSV file to write")
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args(arguments)
    lines = [
        line
        for attribute in LEVELS
        for labels in FIRST_DECILES
        for line in study(load_deciles(given.data, attribute), attribute, labels, seed=given.seed)
    ]
    write(given.output, as_csv(lines))


if __name__ == "__main__":
    main()
