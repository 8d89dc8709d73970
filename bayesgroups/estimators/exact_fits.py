"""Reference of a tally and exact fits of its metrics, on as many threads as there are processors where the engine allows it."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any

import xarray as xr

from bayesgroups.data.threads import side_by_side
from bayesgroups.estimators.base import Estimator
from bayesgroups.estimators.model_errors import errors_of_models

if TYPE_CHECKING:
    from bayesgroups.report.posterior import Posterior

MAX_SUBGROUPS_IN_THREADS = 1000
"""Most subgroups of a metric that is fitted beside others: each fit has the memory of its draws for itself."""


@contextmanager
def exact_fits(
    tally: xr.Dataset, parts: Sequence[xr.Dataset], estimator: Estimator, seed: int
) -> Iterator[tuple[xr.Dataset, Iterator[Posterior | None]]]:
    """The reference of a tally, and exact posteriors of its parts in their order, ``None`` where there is no exact engine.

    A fit depends on its tally and the seed alone, so that threads change no byte. NumPy computes without the interpreter's
    lock for most of the time of an engine that declares ``in_threads``, and of references with large matrices, so that one and
    the other run beside each other. Other engines, a metric alone, and metrics with more than `MAX_SUBGROUPS_IN_THREADS` are
    fitted one by one, when they are asked for. An error is raised where the fit is asked for, that of the reference at once.
    """
    several = len(parts) > 1 and all(part.sizes["subgroup"] <= MAX_SUBGROUPS_IN_THREADS for part in parts)
    both: list[Callable[[], Any]] = [partial(estimator.reference, tally, seed=seed)]
    both += [partial(estimator.collapsed, part, seed=seed) for part in parts]
    threads = min(len(both), os.cpu_count() or 1) if several and estimator.in_threads else 1
    with side_by_side(both, threads) as results:
        with errors_of_models():
            reference = next(results)
        yield reference, results
