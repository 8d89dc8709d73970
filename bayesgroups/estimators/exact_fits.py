"""Reference of a tally and exact fits of its metrics, on as many processors as there are where the engine allows it."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
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

    A fit depends on its tally and the seed alone, so that neither threads nor processes change a byte. The reference and the fits
    of several metrics run on threads up to as many subgroups as the estimator declares as ``subgroups_in_threads``; those of any
    number of metrics run on processes up to ``subgroups_in_processes``; and else one by one, when they are asked for. An error is
    raised where the fit is asked for, that of the reference at once.
    """
    subgroups = tally.sizes["subgroup"]
    both: list[Callable[[], Any]] = [partial(_reference, estimator, tally, seed)]
    both += [partial(_posterior, estimator, part, seed) for part in parts]
    on_threads = len(parts) > 1 and subgroups <= estimator.subgroups_in_threads
    threads = min(len(both), os.cpu_count() or 1) if on_threads else 1
    in_processes = not on_threads and subgroups <= estimator.subgroups_in_processes
    with _on_processors(both) if in_processes else side_by_side(both, threads) as results:
        reference = next(results)
        yield reference, results


def _on_processors(calls: Sequence[Callable[[], Any]]) -> AbstractContextManager[Iterator[Any]]:
    from bayesgroups.data.processes import on_processors  # what it imports takes as long as a small fit

    return on_processors(calls)


def _reference(estimator: Estimator, tally: xr.Dataset, seed: int) -> xr.Dataset:
    with errors_of_models():  # which are told by their frames: those do not come from another process
        return estimator.reference(tally, seed=seed)


def _posterior(estimator: Estimator, part: xr.Dataset, seed: int) -> Posterior | None:
    with errors_of_models():
        return estimator.collapsed(part, seed=seed)
