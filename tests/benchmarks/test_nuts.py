"""NUTS of every model on the demonstration and on the COMPAS table: divergences, and effective draws per second.

Run with ``pytest -m benchmark -s``. nutpie samples the compiled model with the settings of `bayesgroups.estimate`: four chains of
1,000 draws after 1,000 of warm-up, two at a time. Compilation takes longer than sampling, and is measured apart.
"""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Any

import pytest
import xarray as xr

import bayesgroups as bg
from bayesgroups.estimators import Estimator
from examples.published.data import load_compas
from tests.benchmarks.table import Row, Table

pytestmark = pytest.mark.benchmark

BAR = 100.0
REPETITIONS = 5
ESTIMATORS: list[Estimator] = [
    bg.NoPooling(), bg.CompletePooling(), bg.PartialPooling(), bg.JamesStein(), bg.CrossedEffects(),
    bg.StructuredRegression(), bg.ModelBasedMetrics(), bg.ConfusionModel(), bg.DisagreementModel(),
]  # fmt: skip
BY = ["race", "sex", "age_band"]


def demonstration_tally(estimator: Estimator) -> xr.Dataset:
    """What the estimator takes of the rows of the demonstration."""
    demonstration = bg.datasets.demonstration()
    rows: dict[str, Any] = {"y_true": "readmitted", "y_score": "score", "threshold": demonstration.threshold}
    if isinstance(estimator, bg.ModelBasedMetrics):
        return bg.tally(demonstration.rows, demonstration.by, ["tpr", "fpr", "auc"], **rows)
    confusion = isinstance(estimator, bg.ConfusionModel)
    return bg.tally(demonstration.rows, demonstration.by, ["tpr", "fpr"][: 1 + confusion], confusion=confusion, **rows)


def compas_tally(estimator: Estimator) -> xr.Dataset:
    """What the estimator takes of 7,214 defendants; a critic disagrees where the prediction was wrong."""
    root = Path(os.environ.get("BAYESGROUPS_DATA", Path(__file__).parents[3] / "shared" / "data"))
    if not (root / "compas").is_dir():
        pytest.skip(f"no COMPAS data below {root}; set BAYESGROUPS_DATA to its folder")
    rows = load_compas(root / "compas")
    if isinstance(estimator, bg.DisagreementModel):
        return bg.disagreement_tally(rows, BY, label="recidivism", disagrees="error")
    if isinstance(estimator, bg.ModelBasedMetrics):
        metrics = ["tpr", "fpr", "auc"]
        return bg.tally(rows, BY, metrics, y_true="recidivism", y_score="decile_score", threshold=5)
    confusion = isinstance(estimator, bg.ConfusionModel)
    metrics = ["tpr", "fpr"][: 1 + confusion]
    return bg.tally(rows, BY, metrics, y_true="recidivism", y_pred="predicted", confusion=confusion)


def sampled(estimator: Estimator, tally: xr.Dataset, what: str, table: Table) -> None:
    import arviz as az
    import nutpie

    from bayesgroups.inference.nuts import CORES, parameters_of

    start = time.perf_counter()
    model = estimator.model(tally)
    compiled = nutpie.compile_pymc_model(model)
    settings: dict[str, Any] = {"chains": 4, "cores": CORES, "target_accept": 0.9, "progress_bar": False}
    nutpie.sample(compiled, draws=10, tune=10, seed=0, **settings)
    compilation = time.perf_counter() - start
    kept, rates = parameters_of(model), []
    for seed in range(1, REPETITIONS + 1):
        start = time.perf_counter()
        tree = nutpie.sample(compiled, draws=1000, tune=1000, seed=seed, **settings)
        seconds = time.perf_counter() - start
        assert not tree["sample_stats"]["diverging"].any()
        posterior = tree["posterior"].to_dataset()[kept]
        rates.append(min(float(values.min()) for values in az.ess(posterior).data_vars.values()) / seconds)
    note = f"{tally.sizes['subgroup']} subgroups; compilation {compilation:.0f} s"
    table.add(
        Row(
            f"{type(estimator).__name__}, {what}: effective draws per second by NUTS",
            "-",
            tuple(rates),
            "",
            BAR,
            note=note,
        )
    )


@pytest.mark.parametrize("estimator", ESTIMATORS[:-1], ids=lambda each: type(each).__name__)
def test_the_demonstration_is_sampled_without_divergences(estimator: Estimator, table: Table) -> None:
    sampled(estimator, demonstration_tally(estimator), "demonstration", table)


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda each: type(each).__name__)
def test_defendants_are_sampled_without_divergences(estimator: Estimator, table: Table) -> None:
    sampled(estimator, compas_tally(estimator), "COMPAS", table)
