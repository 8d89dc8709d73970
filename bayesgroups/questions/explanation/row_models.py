"""Tests between nested linear models of rows, with features of rows and errors that are robust to clusters."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
import xarray as xr

from bayesgroups.data.arrays import FloatArray, IndexArray
from bayesgroups.data.features import row_matrix
from bayesgroups.data.keywords import checked_keywords
from bayesgroups.errors import InputError, near_misses
from bayesgroups.questions.certification.multiplicity import adjust
from bayesgroups.questions.explanation.nested_models import TOLERANCE, basis, check_nested, named_models, squares

if TYPE_CHECKING:
    import pandas as pd

_TESTS = ("f", "df1", "df2", "p_value", "robust_f", "robust_df2", "robust_p_value")


@checked_keywords
def goodness_of_fit_rows(
    frame: pd.DataFrame, formulas: Sequence[str] | Mapping[str, str], value: str, *, cluster: str | None = None
) -> xr.Dataset:
    """Test whether features explain a value of rows, such as an error or a loss.

    Estimand: none; each test is of the hypothesis that the larger of two nested linear models of the mean of the value has no
    more to say than the smaller. Rows are tested where `bayesgroups.goodness_of_fit` has no degrees of freedom, with few
    subgroups, and where features vary within subgroups.

    Parameters
    ----------
    frame : pandas DataFrame
        One row per person, clip, admission.
    formulas : sequence of str, or mapping from names to formulas
        At least two models over the columns, each within the next, the smallest first; see `bayesgroups.data.features` for
        what a formula may say. Columns of numbers enter as they are, all others by their levels.
    value : str
        Column of what is explained: 0 and 1, or numbers.
    cluster : str, optional
        Column that says which rows belong together (a speaker, a patient). Left out, each row is a cluster.

    Returns
    -------
    xr.Dataset
        Along ``comparison`` (labels ``"small -> large"``):

        - ``f``, ``df1``, ``df2``, ``p_value``: improvement relative to what the larger model leaves unexplained in rows, which
          takes rows for independent and of one variance,
        - ``robust_f``, ``robust_df2``, ``robust_p_value``: a Wald test with a variance that clusters of any correlation and size
          may have, on ``df1`` and the clusters less 1,
        - ``p_value_holm``, ``robust_p_value_holm``: adjusted by Holm's method for all comparisons of this call,
        - ``reason``: why a number is NaN, else empty.

        Along ``model`` ``rss``, in squared units of the value, and ``rank`` (with the intercept). Attributes ``rows`` and
        ``clusters``.

    Raises
    ------
    InputError
        If there is no frame of pandas or no row in it, a column is absent, has a missing or an infinite value, the value is no
        number, there are fewer than two models, a formula cannot be read, or a model is not within the next.

    Notes
    -----
    The robust variance is ``G / (G - 1) (n - 1) / (n - r)`` times the sum over G clusters of the squared sums of residuals times
    new directions (CR1; Liang and Zeger 1986). It needs clusters by the dozen: with fewer, or with few clusters that have a
    level, tests reject too often. It does not need that rows have one variance.

    References
    ----------
    Herlihy, Truong, Chouldechova, Dudik (2024), sections 4.2 and 5.3; Liang, Zeger (1986), Biometrika 73, 13-22; Holm (1979),
    Scandinavian Journal of Statistics 6, 65-70.

    Examples
    --------
    >>> import pandas as pd
    >>> import bayesgroups as bg
    >>> clips = pd.DataFrame({"speaker": [1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6], "sex": list("ffffffmmmmmm")})
    >>> clips["error"] = [0.1, 0.1, 0.3, 0.4, 0.2, 0.2, 0.5, 0.4, 0.3, 0.3, 0.4, 0.5]
    >>> answer = bg.goodness_of_fit_rows(clips, {"none": "1", "sex": "sex"}, "error", cluster="speaker")
    >>> answer["comparison"].values.tolist(), answer["df2"].values.tolist(), answer["robust_df2"].values.tolist()
    (['none -> sex'], [10.0], [5.0])
    >>> answer["p_value"].values.round(3).tolist(), answer["robust_p_value"].values.round(3).tolist()
    ([0.012], [0.078])
    """
    models = named_models(formulas)
    target, codes = _target(frame, value), _codes(frame, cluster)
    features = frame.drop(columns=value)
    ones = np.ones((len(frame), 1))
    designs = [np.concatenate([ones, row_matrix(features, formula)], axis=1) for formula in models.values()]
    names = list(models)
    check_nested(names, designs)
    bases = [basis(design) for design in designs]
    residuals = [target - columns @ (columns.T @ target) for columns in bases]
    comparisons = [f"{small} -> {large}" for small, large in itertools.pairwise(names)]
    tests = {name: np.full(len(comparisons), np.nan) for name in _TESTS}
    reasons = []
    for i, (small, large) in enumerate(itertools.pairwise(bases)):
        tested, reason = _compare(target, small, large, residuals[i + 1], codes)
        for name, number in tested.items():
            tests[name][i] = number
        reasons.append(reason)
    data = {name: ("comparison", values) for name, values in tests.items()}
    for name in ("p_value", "robust_p_value"):
        data[f"{name}_holm"] = ("comparison", adjust(tests[name], "holm"))
    return xr.Dataset(
        {
            **data,
            "reason": ("comparison", np.array(reasons, dtype=str)),
            "rss": ("model", [squares(residual) for residual in residuals]),
            "rank": ("model", [columns.shape[1] for columns in bases]),
        },
        coords={
            "comparison": np.array(comparisons, dtype=str),
            "model": np.array(names, dtype=str),
            "formula": ("model", np.array(list(models.values()), dtype=str)),
        },
        attrs={"rows": len(frame), "clusters": int(codes.max()) + 1},
    )


def _target(frame: pd.DataFrame, value: str) -> FloatArray:
    import pandas as pd
    from pandas.api.types import is_numeric_dtype

    if not isinstance(frame, pd.DataFrame):
        raise InputError(f"frame= is a {type(frame).__name__}; give a pandas DataFrame, as from to_pandas()")
    if value not in frame.columns:
        raise InputError(f"value={value!r} is no column; {near_misses(value, map(str, frame.columns))}")
    if len(frame) == 0:
        raise InputError("the frame has no rows; give at least one")
    if not is_numeric_dtype(frame[value]):
        raise InputError(f"column {value!r} holds {frame[value].dtype}; expected numbers, or 0 and 1")
    values = np.asarray(frame[value].to_numpy(dtype=np.float64, na_value=np.nan), dtype=np.float64)
    if not np.isfinite(values).all():
        number = int((~np.isfinite(values)).sum())
        raise InputError(f"column {value!r} has {number} missing or infinite values; drop or fill these rows")
    return values


def _codes(frame: pd.DataFrame, cluster: str | None) -> IndexArray:
    import pandas as pd

    if cluster is None:
        return np.arange(len(frame))
    if cluster not in frame.columns:
        raise InputError(f"cluster={cluster!r} is no column; {near_misses(cluster, map(str, frame.columns))}")
    missing = int(np.count_nonzero(frame[cluster].isna().to_numpy()))
    if missing:
        raise InputError(f"column {cluster!r} has {missing} missing values; drop these rows")
    return np.asarray(pd.factorize(frame[cluster])[0], dtype=np.int64)


def _compare(
    target: FloatArray, small: FloatArray, large: FloatArray, residual: FloatArray, codes: IndexArray
) -> tuple[dict[str, float], str]:
    """Both tests of two orthonormal bases (row, rank), and why some numbers are NaN."""
    from scipy.special import fdtrc

    rows, rank, clusters = len(target), large.shape[1], int(codes.max()) + 1
    df1, df2 = rank - small.shape[1], rows - rank
    tests = {"df1": float(df1), "df2": float(df2), "robust_df2": float(clusters - 1)}
    if df1 == 0:
        return tests, "no new directions"
    if df2 == 0 or squares(residual) <= TOLERANCE**2 * squares(target):
        return tests, "the larger model fits exactly"
    # Orthonormal directions of the larger model that the smaller lacks, and how far the value goes along each.
    new = np.linalg.svd(large - small @ (small.T @ large), full_matrices=False)[0][:, :df1]
    gain = new.T @ target
    tests["f"] = squares(gain) / df1 / (squares(residual) / df2)
    tests["p_value"] = float(fdtrc(df1, df2, tests["f"]))
    scores = np.stack([np.bincount(codes, new[:, j] * residual, clusters) for j in range(df1)], axis=1)
    if np.linalg.matrix_rank(scores, rtol=TOLERANCE) < df1:
        return tests, "too few clusters for a robust test"
    # The scores' singular values give the quadratic form without squaring their condition.
    _, singular, right = np.linalg.svd(scores, full_matrices=False)
    correction = clusters / (clusters - 1) * (rows - 1) / df2
    tests["robust_f"] = squares((right @ gain) / singular) / correction / df1
    tests["robust_p_value"] = float(fdtrc(df1, clusters - 1, tests["robust_f"]))
    return tests, ""
