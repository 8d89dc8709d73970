"""Intervals at every level, squared errors, and model-based metrics with clinical features, on the diabetes data.

    python -m examples.published.structured_regression.levels --data FOLDER --output RESULTS \
        --record docs/examples/regression_levels.csv

Figures 1, 2, 4 and 6 of Herlihy, Truong, Chouldechova and Dudik (2024). The output folder keeps the answers of every draw, so that
an interrupted run goes on; ``regression_forest.csv`` and ``regression_penalty.csv`` are written beside the record. The page is made
from these by ``examples.published.structured_regression.levels_page``.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
import xarray as xr

from bayesgroups.datasets import load_diabetes
from bayesgroups.frequentist import model_based_metrics, no_pooling, partial_pooling, structured_regression
from bayesgroups.frequentist.answer import assemble
from bayesgroups.frequentist.intervals.interval import Interval
from bayesgroups.inference.bootstrap import replicates
from bayesgroups.report.levels import LEVELS
from bayesgroups.studies.populations import Population
from bayesgroups.studies.resampling import Entry, study
from bayesgroups.studies.scores import SIZE_CLASSES, cell_sums
from bayesgroups.tallies import tally
from examples import commands as command_line
from examples.comparisons.entrants import standard
from examples.comparisons.readmission import score_held_back
from examples.comparisons.shared_cells import SEED, TRAINING_SEED, populations
from examples.published.structured_regression.published_goodness import FEATURES
from examples.published.structured_regression.published_regression import penalty_curve
from examples.records import as_csv, write

PROGRAM = "python -m examples.published.structured_regression.levels"
CLINICAL = FEATURES[:5]
"""The five clinical features of an admission."""
ATTRIBUTES = "race + gender + age"
FRACTIONS = (1.0, 0.7, 0.5, 0.35, 0.25, 0.18, 0.1, 0.05, 0.025, 0.01, 0.001)
"""Penalties of figure 2, as shares of the smallest one that keeps the intercept alone."""
SHOWN = ("standard", "model-based, clinical", "structured regression")
"""Figure 1."""


class ClinicalPopulation(Population):
    """A population whose tallies also keep the clinical features, by row and as means of subgroups."""

    def _outcomes(self) -> tuple[str, ...]:
        return (*super()._outcomes(), *CLINICAL, "not_readmitted")

    def tally(self, frame: pd.DataFrame) -> xr.Dataset:
        """Tally of rows with their features."""
        return tally(
            frame, by=self.by, metrics=self.metrics, y_true=self.y_true, y_score=self.y_score, threshold=self.threshold,
            features=FEATURES, row_covariates=CLINICAL,
        )  # fmt: skip


def percentiles(counts: xr.Dataset) -> xr.Dataset:
    """The standard estimate with the percentiles of 2,000 bootstrap samples of each subgroup's rows."""
    drawn = replicates(counts, seed=0)["mu"].isel(chain=0).transpose("draw", "metric", "subgroup").values
    estimate = counts["estimate"].transpose("metric", "subgroup").values
    nothing = np.where(np.isfinite(estimate), 0.0, np.nan)
    kept = np.where(np.isfinite(estimate), drawn, 0.0)
    intervals = [
        Interval(*(np.nanquantile(kept, tail, axis=0) + nothing for tail in ((1 - level) / 2, (1 + level) / 2)))
        for level in LEVELS
    ]
    std_error = np.nanstd(kept, axis=0) + nothing
    methods = ["percentile"] * len(estimate)
    return assemble(counts, estimate=estimate, std_error=std_error, intervals=intervals, methods=methods)


COMPETITORS: Mapping[str, Entry] = {
    "standard": standard,
    "standard, own variance": partial(no_pooling.estimate, interval="separate_normal"),
    "standard, bootstrap percentiles": percentiles,
    "empirical Bayes, Morris": partial_pooling.estimate,
    "structured regression": partial(structured_regression.estimate, formula=ATTRIBUTES, seed=0),
    "structured regression, residuals": partial(
        structured_regression.estimate, formula=ATTRIBUTES, seed=0, errors="residual"
    ),
    "structured regression, clinical": partial(structured_regression.estimate, seed=0),
    "model-based, attributes": partial(model_based_metrics.estimate, residuals="normal"),
    "model-based, warped": partial(model_based_metrics.estimate, residuals="skewed"),
    "model-based, clinical": partial(model_based_metrics.estimate, row_covariates=CLINICAL),
}
"""``clinical``: with the five clinical features, of rows or as means of subgroups (and there the outcome rates)."""


@dataclass(frozen=True)
class Line:
    """One interval, metric, size of subgroup and level; errors are those of the estimate, at every level the same."""

    estimator: str
    metric: str
    subgroups: str
    level: float
    coverage: float
    coverage_se: float
    width: float
    relative_width: float
    mae: float
    mse: float
    mse_se: float


