"""Subgroups that share clusters: which side of an estimator takes the covariance of their errors, and a note where none does."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from bayesgroups.errors import InputError

if TYPE_CHECKING:
    import xarray as xr

    from bayesgroups.estimators.base import Estimator
    from bayesgroups.inference.observed_nodes import ObservedNodes

Taken = Literal["neither", "bayesian", "both"]
"""Sides of an estimator that take the covariance of the errors of subgroups."""


def no_nodes() -> ObservedNodes:
    """The reason why subgroups that share clusters have no observed nodes."""
    from bayesgroups.inference.observed_nodes import ObservedNodes

    return ObservedNodes(
        (), "subgroups share clusters: their errors are correlated, so no subgroup has a likelihood of its own"
    )


def has_covariance(tally: xr.Dataset) -> bool:
    """True if the errors of the first metric of a tally are correlated between subgroups."""
    from bayesgroups.inference.correlated_errors import covariance_of

    return covariance_of(tally) is not None


def correlates(estimator: Estimator, tally: xr.Dataset) -> bool:
    """True if the Bayesian side of an estimator takes the errors of a tally with one metric for correlated."""
    return has_covariance(tally) and estimator.takes_covariance(tally) != "neither"


def refuse_sampling(estimator: Estimator, tally: xr.Dataset) -> None:
    """Refuse the PyMC model, which has independent errors, where they are correlated."""
    if correlates(estimator, tally):
        raise InputError(
            f"{type(estimator).__name__}: the PyMC model has independent errors, and subgroups of metric "
            f"{str(tally['metric'].values[0])!r} share clusters; use inference='collapsed', or a tally with "
            "shared_clusters='ignore'"
        )


def covariance_notes(tally: xr.Dataset, estimator: Estimator) -> list[str]:
    """Notes on metrics whose covariance an estimator leaves out; an error where its likelihood is of counts."""
    notes = []
    for i, name in enumerate(map(str, tally["metric"].values)):
        part = tally.isel(metric=[i])
        if not has_covariance(part):
            continue
        taken = estimator.takes_covariance(part)
        if (
            taken == "neither"
            and str(part["kind"].values[0]) == "rate"
            and not estimator.takes_variances_as_known(part)
        ):
            raise InputError(
                f"metric {name!r}: a binomial likelihood has no covariance of subgroups that share clusters; take "
                "likelihood='normal' where the estimator has it, the metric 'mean' of the column, or "
                "shared_clusters='ignore' in bg.tally()"
            )
        sides = {"neither": "both sides take", "bayesian": "the frequentist side takes", "both": ""}[taken]
        if sides:
            notes.append(f"{name}: subgroups share clusters, and {sides} their errors for independent")
    return notes
