"""The populations of the joint study: outcomes, decisions and, but for one, scores of four public tables."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import xarray as xr

from bayesgroups import tallies
from bayesgroups.data.metrics import Metric
from bayesgroups.data.thresholds import selection_threshold
from bayesgroups.datasets import load_diabetes
from bayesgroups.studies.populations import Population
from examples.comparisons.readmission import score_held_back
from examples.comparisons.shared_cells import (
    ADULT_SHARES,
    COVERAGE_COUNT,
    COVERAGE_ROWS,
    DIABETES_ROWS,
    MIN_ROWS_WITH_TRUTH,
    SELECTED,
    TRAINING_SEED,
    share_of,
)
from examples.published.data import load_adult
from examples.published.data.adult import AGES as ADULT_AGES
from examples.published.data.local_files import read_columns, whole_numbers

if TYPE_CHECKING:
    import pandas as pd

METRICS: tuple[str | Metric, ...] = ("sel", "acc", "fnr", "fpr", "ppv")
SCORED_SHARES = (0.032, 0.1)
DEFENDANT_SHARES = (0.1, 0.32)
SCORED_FILE, SCORED_THRESHOLD = "adult_income_with_predictions.csv", 0.5
DEFENDANT_FILE, DEFENDANT_THRESHOLD = "compas-scores-two-years_deid.csv", 5.0
DEFENDANT_AGES = ("Less than 25", "25 - 45", "Greater than 45")


@dataclass(frozen=True, eq=False)
class JointPopulation(Population):
    """A population whose evaluation sets are tallied with their confusion cells; else as its base."""

    def tally(self, frame: pd.DataFrame) -> xr.Dataset:
        """Tally rows as those of the population are, with their confusion cells."""
        return tallies.tally(
            frame, by=self.by, metrics=self.metrics, y_true=self.y_true, y_score=self.y_score,
            threshold=self.threshold, confusion=True,
        )  # fmt: skip


def joint_populations(data_folder: str | Path, *, fewest: int = MIN_ROWS_WITH_TRUTH) -> list[JointPopulation]:
    """The eight populations of the joint study, five metrics each.

    Parameters
    ----------
    data_folder : str or Path
        Folder with the folders ``diabetes``, ``adult`` and ``compas``.
    fewest : int
        Rows in the population that a subgroup needs to have a truth, for all but diabetes.

    Returns
    -------
    list of JointPopulation
        ``diabetes`` (5,000 of 73,988 admissions), ``adult 0.01`` ... (a language model's decisions on 48,842 people),
        ``scored 0.032`` ... (14,653 people with a score of a classifier) and ``compas 0.1`` ... (7,214 defendants with a
        decile score; decided at 5).

    Raises
    ------
    InputError
        If a file is absent or not what it should be.

    Examples
    --------
    >>> [population.name for population in joint_populations("data")]  # doctest: +SKIP
    """
    root = Path(data_folder)
    admissions = score_held_back(load_diabetes(root / "diabetes"), TRAINING_SEED)
    cut = selection_threshold(admissions["score"].to_numpy(), SELECTED).threshold
    attributes = {name: tuple(sorted(set(admissions[name]))) for name in ("race", "gender", "age")}
    populations = [
        JointPopulation(
            "diabetes", admissions, attributes, METRICS, rows=DIABETES_ROWS, design="stratified", fewest=1,
            coverage_rows=COVERAGE_ROWS, coverage_count=COVERAGE_COUNT,
            y_true="readmitted", y_score="score", threshold=cut,
        )
    ]  # fmt: skip
    adult = load_adult(root / "adult")
    populations += _shares(
        "adult", adult, ADULT_SHARES, ("income", "predicted", 0.5), ("race", "sex", "age_band"), fewest
    )
    scored = load_scored(root / "adult")
    truth = ("income", "score", SCORED_THRESHOLD)
    populations += _shares("scored", scored, SCORED_SHARES, truth, ("race", "sex", "age_band"), fewest)
    defendants = load_defendants(root / "compas")
    truth = ("recidivism", "decile", DEFENDANT_THRESHOLD)
    return populations + _shares("compas", defendants, DEFENDANT_SHARES, truth, ("race", "sex", "age"), fewest)


def load_scored(path: str | Path) -> pd.DataFrame:
    """Load 14,653 people of the census of 1994 with the score of a classifier.

    ``race`` (5 levels), ``sex``, ``age_band``, ``income`` (1 above 50,000 dollars), ``score`` in [0, 1]. See Lum, Zhang, Bower
    (2022), https://doi.org/10.1145/3531146.3533105.
    """
    import pandas as pd

    raw = read_columns(path, SCORED_FILE, ["race", "sex", "age", "score", "income_gt_50K"])
    bands = np.array(ADULT_AGES)[np.searchsorted([24, 64], whole_numbers(raw, "age"))]
    return pd.DataFrame(
        {
            "race": raw["race"], "sex": raw["sex"], "age_band": bands,
            "income": raw["income_gt_50K"].astype(float).astype(int), "score": raw["score"].astype(float),
        }
    )  # fmt: skip


def load_defendants(path: str | Path) -> pd.DataFrame:
    """Load 7,214 defendants with their decile score and whether they were arrested again within two years.

    ``race`` (6 levels), ``sex``, ``age`` (3 bands), ``recidivism``, ``decile`` from 1 to 10. See Angwin, Larson, Mattu, Kirchner
    (2016), "Machine bias", ProPublica.
    """
    import pandas as pd

    raw = read_columns(path, DEFENDANT_FILE, ["race", "sex", "age_cat", "decile_score", "two_year_recid"])
    return pd.DataFrame(
        {
            "race": raw["race"], "sex": raw["sex"], "age": raw["age_cat"],
            "recidivism": whole_numbers(raw, "two_year_recid"), "decile": whole_numbers(raw, "decile_score"),
        }
    )  # fmt: skip


def _shares(
    name: str, frame: pd.DataFrame, shares: tuple[float, ...], truth: tuple[str, str, float], by: tuple[str, ...],
    fewest: int,
) -> list[JointPopulation]:  # fmt: skip
    y_true, y_score, threshold = truth
    levels = {attribute: tuple(sorted(set(frame[attribute]))) for attribute in by}
    return [
        JointPopulation(
            f"{name} {share:.3g}", frame, levels, METRICS, rows=share_of(len(frame), share), design="independent",
            fewest=fewest, coverage_rows=COVERAGE_ROWS, coverage_count=COVERAGE_COUNT,
            y_true=y_true, y_score=y_score, threshold=threshold,
        )
        for share in shares
    ]  # fmt: skip
