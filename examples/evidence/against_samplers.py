"""Posterior means of other samplers, stored below ``tests/golden`` with their scripts, beside ours under the same priors."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import pandas as pd

import bayesgroups as bg
from bayesgroups.data.arrays import FloatArray
from examples.evidence.comparison import GOLDEN, Pair, golden

CELLS: Any = pd.read_csv(GOLDEN / "multilevel" / "mrp.csv")
LEVELS = (0.025, 0.975)


@dataclass(frozen=True)
class Summary:
    """Mean and limits (cell, 3) of every cell, and last of the population; the Monte Carlo error (cell,) of the mean."""

    value: FloatArray
    error: FloatArray


@cache
def same_priors() -> Summary:
    """Ours with half-t priors of scale 1 for all three standard deviations, the scale of the stored values."""
    from arviz_stats.base.array import array_stats

    statistics: Any = array_stats  # arviz-stats is typed in part
    tally = bg.tally_from_counts(CELLS["k"], CELLS["n"], CELLS[["race", "sex"]], metric="sel")
    report: Any = bg.estimate(tally, bg.CrossedEffects(tau_scale=1.0, own_effects="learned"), seed=1)
    mu = report["posterior"].to_dataset()["mu"].isel(metric=0).values
    census = CELLS["count"].to_numpy(dtype=float)
    draws = np.concatenate([mu, (mu @ census / census.sum())[..., None]], axis=-1)
    flat = draws.reshape(-1, draws.shape[-1])
    effective = statistics.ess(draws, 0, 1, method="mean")
    return Summary(
        np.column_stack([flat.mean(axis=0), np.quantile(flat, LEVELS, axis=0).T]), flat.std(axis=0) / effective**0.5
    )


def rstanarm() -> Summary:
    """The draws of rstanarm, weighted for those priors."""
    stored = golden("multilevel/mrp.json")["same_prior"]
    return Summary(np.array(stored["value"]), np.array(stored["error"])[:, 0])


def means_of_rstanarm() -> Pair:
    """Posterior means of eight cells, one without rows, and of the population."""
    return same_priors().value[:, 0], rstanarm().value[:, 0]


def brms() -> Summary:
    """The draws of brms, which has those priors."""
    stored = golden("multilevel/mrp_brms.json")
    return Summary(np.array(stored["value"]), np.array(stored["error"])[:, 0])


def means_of_brms() -> Pair:
    """Posterior means of eight cells, one without rows, and of the population."""
    return same_priors().value[:, 0], brms().value[:, 0]


def means_of_bambi() -> Pair:
    """Posterior means of the seven cells with rows."""
    seen = np.flatnonzero(CELLS["n"] > 0)
    return same_priors().value[seen, 0], np.array(golden("multilevel/bambi.json")["mean"])
