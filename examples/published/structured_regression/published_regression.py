"""The resampling experiments of the structured-regression paper on the diabetes data, and on synthetic truths.

    python -m examples.published.structured_regression.published_regression --data FOLDER --output RESULTS \
        --page docs/examples/regression_paper.md

Herlihy, Truong, Chouldechova and Dudik (2024): 5,000 admissions are drawn again and again from those a risk model did not see;
standard estimates, James-Stein, empirical Bayes and structured regression answer, and are compared with the values of everybody.
The output folder keeps a record of every draw, so that an interrupted run goes on; the page holds the tables.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr

from bayesgroups.data.features import feature_matrix
from bayesgroups.data.metrics import Metric
from bayesgroups.datasets.synthetic import SyntheticModel, synthetic_metric
from bayesgroups.frequentist import complete_pooling, james_stein, no_pooling, partial_pooling, structured_regression
from bayesgroups.frequentist.structured import lasso
from bayesgroups.frequentist.structured.problems import metrics_of
from bayesgroups.studies.execution import HERE, Executor
from bayesgroups.studies.populations import Population
from bayesgroups.studies.resampling import Entry, study
from bayesgroups.studies.scores import measures
from examples import commands as command_line
from examples.comparisons.entrants import standard
from examples.comparisons.shared_cells import SEED, populations
from examples.pages import fill
from examples.records import write

PROGRAM = "python -m examples.published.structured_regression.published_regression"

COMPETITORS: Mapping[str, Entry] = {
    "standard": standard,
    "standard, own variance": partial(no_pooling.estimate, interval="separate_normal"),
    "James-Stein": james_stein.estimate,
    "empirical Bayes": partial(partial_pooling.estimate, interval="plug_in"),
    "empirical Bayes, Morris": partial_pooling.estimate,
    "structured regression": partial(structured_regression.estimate, seed=0),
    "structured regression, residuals": partial(structured_regression.estimate, seed=0, errors="residual"),
    "complete pooling": complete_pooling.estimate,
}
POINT = ("standard", "James-Stein", "empirical Bayes", "structured regression", "complete pooling")
"""Estimators whose points differ; the others have another interval."""
FRACTIONS = (1.0, 0.5, 0.25, 0.1, 0.05, 0.025, 0.01, 0.001)
"""Penalties of the bias-variance curve, as shares of the smallest one that keeps the intercept alone."""
SYNTHETIC: tuple[SyntheticModel, ...] = ("age", "expl", "age+rc", "age.rc")
MAX_ROWS_OF_SMALL_SUBGROUP = 25
DRAWS = (20, 100)


def synthetic_populations(diabetes: Population, admissions: pd.DataFrame) -> list[Population]:
    """Populations with the rows of the diabetes data and means of known structure.

    ``admissions`` has the columns that the truths depend on.
    """
    synthetic = []
    for model in SYNTHETIC:
        made = synthetic_metric(admissions, model, by=list(diabetes.by), seed=SEED)
        kind: Any = "mean" if model == "expl" else "rate"
        metric = Metric("value", value="value", kind=kind)
        frame = admissions[list(diabetes.by)].assign(value=made.values)
        synthetic.append(
            Population(
                f"synthetic {model}", frame, diabetes.by, (metric,), rows=diabetes.rows, design="stratified", fewest=1
            )
        )
    return synthetic


def penalty_curve(
    population: Population,
    draws: int,
    seed: int = SEED,
    *,
    fractions: Sequence[float] = FRACTIONS,
    executor: Executor = HERE,
) -> pd.DataFrame:
    """Squared bias, variance and mean squared error of the weighted lasso along its penalty.

    Parameters
    ----------
    population : Population
        Whose truth the errors are measured against.
    draws : int
        Evaluation sets.
    seed : int
        Source of randomness.
    fractions : sequence of float
        Penalties, as shares of the smallest one that keeps the intercept alone.
    executor : Executor
        Where evaluation sets are fitted, each of them a piece, and their errors kept.

    Returns
    -------
    pandas DataFrame
        Columns ``metric``, ``size_class`` (``small``: at most 25 rows in the draw), ``fraction``, ``squared_bias``, ``variance``
        and ``mse``, each relative to the mean squared error of the standard estimates of the same subgroups.
    """
    work = partial(_errors, population, population.truth(), seed, tuple(fractions))
    settings = {"seed": seed, "population": population.fingerprint(), "fractions": list(fractions)}
    each = executor.run(f"penalty curve, {population.name}", work, draws, settings=settings)
    rows, plain, errors = (np.array([answer[part] for answer in each]) for part in ("rows", "plain", "errors"))
    small = rows.mean(axis=0) <= MAX_ROWS_OF_SMALL_SUBGROUP
    lines = []
    for i, name in enumerate(population.metric_names):
        for size, members in (("small", small), ("large", ~small)):
            error = errors[:, i][..., members]
            # A subgroup that is never defined has no error to average.
            error = error[..., np.isfinite(error).any(axis=(0, 1))]
            reference = np.nanmean(plain[:, i][:, members] ** 2)
            bias = np.nanmean(np.nanmean(error, axis=0) ** 2, axis=-1)
            mse = np.nanmean(np.nanmean(error**2, axis=0), axis=-1)
            for j, fraction in enumerate(fractions):
                lines.append(
                    [name, size, fraction, bias[j] / reference, (mse[j] - bias[j]) / reference, mse[j] / reference]
                )
    return pd.DataFrame(lines, columns=["metric", "size_class", "fraction", "squared_bias", "variance", "mse"])


def _errors(
    population: Population, truth: xr.DataArray, seed: int, fractions: tuple[float, ...], draw: int
) -> dict[str, list[Any]]:
    """Rows (subgroup,) of one evaluation set, errors of standard estimates (metric, subgroup) and of the fits along the penalty."""
    tally = population.draw(draw, seed=seed, truth=truth).tally
    x = feature_matrix(tally, None).values
    plain, errors = [], []
    for metric, true_values in zip(metrics_of(tally), truth.values, strict=True):
        some = metric.w > 0
        largest = lasso.penalty_max(x[some], metric.z[some], metric.w[some])
        lines = [lasso.fit(x[some], metric.z[some], metric.w[some], largest * share) for share in fractions]
        fitted = np.stack([line.at(x) for line in lines])
        errors.append(np.where(some, fitted - true_values, np.nan).tolist())
        plain.append(np.where(some, metric.z - true_values, np.nan).tolist())
    return {"rows": tally["rows"].values.tolist(), "plain": plain, "errors": errors}


def run(data: Path, output: Path, draws: Sequence[int], *, executor: Executor = HERE) -> dict[str, pd.DataFrame]:
    """All tables by name, one experiment after the other.

    Parameters
    ----------
    data : Path
        The folder of `examples.comparisons.shared_cells.populations`.
    output : Path
        Where answers are kept, each experiment in a folder of its own.
    draws : sequence of int
        Numbers of evaluation sets; the penalty curve takes the largest, synthetic truths the smallest.
    executor : Executor
        Where evaluation sets are answered, and who is told.

    Returns
    -------
    dict of pandas DataFrame
    """
    from bayesgroups.datasets import load_diabetes
    from examples.comparisons.readmission import score_held_back
    from examples.comparisons.shared_cells import TRAINING_SEED

    diabetes = next(population for population in populations(data) if population.name == "diabetes")
    tables = {}
    for number in draws:
        each = study(
            diabetes, COMPETITORS, draws=number, seed=SEED, workers=executor.workers, folder=output / "diabetes",
            progress=executor.progress,
        )  # fmt: skip
        tables[f"diabetes {number}"] = measures(each, reference="standard")
    tables["penalty"] = penalty_curve(diabetes, max(draws), executor=replace(executor, folder=output / "penalty"))
    admissions = score_held_back(load_diabetes(data / "diabetes"), TRAINING_SEED)
    for population in synthetic_populations(diabetes, admissions):
        name = population.name.removeprefix("synthetic ")
        each = study(
            population, COMPETITORS, draws=min(draws), seed=SEED, workers=executor.workers,
            folder=output / population.name.replace(" ", "_"), progress=executor.progress,
        )  # fmt: skip
        tables[name] = measures(each, reference="standard")
    return tables


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the experiments, write their tables and fill in the numbers of the page."""
    from examples.published.structured_regression.published_regression_page import PAGE, numbers

    parser = argparse.ArgumentParser(prog=PROGRAM, description="Experiments of the structured-regression paper.")
    parser.add_argument("--data", type=Path, required=True, help="folder with diabetes")
    parser.add_argument("--output", type=Path, required=True, help="folder of the records and tables")
    parser.add_argument("--draws", type=int, nargs="+", default=list(DRAWS), help="numbers of draws")
    parser.add_argument("--page", type=Path, help="the page whose numbers are filled in")
    command_line.add_options(parser, checkpoints=False)
    given = parser.parse_args(arguments)
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ.setdefault(name, "1")
    with command_line.executor(given) as place:
        tables = run(given.data, given.output, sorted(given.draws), executor=place)
    for name, table in tables.items():
        write(given.output / f"{name.replace(' ', '_')}.csv", table.to_csv())
    made = numbers(tables, sorted(given.draws))
    sys.stdout.write("\n\n".join(made.values()) + "\n")
    if given.page is not None:
        fill(given.page, made, prose=PAGE)


if __name__ == "__main__":
    main()
