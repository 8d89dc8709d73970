"""Tallies of published tables: successes of trials, or estimates with their sampling variances."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import xarray as xr
from numpy.typing import ArrayLike, NDArray

from bayesgroups.data.arrays import FloatArray
from bayesgroups.data.columns import MAX_MAGNITUDE
from bayesgroups.data.directions import Direction, LargerIsBetter, choose_directions
from bayesgroups.data.keywords import checked_keywords
from bayesgroups.data.texts import level_text
from bayesgroups.errors import InputError
from bayesgroups.tallies.assembly import Description, assemble, attributes, describe
from bayesgroups.tallies.moments import Moments
from bayesgroups.tallies.notes import direction_settings
from bayesgroups.tallies.subgroups import Subgroups, check_attributes, cross
from bayesgroups.tallies.sums import Sums
from bayesgroups.tallies.variances import Pooling

if TYPE_CHECKING:
    import pandas as pd


@checked_keywords
def tally_from_counts(
    successes: ArrayLike | Mapping[str, ArrayLike],
    trials: ArrayLike | Mapping[str, ArrayLike],
    subgroups: pd.DataFrame,
    *,
    metric: str = "rate",
    pooled_variance: Pooling = "corrected",
    larger_is_better: LargerIsBetter = None,
) -> xr.Dataset:
    """A tally of rates from published counts.

    Parameters
    ----------
    successes, trials : array-like (subgroup,), or mapping from metric names to such
        Numerator and denominator of the rate in each subgroup; trials may be 0.
    subgroups : pandas.DataFrame
        One row per subgroup, one column per attribute. Combinations of levels that the table lacks are added with
        count 0, after those it has. An ordered categorical column gives the tally the order of its levels.
    metric : str
        Name of the metric when arrays are given.
    pooled_variance : {"corrected", "published", "published_rows"}
        How row variances are pooled.
    larger_is_better : bool or mapping from metrics to bool, optional
        Direction of the metrics, as in `bayesgroups.tally`; that of their names (``acc``, ``fnr``, ``tpr[cat]`` ...) when left
        out.

    Returns
    -------
    xr.Dataset
        The tally; ``rows`` holds the largest number of trials over metrics.

    Raises
    ------
    InputError
        If a count is negative, not finite or not whole, successes exceed trials, lengths differ, a subgroup is there twice,
        or a direction is said of a metric that is not there.

    Examples
    --------
    >>> import pandas as pd
    >>> import bayesgroups as bg
    >>> found = bg.tally_from_counts([9, 0, 1], [10, 5, 1], pd.DataFrame({"site": ["a", "b", "c"]}), metric="acc")
    >>> found["estimate"].values.ravel().tolist(), found["status"].values.ravel().tolist()
    ([0.9, 0.0, 1.0], ['ok', 'saturated', 'single'])
    """
    table, positions = crossed_subgroups(subgroups)
    numerators = _by_metric(successes, metric)
    denominators = _by_metric(trials, metric)
    if set(numerators) != set(denominators):
        raise InputError(
            f"successes= has metrics {sorted(numerators)}, trials= has {sorted(denominators)}; they must be the same"
        )
    weight, total = np.zeros((len(numerators), len(table.table))), np.zeros((len(numerators), len(table.table)))
    for i, name in enumerate(numerators):
        k = _counts(numerators[name], name, "successes", subgroups)
        n = _counts(denominators[name], name, "trials", subgroups)
        if (k > n).any():
            row = int(np.argmax(k > n))
            raise InputError(
                f"metric {name!r}, subgroup {table.labels[positions[row]]!r}: {k[row]:g} successes of {n[row]:g} trials; "
                "successes cannot exceed trials"
            )
        weight[i, positions], total[i, positions] = n, k
    with np.errstate(divide="ignore", invalid="ignore"):
        mean = np.where(weight > 0, total / weight, np.nan)
        scatter = np.where(weight > 0, total * (1 - mean), 0.0)
    sums = Sums(rows=weight.max(axis=0), moments=Moments(weight, weight.copy(), mean, scatter), weighted=False)
    names = [str(name) for name in numerators]
    directions = choose_directions(names, larger_is_better)
    described = [_rate(name, direction) for name, direction in zip(names, directions, strict=True)]
    settings = {"source": "counts", **direction_settings(names, directions)}
    return assemble(table, described, sums, pooling=pooled_variance, settings=settings)


@checked_keywords
def tally_from_estimates(
    estimate: ArrayLike,
    sampling_variance: ArrayLike,
    subgroups: pd.DataFrame,
    *,
    metric: str = "estimate",
    lower: float = -math.inf,
    upper: float = math.inf,
    larger_is_better: bool | None = None,
    features: Mapping[str, ArrayLike] | None = None,
) -> xr.Dataset:
    """A tally from published estimates and their sampling variances (squared standard errors).

    Parameters
    ----------
    estimate : array-like (subgroup,)
        Estimate of the metric in each subgroup; NaN where there is none.
    sampling_variance : array-like (subgroup,)
        Its sampling variance, in squared units of the estimate; NaN where there is none.
    subgroups : pandas.DataFrame
        One row per subgroup, one column per attribute.
    metric : str
        Name of the metric.
    lower, upper : float
        Range of the metric; it sets the scale of default priors and where intervals are clipped.
    larger_is_better : bool, optional
        Direction of the metric; that of its name (``acc``, ``auc``, ``fnr`` ...) when left out. Of a name that has none
        smaller values are taken to be better, and answers note that nobody said so.
    features : mapping from names to array-like (subgroup,), optional
        Covariates of the subgroups, in their own units, for estimators that can use them; also of those without an estimate.

    Returns
    -------
    xr.Dataset
        The tally; ``rows``, ``count`` and ``row_variance`` are NaN because nobody published them.

    Raises
    ------
    InputError
        If a variance is negative, an estimate lies outside its range, lengths differ, the direction is no truth value, or a
        feature has the name of an attribute or is infinite.

    Examples
    --------
    >>> import pandas as pd
    >>> import bayesgroups as bg
    >>> found = bg.tally_from_estimates([0.2, 0.4], [0.01, 0.02], pd.DataFrame({"site": ["a", "b"]}))
    >>> found["sampling_variance"].values.ravel().tolist()
    [0.01, 0.02]
    """
    table, positions = crossed_subgroups(subgroups)
    z = _column(estimate, "estimate", len(subgroups))
    v = _column(sampling_variance, "sampling_variance", len(subgroups))
    labels = [table.labels[position] for position in positions]
    _refuse(
        np.isinf(z) | np.isinf(v), labels, "estimate and sampling_variance must be finite, or NaN where there is none"
    )
    _refuse(
        (np.abs(z) > MAX_MAGNITUDE) | (np.sqrt(np.maximum(v, 0.0)) > 1.01 * MAX_MAGNITUDE),
        labels,
        f"estimate must be at most {MAX_MAGNITUDE:g}, and sampling_variance its square; give them in larger units",
    )
    _refuse(v < 0, labels, "sampling_variance must not be negative")
    _refuse(np.isfinite(z) & ~np.isfinite(v), labels, "an estimate without a sampling variance; give both or neither")
    _refuse((z < lower) | (z > upper), labels, f"estimate lies outside the range [{lower}, {upper}]")
    directions = choose_directions([metric], larger_is_better)
    shape = (1, len(table.table))
    estimates, variances = np.full(shape, np.nan), np.full(shape, np.nan)
    estimates[0, positions], variances[0, positions] = z, np.where(np.isfinite(z), v, np.nan)
    defined, both = np.isfinite(estimates), ("metric", "subgroup")
    nothing = np.full(shape, np.nan)
    data: dict[str, Any] = {
        "rows": ("subgroup", nothing[0]),
        "count": (both, nothing),
        "successes": (both, nothing.copy()),
        "estimate": (both, estimates),
        "row_variance": (both, nothing.copy()),
        "sampling_variance": (both, variances),
        "bootstrap_variance": (both, variances.copy()),
        "pooled_variance": ("metric", [np.nan]),
        "pooled_df": ("metric", [np.nan]),
        "status": (both, np.where(defined, "ok", "undefined").astype("<U9")),
        "reason": (both, np.where(defined, "", "no estimate").astype("<U60")),
        **describe([Description(metric, "estimate", lower, upper, directions[0].larger_is_better, "no estimate")]),
    }
    coordinates: dict[str, Any] = {"metric": np.array([metric], dtype=str), **table.coordinates()}
    if features:
        data["feature_mean"] = (("subgroup", "feature"), _features(features, table, positions, labels))
        coordinates["feature"] = np.array(list(features), dtype=str)
    attrs = attributes(table, {"source": "estimates", **direction_settings([metric], directions)})
    return xr.Dataset(data, coords=coordinates, attrs=attrs)


def _features(
    features: Mapping[str, ArrayLike], table: Subgroups, positions: NDArray[np.intp], labels: Sequence[str]
) -> FloatArray:
    """Values (subgroup, feature); NaN for combinations of levels that the table lacks."""
    values = np.full((len(table.table), len(features)), np.nan)
    for column, (name, given) in enumerate(features.items()):
        if name in (*table.by, "rows"):
            raise InputError(f"features= has the name {name!r} of another column of the subgroups; rename it")
        feature = _column(given, f"features[{name!r}]", len(labels))
        _refuse(np.isinf(feature), labels, f"feature {name!r} must be finite, or NaN where there is none")
        values[positions, column] = feature
    return values


def crossed_subgroups(frame: pd.DataFrame) -> tuple[Subgroups, NDArray[np.intp]]:
    """All combinations of the levels of a table, those it has first and in its order."""
    if not hasattr(frame, "columns") or len(frame.columns) == 0:
        raise InputError("subgroups= must be a DataFrame with one column per attribute and one row per subgroup")
    if len(frame) == 0:
        raise InputError("subgroups= has no rows; nothing can be tallied")
    by = [str(name) for name in frame.columns]
    check_attributes(by)
    columns = [list(frame[name]) for name in frame.columns]
    if frame.isna().to_numpy().any():
        raise InputError("subgroups= has a missing attribute value; name it, or leave the row out")
    keys = [tuple(level_text(value) for value in key) for key in zip(*columns, strict=True)]
    occurrences = Counter(keys)
    if len(occurrences) < len(keys):
        twice = next(key for key in keys if occurrences[key] > 1)
        raise InputError(f"subgroups= has the subgroup {' | '.join(twice)!r} twice; add its rows up first")
    full = cross(by, dict(zip(by, columns, strict=True)), {}, sort=False)
    ordered = (*keys, *(key for key in full.table if key not in occurrences))
    return Subgroups(tuple(by), ordered, tuple(_orders(frame, ordered))), np.arange(len(keys), dtype=np.intp)


def _orders(frame: pd.DataFrame, table: Sequence[Sequence[str]]) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Ordered categorical columns whose levels stand in another order in the table, with their categories."""
    for place, name in enumerate(frame.columns):
        if getattr(frame[name].dtype, "ordered", False):
            levels = tuple(level_text(level) for level in frame[name].cat.categories)
            if levels != tuple(dict.fromkeys(row[place] for row in table)):
                yield str(name), levels


