"""Exact fits of the metrics of a tally, on as many threads as there are processors where the engine allows it."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING

import xarray as xr

from bayesgroups.data.threads import side_by_side
from bayesgroups.estimators.base import Estimator

if TYPE_CHECKING:
    from bayesgroups.report.posterior import Posterior

MAX_SUBGROUPS_IN_THREADS = 1000
"""Most subgroups of a metric that is fitted beside others: each fit has the memory of its draws for itself."""


@contextmanager
def exact_fits(tallies: Sequence[xr.Dataset], estimator: Estimator, seed: int) -> Iterator[Iterator[Posterior | None]]:
    """Exact posteriors of tallies of one metric each, in their order, or ``None`` where there is no exact engine.

    A fit depends on its tally and the seed alone, so that threads change no byte. NumPy computes without the interpreter's
    lock for most of the time of an engine that declares ``in_threads``; the others, and metrics with more than
    `MAX_SUBGROUPS_IN_THREADS`, are fitted one by one, when they are asked for. An error is raised where the fit is asked for.
    """
    small = all(tally.sizes["subgroup"] <= MAX_SUBGROUPS_IN_THREADS for tally in tallies)
    threads = min(len(tallies), os.cpu_count() or 1) if small and estimator.in_threads else 1
    with side_by_side([partial(estimator.collapsed, tally, seed=seed) for tally in tallies], threads) as fits:
        yield fits
