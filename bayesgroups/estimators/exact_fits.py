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


@contextmanager
def exact_fits(
    tally: xr.Dataset, parts: Sequence[xr.Dataset], estimator: Estimator, seed: int
) -> Iterator[tuple[xr.Dataset, Iterator[Posterior | None]]]:
    """The reference of a tally, and exact posteriors of its parts in their order, ``None`` where there is no exact engine.

    A fit depends on its tally and the seed alone, so that threads change no byte. Metrics with more subgroups than the
    estimator declares as ``subgroups_in_threads``, and a metric alone, are fitted one by one, when they are asked for. An error
    is raised where the fit is asked for, that of the reference at once.
    """
    several = len(parts) > 1 and tally.sizes["subgroup"] <= estimator.subgroups_in_threads
    both: list[Callable[[], Any]] = [partial(estimator.reference, tally, seed=seed)]
    both += [partial(estimator.collapsed, part, seed=seed) for part in parts]
    threads = min(len(both), os.cpu_count() or 1) if several else 1
    with side_by_side(both, threads) as results:
        with errors_of_models():
            reference = next(results)
        yield reference, results