@dataclass(frozen=True)
class ForestLine:
    """Estimate and 95 % interval of one subgroup in the first draw, and its value among all admissions."""

    metric: str
    subgroup: str
    rows: int
    truth: float
    estimator: str
    estimate: float
    lower: float
    upper: float


@dataclass(frozen=True)
class PenaltyLine:
    """Errors along the penalty, relative to the mean squared error of the standard estimates."""

    metric: str
    subgroups: str
    fraction: float
    squared_bias: float
    variance: float
    mse: float


def clinical_population(data: Path) -> ClinicalPopulation:
    """The 73,988 admissions of the shared study, drawn as there, with their clinical features."""
    base = populations(data)[0]
    admissions = score_held_back(load_diabetes(data / "diabetes"), TRAINING_SEED)
    settings = {name: getattr(base, name) for name in base.__dataclass_fields__}
    settings["frame"] = admissions.assign(not_readmitted=1 - admissions["readmitted"])
    return ClinicalPopulation(**settings)


def lines_of(answers: xr.Dataset) -> list[Line]:
    """Coverage at every level and errors, means over pairs of draw and subgroup with Monte Carlo errors over draws.

    Coverage counts all subgroups with a value among all admissions, as the paper does.
    """
    everywhere = answers.drop_vars("covers")
    lines = []
    for level in answers["level"].values.tolist():
        sums = cell_sums(everywhere, reference="standard", level=level)
        for name in answers["estimator"].values.tolist():
            for metric in answers["metric"].values.tolist():
                for size in SIZE_CLASSES:
                    at = sums.sel(estimator=name, metric=metric, size_class=size)
                    pairs = at["pairs"].values
                    mean = {key: float(at[key].sum()) / float(pairs.sum()) for key in sums.data_vars if key != "pairs"}
                    errors = {key: _error(at[key].values, pairs) for key in ("coverage", "rmse")}
                    lines.append(
                        Line(
                            name, metric, size, level, mean["coverage"], errors["coverage"], mean["width"],
                            mean["relative_width"], mean["mae"], mean["rmse"], errors["rmse"],
                        )
                    )  # fmt: skip
    return lines


def _error(sums: np.ndarray, pairs: np.ndarray) -> float:
    """Standard error of a ratio of sums over independent draws."""
    number = len(sums)
    if number < 2:
        return float("nan")
    residual = sums - pairs * sums.sum() / pairs.sum()
    return float(np.sqrt(number / (number - 1) * (residual**2).sum()) / pairs.sum())


def forest_lines(answers: xr.Dataset) -> list[ForestLine]:
    """Figure 1, from the first draw."""
    first = answers.isel(draw=0).sel(level=0.95)
    lines = []
    for metric in first["metric"].values.tolist():
        low, high = (float(first[f"range_{end}"].sel(metric=metric)) for end in ("lower", "upper"))
        for subgroup in first["subgroup"].values.tolist():
            cell = first.sel(metric=metric, subgroup=subgroup)
            for name in SHOWN:
                estimate, lower, upper = (
                    float(cell[part].sel(estimator=name)) for part in ("estimate", "lower", "upper")
                )
                lines.append(
                    ForestLine(
                        metric, str(subgroup), int(cell["rows"]), float(cell["truth"]), name, estimate,
                        float(np.clip(lower, low, high)), float(np.clip(upper, low, high)),
                    )
                )  # fmt: skip
    return lines


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the study and write its records."""
    parser = argparse.ArgumentParser(
        prog=PROGRAM, description="Intervals of the structured-regression paper at all levels."
    )
    parser.add_argument("--data", type=Path, required=True, help="folder with diabetes")
    parser.add_argument("--output", type=Path, required=True, help="folder of the answers of every draw")
    parser.add_argument("--record", type=Path, required=True, help="the CSV file to write")
    parser.add_argument("--draws", type=int, default=20, help="evaluation sets of intervals and errors")
    parser.add_argument("--penalty-draws", type=int, default=100, help="evaluation sets along the penalty")
    command_line.add_options(parser, checkpoints=False)
    given = parser.parse_args(arguments)
    population = clinical_population(given.data)
    with command_line.executor(given) as place:
        answers = study(
            population, COMPETITORS, draws=given.draws, seed=SEED, workers=place.workers, folder=given.output / "levels",
            progress=place.progress,
        )  # fmt: skip
        curve = penalty_curve(
            populations(given.data)[0], given.penalty_draws, fractions=FRACTIONS,
            executor=replace(place, folder=given.output / "penalty"),
        )  # fmt: skip
    write(given.record, as_csv(lines_of(answers)))
    write(given.record.with_name("regression_forest.csv"), as_csv(forest_lines(answers)))
    points = [
        PenaltyLine(str(metric), str(size), *(float(number) for number in part))
        for metric, size, *part in curve.to_numpy().tolist()
    ]
    write(given.record.with_name("regression_penalty.csv"), as_csv(points))


if __name__ == "__main__":
    main()
