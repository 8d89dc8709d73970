"""The fifteen cells of the shared study: three public data sets, eleven metrics and rates of sampling."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from bayesgroups.data.metrics import Metric
from bayesgroups.data.thresholds import selection_threshold
from bayesgroups.datasets import load_diabetes
from bayesgroups.studies.populations import Drawn, Population
from examples.comparisons.readmission import score_held_back
from examples.published.data import load_adult, load_common_voice
from examples.published.data.adult import AGES as ADULT_AGES
from examples.published.data.common_voice import AGES as SPEAKER_AGES
from examples.published.data.common_voice import SEXES, Texts

SEED = 20_241_105
TRAINING_SEED = 1
DIABETES_METRICS = ("sel", "acc", "fnr", "fpr", "ppv", "auc")
DIABETES_ROWS = 5_000
SELECTED = 0.2
ADULT_SHARES = (0.01, 0.032, 0.1)
SPEAKER_SHARES = (0.032, 0.1, 0.32)
MIN_ROWS_WITH_TRUTH = 40
"""Rows of a subgroup below which its value in the population is no truth; diabetes has a truth for all subgroups."""
COVERAGE_ROWS, COVERAGE_COUNT = 500, 300
"""Rows of a subgroup in the population, and of the metric's denominator, from which on coverage is scored: the population's rate
is then near the superpopulation's, about which intervals are."""
DIABETES_DRAWS, OTHER_DRAWS = 20, 40


def share_of(population_rows: int, share: float) -> int:
    """Whole number of rows nearest to a share of a population, at least 1."""
    return max(1, math.floor(population_rows * share + 0.5))


@dataclass(frozen=True, eq=False)
class Cell:
    """One metric of one evaluation set.

    Parameters
    ----------
    name : str
        Of the cell, such as ``diabetes fnr``; the same in every draw.
    draw : int
        Number of the draw.
    tally : xr.Dataset
        Of one metric.
    truth : float array (subgroup,)
        Population values in the order of ``tally["subgroup"]``; NaN where there is none to be held to.
    rows : float array (subgroup,)
        Rows drawn; a subgroup is small if they are at most 25.
    scored : bool array (subgroup,)
        Where truth and standard estimate are defined, which is where estimators are compared.
    """

    name: str
    draw: int
    tally: xr.Dataset
    truth: NDArray[np.float64]
    rows: NDArray[np.float64]
    scored: NDArray[np.bool_]


def populations(data_folder: str | Path, *, fewest: int = MIN_ROWS_WITH_TRUTH) -> list[Population]:
    """The ten populations of the study.

    Parameters
    ----------
    data_folder : str or Path
        Folder with the folders ``diabetes`` (``diabetic_data.csv``), ``adult`` (``adult_llama.csv``) and
        ``asr_commonvoice`` (``clips.csv``), each file compressed or not.
    fewest : int
        Rows in the population that a subgroup needs to have a truth, for all but diabetes.

    Returns
    -------
    list of Population
        ``diabetes``, 73,988 admissions with six metrics; ``adult 1%``, ``adult 3.2%``, ``adult 10%``, 48,842 people
        with one; ``speech 3.2%`` ... and ``speech_normalised 3.2%`` ..., 2,581 speakers with one.

    Raises
    ------
    InputError
        If a file is absent or not what it should be.

    Notes
    -----
    The truth is the value in the population, for diabetes of all 32 subgroups. Draws do not depend on ``fewest``.

    Examples
    --------
    >>> [population.name for population in populations("data")]  # doctest: +SKIP
    """
    root = Path(data_folder)
    admissions = score_held_back(load_diabetes(root / "diabetes"), TRAINING_SEED)
    cut = selection_threshold(admissions["score"].to_numpy(), SELECTED)
    all_populations = [
        Population(
            "diabetes", admissions, {name: tuple(sorted(set(admissions[name]))) for name in ("race", "gender", "age")},
            DIABETES_METRICS, rows=DIABETES_ROWS, design="stratified", fewest=1,
            coverage_rows=COVERAGE_ROWS, coverage_count=COVERAGE_COUNT,
            y_true="readmitted", y_score="score", threshold=cut.threshold,
        )
    ]  # fmt: skip
    people = load_adult(root / "adult")
    levels = {name: tuple(sorted(set(people[name]))) for name in ("race", "sex")} | {"age_band": ADULT_AGES}
    error = Metric("error", value="error", kind="rate")
    for share in ADULT_SHARES:
        rows = share_of(len(people), share)
        all_populations.append(
            Population(
                f"adult {share:.3g}",
                people,
                levels,
                (error,),
                rows=rows,
                design="independent",
                fewest=fewest,
                coverage_rows=COVERAGE_ROWS,
                coverage_count=COVERAGE_COUNT,
            )
        )
    wer = Metric("wer", value="wer", lower=0.0)
    texts: tuple[Texts, ...] = ("raw", "normalised")
    for text in texts:
        speakers = load_common_voice(root / "asr_commonvoice", texts=text)
        for share in SPEAKER_SHARES:
            rows, name = share_of(len(speakers), share), f"speech_{text} {share:.3g}"
            by = {"sex": SEXES, "age": SPEAKER_AGES}
            all_populations.append(
                Population(
                    name,
                    speakers,
                    by,
                    (wer,),
                    rows=rows,
                    design="independent",
                    fewest=fewest,
                    coverage_rows=COVERAGE_ROWS,
                    coverage_count=COVERAGE_COUNT,
                )
            )
    return all_populations


def draws_of(population: Population) -> int:
    """Number of draws of the study from a population: 20 from diabetes, 40 from the others."""
    return DIABETES_DRAWS if population.design == "stratified" else OTHER_DRAWS


def cells(data_folder: str | Path, *, draws: int | None = None, seed: int = SEED) -> Iterator[Cell]:
    """Every cell of every draw, one metric at a time.

    Parameters
    ----------
    data_folder : str or Path
        As in `populations`.
    draws : int, optional
        Draws of every population; by default 20 of diabetes and 40 of the others.
    seed : int
        Source of randomness; the first draws are the same however many there are.

    Yields
    ------
    Cell
        480 of them: 6 x 20 of diabetes, 9 x 40 of the others.

    Examples
    --------
    >>> first = next(cells("data"))  # doctest: +SKIP
    """
    for population in populations(data_folder):
        truth = population.truth()
        for draw in range(draws_of(population) if draws is None else draws):
            yield from split(population.draw(draw, seed=seed, truth=truth))


def split(drawn: Drawn) -> Iterator[Cell]:
    """The cells of one draw, one per metric."""
    several = len(drawn.population.metrics) > 1
    for i, metric in enumerate(drawn.population.metric_names):
        name = f"{drawn.population.name} {metric}" if several else drawn.population.name
        tally = drawn.tally.isel(metric=[i])
        yield Cell(name, drawn.index, tally, drawn.truth.values[i], drawn.rows, drawn.scored[i])
