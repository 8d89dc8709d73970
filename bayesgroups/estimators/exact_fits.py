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
    of several metrics run on threads up to as many subgroups as the estimator declares as ``subgroups_in_threads``; else on
    processes, where it is ``in_processes`` and draws are few enough to be sent; and else one by one, when they are asked for. An
    error is raised where the fit is asked for, that of the reference at once.
    """
    both: list[Callable[[], Any]] = [partial(_reference, estimator, tally, seed)]
    both += [partial(exact_fit, estimator, part, seed) for part in parts]
    with _side_by_side(both, tally.sizes["subgroup"], estimator) as results:
        reference = next(results)
        yield reference, results


def _side_by_side(
    both: Sequence[Callable[[], Any]], subgroups: int, estimator: Estimator
) -> AbstractContextManager[Iterator[Any]]:
    """Results of the reference and of fits, on threads, on processes or one by one."""
    if len(both) > 2 and subgroups <= estimator.subgroups_in_threads:  # several metrics
        return side_by_side(both, min(len(both), os.cpu_count() or 1))
    if estimator.in_processes:
        from bayesgroups.data.processes import MAX_SUBGROUPS, on_processors  # imports as long as a small fit

        if subgroups <= MAX_SUBGROUPS:
            return on_processors(both)
    return side_by_side(both, 1)


def _reference(estimator: Estimator, tally: xr.Dataset, seed: int) -> xr.Dataset:
    with errors_of_models():  # which are told by their frames: those do not come from another process
        return estimator.reference(tally, seed=seed)


def exact_fit(estimator: Estimator, part: xr.Dataset, seed: int) -> Posterior | None:
    """The exact posterior of a part, if there is such an engine."""
    with errors_of_models():
        return estimator.collapsed(part, seed=seed)
