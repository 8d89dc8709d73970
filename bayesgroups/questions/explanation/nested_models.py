"""Tests between nested linear models: features of subgroups that explain differences of a metric."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import xarray as xr

from bayesgroups.data.arrays import FloatArray
from bayesgroups.data.features import feature_matrix
from bayesgroups.data.keywords import checked_keywords
from bayesgroups.errors import InputError
from bayesgroups.questions.certification.multiplicity import adjust
from bayesgroups.questions.sampling_variances import check_tally

Weights = Literal["precision", "count"]
TOLERANCE = 1e-10
"""Singular values and residuals that are smaller than this, relative to the largest, count as 0."""


@dataclass(frozen=True)
class _Fit:
    """Weighted least squares of one model: fitted values (subgroup,) times root weights, and the rank."""

    fitted: FloatArray
    rank: int


@dataclass(frozen=True)
class _Noise:
    """Estimate of sampling noise from the rows, in the units of the weighted squares, on ``df`` degrees of freedom."""

    variance: float
    df: float


_TESTS = ("f", "df1", "df2", "p_value", "pure_error_f", "pure_error_df1", "pure_error_df2", "pure_error_p_value",
          "chi_square", "chi_square_p_value")  # fmt: skip


@checked_keywords
def goodness_of_fit(
    tally: xr.Dataset, formulas: Sequence[str] | Mapping[str, str], *, weights: Weights = "precision"
) -> xr.Dataset:
    """Test whether features explain how a metric differs between subgroups.

    Estimand: none; each test is of the hypothesis that the larger of two nested linear models of the values of the
    metric in the subgroups has no more to say than the smaller.

    Parameters
    ----------
    tally : xr.Dataset
        A tally. It decides what a row is: where rows come in clusters (patients, speakers), tests of a tally of rows reject too
        often; tally one row per cluster and subgroup (its mean) instead, so that ``count`` is the number of clusters. With few
        subgroups, or features that vary within them, see `bayesgroups.goodness_of_fit_rows`.
    formulas : sequence of str, or mapping from names to formulas
        At least two models, each within the next, the smallest first; see `bayesgroups.data.features` for what
        a formula may say. ``"1"`` is the intercept alone, which every model has. No model has an indicator per
        subgroup unless its formula crosses all attributes.
    weights : {"precision", "count"}
        Weights of the subgroups in least squares: 1 / sampling variance, or the denominators. They are proportional
        in a tally of rows, so that the tests agree; published estimates have no denominators.

    Returns
    -------
    xr.Dataset
        Dims ``metric``, ``comparison`` (labels ``"small -> large"``) and ``model``. Along metric and comparison:

        - ``f``, ``df1``, ``df2``, ``p_value``: improvement relative to what the larger model leaves unexplained,
        - ``pure_error_f``, ``pure_error_df1``, ``pure_error_df2``, ``pure_error_p_value``: the same improvement
          relative to sampling noise, the pooled row variance of the tally,
        - ``chi_square``, ``chi_square_p_value``: the same, sampling noise taken as known, on ``df1``,
        - ``p_value_holm``, ``pure_error_p_value_holm``, ``chi_square_p_value_holm``: adjusted by Holm's method for
          all comparisons and metrics of this call,
        - ``reason``: why a number is NaN or infinite, else empty.

        Along metric and model ``rss`` (weighted, in squared units of the metric with ``weights="count"``, without a
        unit with ``"precision"``) and ``rank`` (with the intercept); along metric ``subgroups`` that are used and
        ``dropped``, those where the metric is undefined.

    Raises
    ------
    InputError
        If there are fewer than two models, a formula cannot be read, a model is not within the next, the weights do
        not exist or the tally has no denominators for them.
    SchemaError
        If ``tally`` is not a tally.

    Notes
    -----
    ``f`` = ((RSS0 - RSS1) / (r1 - r0)) / (RSS1 / (K - r1)) with K subgroups and ranks r0, r1 of the weighted designs
    (redundant columns do not count). A small ``p_value`` of ``f`` beside a large one of ``pure_error_f`` says that
    what is left over is less than sampling noise explains; the reverse, that the larger model lacks something too.
    All tests take the row variance to be the same in all subgroups; where rates differ widely it is not, and those
    against pure error may reject too often. They also take the features as known: where a metric follows features of
    the population of which the tally has a small sample, other terms seem to matter that do not.

    References
    ----------
    Herlihy, Truong, Chouldechova, Dudik (2024), section 4.2 (``f``; degrees of freedom by ranks, and the tests
    against pure error, are additions); Holm (1979), Scandinavian Journal of Statistics 6, 65-70.

    Examples
    --------
    >>> import pandas as pd
    >>> import bayesgroups as bg
    >>> people = pd.DataFrame({"sex": list("fffmmm"), "age": ["20s", "40s", "60s"] * 2})
    >>> tally = bg.tally_from_counts([4, 6, 15, 9, 12, 30], [40, 45, 50, 42, 47, 52], people, metric="fnr")
    >>> found = bg.goodness_of_fit(tally, {"none": "1", "sex": "sex", "both": "sex + age"}).sel(metric="fnr")
    >>> found["comparison"].values.tolist()
    ['none -> sex', 'sex -> both']
    >>> found["df1"].values.tolist(), found["df2"].values.tolist(), found["rank"].values.tolist()
    ([1.0, 2.0], [4.0, 2.0], [1.0, 2.0, 4.0])
    >>> found["p_value"].values.round(4).tolist()
    [0.2569, 0.0822]
    """
    check_tally(tally)
    models = named_models(formulas)
    designs = [_design(tally, formula) for formula in models.values()]
    check_nested(list(models), designs)
    cells = ("metric", "subgroup")
    z, variance, count = (tally[name].transpose(*cells).values for name in ("estimate", "sampling_variance", "count"))
    metrics = tally.sizes["metric"]
    names = list(models)
    comparisons = [f"{small} -> {large}" for small, large in itertools.pairwise(names)]
    tests = {name: np.full((metrics, len(comparisons)), np.nan) for name in _TESTS}
    reasons = np.full((metrics, len(comparisons)), "", dtype=object)
    rss, rank = np.full((metrics, len(names)), np.nan), np.full((metrics, len(names)), np.nan)
    used = np.zeros(metrics, dtype=np.int64)
    for i in range(metrics):
        with np.errstate(divide="ignore"):
            weight = count[i] if weights == "count" else 1 / variance[i]
        defined = np.isfinite(z[i])
        if weights == "count" and np.isnan(weight[defined]).any():
            raise InputError("weights='count' needs denominators, which published estimates lack; use 'precision'")
        used[i] = defined.sum()
        pooled, df = (float(tally[name][i]) for name in ("pooled_variance", "pooled_df"))
        noise = _Noise(pooled if weights == "count" else 1.0, df)
        if not np.isfinite(weight[defined]).all():
            reasons[i, :] = "a sampling variance is 0"
            continue
        root = np.sqrt(weight[defined])
        target = root * z[i, defined]
        fits = [_fit(root[:, None] * design[defined], target) for design in designs]
        rss[i] = [squares(target - fit.fitted) for fit in fits]
        rank[i] = [fit.rank for fit in fits]
        for j, (small, large) in enumerate(itertools.pairwise(fits)):
            tested, reasons[i, j] = _compare(target, small, large, noise)
            for name, value in tested.items():
                tests[name][i, j] = value
    data = {name: (("metric", "comparison"), values) for name, values in tests.items()}
    for name in ("p_value", "pure_error_p_value", "chi_square_p_value"):
        data[f"{name}_holm"] = (("metric", "comparison"), adjust(tests[name], "holm"))
    return xr.Dataset(
        {
            **data,
            "reason": (("metric", "comparison"), reasons.astype(str)),
            "rss": (("metric", "model"), rss),
            "rank": (("metric", "model"), rank),
            "subgroups": ("metric", used),
            "dropped": ("metric", tally.sizes["subgroup"] - used),
        },
        coords={
            "metric": tally["metric"].values,
            "comparison": np.array(comparisons, dtype=str),
            "model": np.array(names, dtype=str),
            "formula": ("model", np.array(list(models.values()), dtype=str)),
        },
        attrs={"weights": weights},
    )


def named_models(formulas: Sequence[str] | Mapping[str, str]) -> dict[str, str]:
    """Formulas by the names of their models, the smallest first; an InputError if there are fewer than two."""
    if isinstance(formulas, str):
        raise InputError(f"formulas={formulas!r} is one formula; give nested ones, as ['1', {formulas!r}]")
    models = dict(formulas) if isinstance(formulas, Mapping) else {formula: formula for formula in formulas}
    if len(models) < len(formulas):
        twice = next(formula for formula in models if list(formulas).count(formula) > 1)
        raise InputError(f"formulas= has {twice!r} twice; each model must be larger than the one before it")
    if len(models) < 2:
        raise InputError(
            f"formulas= has {len(models)} of the two or more models that a comparison needs; {_fix(list(models))}"
        )
    return models


def _fix(formulas: list[str]) -> str:
    """Advice for too few models."""
    if not formulas:
        return "give nested ones, as ['1', 'race']"
    if formulas[0].strip() == "1":
        return "put a larger one after it, as ['1', 'race']"
    return f"put the intercept alone before it, as ['1', {formulas[0]!r}]"


def _design(tally: xr.Dataset, formula: str) -> FloatArray:
    values = feature_matrix(tally, formula, identities=False).values
    return np.concatenate([np.ones((len(values), 1)), values], axis=1)


def basis(design: FloatArray) -> FloatArray:
    """Orthonormal basis (unit, rank) of the columns, by singular values."""
    left, singular, _ = np.linalg.svd(design, full_matrices=False)
    return left[:, singular > TOLERANCE * singular.max(initial=0.0)]


def _fit(design: FloatArray, target: FloatArray) -> _Fit:
    columns = basis(design)
    fitted = columns @ (columns.T @ target)
    return _Fit(fitted + columns @ (columns.T @ (target - fitted)), columns.shape[1])  # once more, for the last digits


def check_nested(names: Sequence[str], designs: Sequence[FloatArray]) -> None:
    """Refusal, as an InputError, of a model that is not within the next."""
    for (small, first), (large, second) in itertools.pairwise(zip(names, designs, strict=True)):
        if basis(np.concatenate([second, first], axis=1)).shape[1] > basis(second).shape[1]:
            raise InputError(
                f"model {small!r} is not within model {large!r}; give nested models, the smallest first, so that each "
                "has all terms of the one before it"
            )


def squares(residual: FloatArray) -> float:
    """Sum of squares."""
    return float(residual @ residual)


def _compare(target: FloatArray, small: _Fit, large: _Fit, noise: _Noise) -> tuple[dict[str, float], str]:
    """All tests of two fits, and why some of them have no answer."""
    from scipy.special import chdtrc, fdtrc

    df1, df2 = float(large.rank - small.rank), float(len(target) - large.rank)
    tests = {"df1": df1, "df2": df2, "pure_error_df1": df1, "pure_error_df2": noise.df}
    if len(target) == 0:
        return tests, "no subgroup is defined"
    if df1 == 0:
        return tests, "no new directions"
    # The models are nested: the drop in the residual squares is the square of the shift in the fit.
    gain, left = squares(large.fitted - small.fitted), squares(target - large.fitted)
    exact = TOLERANCE**2 * squares(target)
    reasons = []
    if df2 <= 0:
        reasons.append("no residual degrees of freedom")
    elif left > exact:
        tests["f"] = gain / df1 / (left / df2)
        tests["p_value"] = float(fdtrc(df1, df2, tests["f"]))
    elif gain > exact:
        tests |= {"f": math.inf, "p_value": 0.0}
        reasons.append("exact fit")
    else:
        reasons.append("both models fit exactly")
    if not noise.variance > 0:
        return tests, "; ".join([*reasons, "no sampling noise to compare with"])
    tests["chi_square"] = gain / noise.variance
    tests["chi_square_p_value"] = float(chdtrc(df1, tests["chi_square"]))
    if noise.df > 0:
        tests["pure_error_f"] = tests["chi_square"] / df1
        tests["pure_error_p_value"] = float(fdtrc(df1, noise.df, tests["pure_error_f"]))
    else:
        reasons.append("no degrees of freedom for pure error")
    return tests, "; ".join(reasons)