def _by_metric(values: ArrayLike | Mapping[str, ArrayLike], metric: str) -> Mapping[str, ArrayLike]:
    return values if isinstance(values, Mapping) else {metric: values}


def _column(values: ArrayLike, name: str, size: int) -> FloatArray:
    try:
        if isinstance(values, list) and any(hasattr(value, "iloc") for value in values):
            raise TypeError  # NumPy would take a series of one number for a number
        column = np.asarray(values, dtype=np.float64).ravel()
    except (TypeError, ValueError, OverflowError):
        raise InputError(f"{name}= must hold numbers") from None
    if len(column) != size:
        raise InputError(f"{name}= has {len(column)} values for {size} subgroups; they must be as many")
    return column


def _counts(values: ArrayLike, metric: str, name: str, subgroups: pd.DataFrame) -> FloatArray:
    column = _column(values, name, len(subgroups))
    labels = [" | ".join(level_text(value) for value in row) for row in subgroups.itertuples(index=False)]
    _refuse(~np.isfinite(column), labels, f"{name}= of metric {metric!r} must be finite counts")
    _refuse(column > MAX_MAGNITUDE, labels, f"{name}= of metric {metric!r} must be at most {MAX_MAGNITUDE:g}")
    _refuse(column < 0, labels, f"{name}= of metric {metric!r} must not be negative")
    _refuse(column != np.round(column), labels, f"{name}= of metric {metric!r} must be whole numbers")
    return column


def _refuse(bad: NDArray[np.bool_], labels: Sequence[str], sentence: str) -> None:
    if bad.any():
        raise InputError(f"subgroup {labels[int(np.argmax(bad))]!r}: {sentence}")


def _rate(name: str, direction: Direction) -> Description:
    """A rate from counts; its reason where it is undefined is that of the metric of that name, if there is one."""
    undefined = "no trials"
    if name != "rate":
        from bayesgroups.data.metrics import NAMES, named  # expressions over rows: only where a metric of rows is named

        undefined = named(name).undefined if name in NAMES and name not in ("auc", "mean", "f1") else undefined
    return Description(name, "rate", 0.0, 1.0, direction.larger_is_better, undefined)
