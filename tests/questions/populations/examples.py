"""The worked example of all tests of targets: schools with an award, by type, and their numbers in the population."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr

import bayesgroups as bg

GOLDEN = Path(__file__).parents[2] / "golden" / "targets"
SCHOOLS = pd.DataFrame({"type": ["E", "H", "M"]})
POPULATION = SCHOOLS.assign(count=[4421, 755, 1018])
K, N = np.array([101, 9, 14]), np.array([142, 25, 33])
WEIGHTS = np.array([4421, 755, 1018]) / 6194
BOTH = pd.DataFrame({"type": ["E", "E", "H", "H", "M", "M"], "target": ["No", "Yes"] * 3})
MARGINS = {("type",): POPULATION, ("target",): pd.DataFrame({"target": ["No", "Yes"], "count": [1672, 4522]})}


def golden(section: str) -> Any:
    """Reference values of a section."""
    return json.loads((GOLDEN / "targets.json").read_text(encoding="utf-8"))[section]


def schools() -> xr.Dataset:
    """Tally of the sample of schools."""
    return bg.tally_from_counts(K, N, SCHOOLS, metric="acc")


def two_way() -> xr.Dataset:
    """Tally of the same schools by type and whether they met their target."""
    return bg.tally_from_counts([0, 101, 0, 9, 0, 14], [34, 108, 14, 11, 19, 14], BOTH, metric="acc")


def frequentist(report: xr.DataTree, target: str = "all", metric: int = 0) -> xr.Dataset:
    """Frequentist answer for a target, 95 % limits."""
    table = report["estimates"].to_dataset().sel(approach="frequentist", subgroup=target, level=0.95)
    return table.isel(metric=metric)


def limits(report: xr.DataTree, target: str = "all") -> list[float]:
    """Frequentist 95 % limits of a target."""
    table = frequentist(report, target)
    return [float(table["lower"]), float(table["upper"])]


def drawn_report(tally: xr.Dataset, prior: float = 0.5, seed: int = 1, draws: int = 25_000) -> xr.DataTree:
    """Report of independent Beta posteriors, Beta(prior, prior) beforehand, with many draws."""
    rng = np.random.default_rng(seed)
    k, n = tally["successes"].values[0], tally["count"].values[0]
    beta = rng.beta(k + prior, n - k + prior, (4, draws, len(k)))
    values = xr.DataArray(beta, dims=("chain", "draw", "subgroup"), coords={"subgroup": tally["subgroup"].values})
    return bg.interop.report_from_draws(tally, values, estimator="beta_binomial")


def posterior(report: xr.DataTree, target: str = "all") -> np.ndarray:
    """Draws of a target."""
    return np.asarray(report["posterior"].to_dataset()["mu"].sel(subgroup=target).isel(metric=0).values.ravel())
