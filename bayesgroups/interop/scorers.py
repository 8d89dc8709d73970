"""From a scorer of scikit-learn, which gives one number for many rows, to a tally of estimates."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import xarray as xr
from numpy.typing import ArrayLike

from bayesgroups.data.keywords import checked_keywords
from bayesgroups.data.texts import level_text
from bayesgroups.errors import InputError, near_misses
from bayesgroups.interop.scikit_learn import attributes, check_rows
from bayesgroups.tallies import tally_from_estimates

if TYPE_CHECKING:
    import pandas as pd

MIN_ROWS_FOR_BOOTSTRAP = 5
"""Rows below which the bootstrap of a score says nothing; the subgroup then has no estimate."""


@checked_keywords
def tally_from_scorer(
    model: Any,
    X: Any,
    y: ArrayLike,
    *,
    by: Sequence[str] | pd.DataFrame | Mapping[str, ArrayLike],
    scoring: str | Callable[[Any, Any, Any], float],
    seed: int,
    replicates: int = 200,
    lower: float = -np.inf,
    upper: float = np.inf,
) -> xr.Dataset:
    """Tally any score of scikit-learn, with sampling variances from a bootstrap of the rows of each subgroup.

    For scores that are no mean over rows (R squared, average precision); `tally_from_estimator` is exact for the others.

    Parameters
    ----------
    model : estimator
        Fitted.
    X, y : array or pandas.DataFrame (row, feature), and array (row,)
        Features, as the model is given them, and outcomes.
    by : sequence of str, pandas.DataFrame or mapping
        Attributes, as in `tally_from_estimator`.
    scoring : str or callable
        A name such as ``"r2"`` (`sklearn.metrics.get_scorer_names`), or a scorer ``scorer(model, X, y)``. Larger is better.
    seed : int
        Source of all randomness.
    replicates : int
        Bootstrap replicates of each subgroup, at least 20. A score that is undefined in a replicate leaves it out.
    lower, upper : float
        Range of the score.

    Returns
    -------
    xr.Dataset
        A tally of estimates. A subgroup with fewer than 5 rows, or whose score is undefined, has none.

    Raises
    ------
    InputError
        If the scorer does not exist or lengths differ.

    References
    ----------
    Efron, Tibshirani (1993), An Introduction to the Bootstrap, chapter 6.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.linear_model import LinearRegression
    >>> X = np.arange(60.0)[:, None]
    >>> y = X[:, 0] + np.tile([0.0, 3.0, -3.0], 20)
    >>> model = LinearRegression().fit(X, y)
    >>> found = tally_from_scorer(model, X, y, by={"sex": ["f", "m"] * 30}, scoring="r2", seed=1, upper=1.0)
    >>> found["estimate"].values.round(2).tolist()
    [[0.98, 0.98]]
    """
    import warnings

    import pandas as pd

    if replicates < 20:
        raise InputError(f"replicates must be 20 or more; got {replicates}")
    truth = np.asarray(y)
    if truth.ndim != 1:
        raise InputError(f"y must have one value per row; its shape is {truth.shape}")
    frame = attributes(X, by, len(truth))
    check_rows(X, len(truth))
    name, scorer = _scorer(scoring)
    random = np.random.default_rng(seed)
    texts = frame.map(level_text)
    groups = texts.groupby(list(texts.columns), sort=True, dropna=False).indices
    estimates, variances = [], []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # scorers warn of scores that are undefined; here they are NaN
        for rows in groups.values():
            estimate, variance = np.nan, np.nan
            if len(rows) >= MIN_ROWS_FOR_BOOTSTRAP:
                estimate = _score(scorer, model, X, truth, rows)
                drawn = [_score(scorer, model, X, truth, random.choice(rows, len(rows))) for _ in range(replicates)]
                finite = np.array(drawn)[np.isfinite(drawn)]
                variance = float(np.var(finite, ddof=1)) if len(finite) > 1 and np.isfinite(estimate) else np.nan
            estimates.append(estimate if np.isfinite(variance) else np.nan)
            variances.append(variance)
    keys = [key if isinstance(key, tuple) else (key,) for key in groups]
    table = pd.DataFrame(keys, columns=texts.columns)
    return tally_from_estimates(
        estimates, variances, table, metric=name, lower=lower, upper=upper, larger_is_better=True
    )


def _scorer(scoring: str | Callable[[Any, Any, Any], float]) -> tuple[str, Callable[[Any, Any, Any], float]]:
    from sklearn.metrics import get_scorer, get_scorer_names

    if callable(scoring):
        return getattr(scoring, "__name__", "score"), scoring
    if scoring not in get_scorer_names():
        raise InputError(f"scoring={scoring!r} does not exist; {near_misses(scoring, get_scorer_names())}")
    scorer: Callable[[Any, Any, Any], float] = get_scorer(scoring)
    return scoring, scorer


def _score(scorer: Callable[[Any, Any, Any], float], model: Any, X: Any, y: Any, rows: Any) -> float:
    part = X.iloc[rows] if hasattr(X, "iloc") else np.asarray(X)[rows]
    try:
        return float(scorer(model, part, y[rows]))
    except (AttributeError, TypeError) as problem:
        raise InputError(f"the scorer cannot use model={type(model).__name__}: {problem}") from problem
    except ValueError:  # one class alone, or too few rows
        return float("nan")
