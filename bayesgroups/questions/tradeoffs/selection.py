"""Selecting one model on development data, with its scores on test data."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import xarray as xr

from bayesgroups.data.keywords import checked_keywords
from bayesgroups.errors import InputError, near_misses
from bayesgroups.questions.tradeoffs.criteria import Rule, choose, parse
from bayesgroups.questions.tradeoffs.distances import check_dominates, distance
from bayesgroups.questions.tradeoffs.points import goals, mean_points, pair, read_points, without_unknown

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class Selection:
    """The model that a criterion selects.

    Attributes
    ----------
    candidate, criterion : str
    threshold : float
        Least value of the constrained goal; NaN without a constraint.
    feasible : bool
        False where no candidate met the threshold and the criterion was applied without it.
    performance, fairness, dto : float
        On development data; means over draws.
    test_performance, test_fairness, test_dto : float
        On test data; NaN without.
    probability : float
        Share of draws of the development data in which the criterion selects this candidate; NaN without draws.
    regret : float
        Mean over draws of its distance less the smallest of the draw; NaN without draws.
    """

    candidate: str
    criterion: str
    threshold: float
    feasible: bool
    performance: float
    fairness: float
    dto: float
    test_performance: float = np.nan
    test_fairness: float = np.nan
    test_dto: float = np.nan
    probability: float = np.nan
    regret: float = np.nan


@checked_keywords
def select_model(
    points: pd.DataFrame | xr.Dataset,
    criterion: str = "DTO",
    *,
    test: pd.DataFrame | xr.Dataset | None = None,
    vanilla: str | tuple[float, float] | None = None,
    threshold: float | None = None,
    utopia: tuple[float, float] = (1.0, 1.0),
    fallback: bool = False,
) -> Selection | None:
    """Select one candidate on development data.

    Parameters
    ----------
    points : pandas DataFrame or xr.Dataset
        ``performance`` and ``fairness`` on development data, all candidates. With draws, their means decide.
    criterion : str
        ``DTO`` (smallest distance to the ideal point), ``P`` (largest performance), ``F`` (largest fairness), ``P@F+5%``
        (largest performance with at least the fairness of the plain model and 5 points), ``F@P-10%`` (largest fairness with
        at least the performance of the plain model less 10 points); any percentage.
    test : pandas DataFrame or xr.Dataset, optional
        The same candidates on test data; looked at after the selection only.
    vanilla : str or (performance, fairness), optional
        The plain model, for criteria with a percentage: a candidate, or its values on development data.
    threshold : float, optional
        Least value of the constrained goal, instead of the plain model and the percentage.
    utopia : (performance, fairness)
        The ideal point of distances.
    fallback : bool
        Where no candidate meets the threshold, apply the criterion without it.

    Returns
    -------
    Selection or None
        None where no candidate meets the threshold. Of equal candidates the better in the other goal, then the first.

    Raises
    ------
    InputError
        If the points cannot be read, the criterion is unknown, the plain model is missing or unknown or not needed, the test
        data lack the selected candidate, or a candidate lies beyond the ideal point.

    Warns
    -----
    UserWarning
        If no candidate meets the threshold, or a candidate has NaN and is left out.

    References
    ----------
    Han, Baldwin, Cohn (2023), https://doi.org/10.18653/v1/2023.eacl-main.23, section 4.5. Its pipeline keeps candidates
    that are efficient on the test set before it selects, and takes all of them where none is feasible; this does neither.

    Examples
    --------
    >>> import pandas as pd
    >>> import bayesgroups as bg
    >>> dev = pd.DataFrame(
    ...     {"performance": [0.82, 0.79, 0.74, 0.68], "fairness": [0.58, 0.64, 0.75, 0.80]}, index=["plain", "a", "b", "c"]
    ... )
    >>> bg.select_model(dev).candidate, bg.select_model(dev, "P@F+5%", vanilla="plain").candidate
    ('b', 'a')
    """
    rule = parse(criterion)
    table = without_unknown(read_points(points))
    means = mean_points(table)
    performance, fairness = goals(means)
    ideal = pair(utopia, "utopia")
    check_dominates(ideal, performance, fairness)
    least = _least(rule, criterion, means, vanilla, threshold)
    place = int(choose(performance, fairness, rule, least=least, utopia=ideal))
    feasible = place >= 0
    if not feasible:
        lacking = f"no candidate has {rule.other} of at least {least:g}, which criterion {criterion!r} asks for"
        if not fallback:
            warnings.warn(f"{lacking}: nothing is selected; fallback=True selects without that", stacklevel=2)
            return None
        warnings.warn(f"{lacking}: selected without that", stacklevel=2)
        least = -np.inf
        place = int(choose(performance, fairness, rule, least=least, utopia=ideal))
    name = str(means["candidate"].values[place])
    apart = distance(performance, fairness, ideal)
    return Selection(
        candidate=name,
        criterion=criterion,
        threshold=float(least) if np.isfinite(least) else np.nan,
        feasible=feasible,
        performance=float(performance[place]),
        fairness=float(fairness[place]),
        dto=float(apart[place]),
        **_on_test(test, name, ideal),
        **_over_draws(table, rule, place, least, ideal),
    )


def _least(
    rule: Rule, criterion: str, means: xr.Dataset, vanilla: str | tuple[float, float] | None, threshold: float | None
) -> float:
    if rule.margin is None:
        if vanilla is not None or threshold is not None:
            raise InputError(f"criterion {criterion!r} has no constraint; leave vanilla= and threshold= out")
        return -np.inf
    if (vanilla is None) == (threshold is None):
        raise InputError(f"criterion {criterion!r} needs either vanilla=, the plain model, or threshold=")
    if threshold is not None:
        if not np.isfinite(threshold):
            raise InputError(f"threshold={threshold} must be a finite number")
        return float(threshold)
    if isinstance(vanilla, str):
        names = means["candidate"].values.tolist()
        if vanilla not in names:
            raise InputError(f"vanilla={vanilla!r} is no candidate; {near_misses(vanilla, names)}")
        plain = float(means[rule.other].values[names.index(vanilla)])
    else:
        values = pair(vanilla if vanilla is not None else (np.nan, np.nan), "vanilla")
        plain = values[0 if rule.other == "performance" else 1]
    return plain + rule.margin


def _on_test(test: pd.DataFrame | xr.Dataset | None, name: str, utopia: tuple[float, float]) -> dict[str, float]:
    if test is None:
        return {}
    table = mean_points(read_points(test))
    names = table["candidate"].values.tolist()
    if name not in names:
        raise InputError(f"test lacks candidate {name!r}, which was selected; {near_misses(name, names)}")
    performance, fairness = (values[names.index(name)] for values in goals(table))
    check_dominates(utopia, performance, fairness)
    apart = float(distance(performance, fairness, utopia))
    return {"test_performance": float(performance), "test_fairness": float(fairness), "test_dto": apart}


def _over_draws(
    table: xr.Dataset, rule: Rule, place: int, least: float, utopia: tuple[float, float]
) -> dict[str, float]:
    if table.sizes.keys() == {"candidate"}:
        return {}
    performance, fairness = goals(table)
    chosen = choose(performance, fairness, rule, least=least, utopia=utopia)
    apart = distance(performance, fairness, utopia)
    regret = apart[..., place] - apart.min(axis=-1)
    return {"probability": float((chosen == place).mean()), "regret": float(regret.mean())}
