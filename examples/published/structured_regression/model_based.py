"""Model-based metrics on the readmission study: errors, coverage and width of intervals beside the references.

    python -m examples.published.structured_regression.model_based --data FOLDER --output RESULTS

draws 20 evaluation sets of 5,000 admissions from the 73,988 held back, and writes one CSV file; with the same output folder it goes
on where it was.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
import xarray as xr

from bayesgroups.estimators import ModelBasedMetrics
from bayesgroups.frequentist import model_based_metrics
from bayesgroups.studies.populations import MAX_ROWS_OF_SMALL_SUBGROUP
from bayesgroups.studies.resampling import Entry, study
from examples.commands import add_options, executor
from examples.comparisons.entrants import competitors as shared_competitors
from examples.comparisons.shared_cells import DIABETES_DRAWS, SEED, populations
from examples.records import write

LEVEL = 0.95
REFERENCES = ("standard", "js", "eb_plug_in", "eb_morris", "sr", "suremap", "crossed_effects")
"""Estimators of the shared study; the standard estimate comes first, as everything is relative to it."""
PROGRAM = "python -m examples.published.structured_regression.model_based"
RECORD = "model_based_metrics.csv"


def competitors() -> dict[str, Entry]:
    """The estimators of the study.

    Returns
    -------
    dict
        References of the shared study and ``crossed_effects``, the word with the smallest errors there; ``mbm_normal``, the
        bootstrapped score regression with normal errors; and ``mbm``, both sides of the word.

    Examples
    --------
    >>> list(competitors())[-2:]
    ['mbm_normal', 'mbm']
    """
    shared = shared_competitors()
    return {
        **{name: shared[name] for name in REFERENCES},
        "mbm_normal": partial(model_based_metrics.estimate, residuals="normal"),
        "mbm": ModelBasedMetrics(),
    }


def table(answers: xr.Dataset) -> pd.DataFrame:
    """Errors and intervals by estimator, metric and size of the subgroup.

    Parameters
    ----------
    answers : xr.Dataset
        From `bayesgroups.studies.resampling.study`.

    Returns
    -------
    pandas DataFrame
        Columns ``estimator``, ``metric``, ``subgroups`` (``all``, ``small`` for 25 rows or fewer, or ``known`` for those
        whose value in the population stands for the superpopulation's), ``mae`` and its ``ratio`` to the standard
        estimate, ``bias`` (mean error, weighted by rows), ``coverage`` and ``width`` of 95 % intervals clipped to the
        range, over pairs of draw and subgroup where truth, standard estimate and answer are defined.
    """
    truth = answers["truth"].transpose("metric", "subgroup").values
    rows = answers["rows"].transpose("draw", "subgroup").values
    defined = np.isfinite(truth) & np.isfinite(answers["standard"].transpose("draw", "metric", "subgroup").values)
    covers = answers["covers"].transpose("metric", "subgroup").values.astype(bool)
    low, high = (answers[f"range_{side}"].values[:, None] for side in ("lower", "upper"))
    at_level = answers.sel(level=LEVEL)
    lines = []
    errors: dict[tuple[str, str], float] = {}
    for name in (str(label) for label in answers["estimator"].values):
        estimate, lower, upper = (
            at_level[part].sel(estimator=name).transpose("draw", "metric", "subgroup").values
            for part in ("estimate", "lower", "upper")
        )
        lower, upper = np.clip(lower, low, high), np.clip(upper, low, high)
        for i, metric in enumerate(str(label) for label in answers["metric"].values):
            classes = {"all": rows >= 0, "small": rows <= MAX_ROWS_OF_SMALL_SUBGROUP, "known": covers[i]}
            for which, wanted in classes.items():
                use = defined[:, i] & wanted & np.isfinite(estimate[:, i])
                gap = (estimate[:, i] - truth[i])[use]
                inside = (lower[:, i] <= truth[i]) & (truth[i] <= upper[:, i])
                mae = float(np.abs(gap).mean())
                errors.setdefault((metric, which), mae)  # the standard comes first
                lines.append(
                    {
                        "estimator": name, "metric": metric, "subgroups": which, "pairs": int(use.sum()), "mae": mae,
                        "ratio": mae / errors[metric, which], "bias": float(np.average(gap, weights=rows[use])),
                        "coverage": float(inside[use].mean()), "width": float((upper - lower)[:, i][use].mean()),
                    }
                )  # fmt: skip
    return pd.DataFrame(lines)


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the study and write its table."""
    parser = argparse.ArgumentParser(prog=PROGRAM, description="Model-based metrics on the readmission study.")
    parser.add_argument("--data", type=Path, required=True, help="folder with the folder diabetes")
    parser.add_argument("--output", type=Path, required=True, help="folder of records and of the table")
    parser.add_argument("--draws", type=int, default=DIABETES_DRAWS)
    add_options(parser, checkpoints=False)
    given = parser.parse_args(arguments)
    population, folder = populations(given.data)[0], given.output / "records"
    with executor(given) as run:
        answers = study(
            population,
            competitors(),
            draws=given.draws,
            seed=SEED,
            workers=run.workers,
            folder=folder,
            progress=run.progress,
        )
    usable = answers["usable"].sel(estimator="mbm (bayesian)").values
    place = given.output / RECORD
    write(place, table(answers).to_csv(index=False, float_format="%.4f", lineterminator="\n"))
    print(f"{place}: {len(usable)} draws, {int(usable.sum())} usable fits")


if __name__ == "__main__":
    main()
