"""Features of subgroups: what a linear model across subgroups may use.

Three kinds: which levels a subgroup has (``attribute``), which subgroup it is (``identity``), and what its rows are
like on average (``explanatory``); products of columns are ``interaction``.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from bayesgroups.data.arrays import FloatArray
from bayesgroups.data.formulas import parse_terms
from bayesgroups.errors import InputError

if TYPE_CHECKING:
    import pandas as pd


KINDS = ("attribute", "identity", "explanatory", "interaction")
MAX_NUMBERS = 12_000_000
"""Numbers of the largest feature matrix: its singular values take seconds."""
CONSTANT = 1e-10
"""Standard deviation, relative to the largest value, below which a feature counts as constant."""


@dataclass(frozen=True)
class FeatureMatrix:
    """Features of subgroups, without the intercept.

    ``values`` is (subgroup, column); ``names`` and ``kind`` have one entry per column, the kinds in the order of
    `KINDS`. Indicators are 0 or 1, explanatory columns standardised.
    """

    values: FloatArray
    names: tuple[str, ...]
    kind: tuple[str, ...]


@dataclass(frozen=True)
class _Columns:
    """The columns that one name or product stands for."""

    values: FloatArray
    names: tuple[str, ...]


def subgroup_frame(tally: xr.Dataset) -> pd.DataFrame:
    """Show what a tally knows of its subgroups: levels, means of features, rows.

    Parameters
    ----------
    tally : xr.Dataset
        A tally, see `bayesgroups.tallies`.

    Returns
    -------
    pandas.DataFrame
        One row per subgroup, by its label; each attribute as a categorical in the order of the tally, each feature
        as its mean over the rows of the subgroup (in units of the feature; NaN without rows), and ``rows``.

    Raises
    ------
    InputError
        If a feature has the name of an attribute or is called ``rows``.

    Examples
    --------
    >>> import pandas as pd
    >>> import bayesgroups as bg
    >>> from bayesgroups.data.features import subgroup_frame
    >>> rows = pd.DataFrame({"site": ["a", "a", "b"], "visits": [1, 2, 4], "loss": [0.1, 0.3, 0.5]})
    >>> tally = bg.tally(rows, by=["site"], metrics=["mean"], loss="loss", features=["visits"])
    >>> subgroup_frame(tally).reset_index(drop=True)
      site  visits  rows
    0    a     1.5   2.0
    1    b     4.0   1.0
    """
    import pandas as pd

    by: list[str] = json.loads(tally.attrs["by"])["by"]
    data: dict[str, object] = {}
    for name in by:
        levels = [str(level) for level in tally[name].values]
        data[name] = pd.Categorical(levels, categories=list(dict.fromkeys(levels)))
    if "feature_mean" in tally.data_vars:
        means = tally["feature_mean"].transpose("subgroup", "feature")
        for i, name in enumerate(str(feature) for feature in means["feature"].values):
            if name in data or name == "rows":
                other = "the number of rows" if name == "rows" else "another column"
                raise InputError(
                    f"feature {name!r} has the name of {other} of the subgroups; rename it before the tally"
                )
            data[name] = means.values[:, i]
    data["rows"] = tally["rows"].values.astype(np.float64)
    return pd.DataFrame(data, index=pd.Index([str(label) for label in tally["subgroup"].values], name="subgroup"))


def row_matrix(rows: pd.DataFrame, formula: str) -> FloatArray:
    """Lay out features of rows as columns (row, column), without the intercept.

    Parameters
    ----------
    rows : pandas DataFrame
        Numbers are explanatory, centred and scaled; all else is a level, with an indicator for each.
    formula : str
        As in `feature_matrix`, over the columns of the rows.

    Raises
    ------
    InputError
        If the formula cannot be read, or a column that it names has a missing or an infinite value.

    Examples
    --------
    >>> import pandas as pd
    >>> row_matrix(pd.DataFrame({"site": ["a", "a", "b", "b"], "visits": [1, 3, 1, 3]}), "site + visits").tolist()
    [[1.0, 0.0, -1.0], [1.0, 0.0, 1.0], [0.0, 1.0, -1.0], [0.0, 1.0, 1.0]]
    """
    import pandas as pd
    from pandas.api.types import is_bool_dtype, is_numeric_dtype

    terms = parse_terms(formula, [str(name) for name in rows.columns])
    by_name: dict[str, _Columns] = {}
    for name in dict.fromkeys(name for term in terms for name in term):
        column = rows[name]
        missing = int(np.count_nonzero(column.isna().to_numpy()))
        if missing:
            raise InputError(f"column {name!r} has {missing} missing values; drop or fill these rows")
        if is_numeric_dtype(column) and not is_bool_dtype(column):
            values = column.to_numpy(dtype=np.float64)
            if not np.isfinite(values).all():
                raise InputError(f"column {name!r} has an infinite value; drop or fill these rows")
            by_name[name] = _Columns(_standardised(values, np.ones(len(values)))[:, None], (name,))
        else:
            by_name[name] = _indicators(pd.DataFrame({name: pd.Categorical(column.astype(str))}), name)
    _check_size(formula, terms, by_name, len(rows), "rows")
    return np.concatenate(
        [np.empty((len(rows), 0)), *(_product([by_name[name] for name in term]).values for term in terms)], axis=1
    )


def feature_matrix(tally: xr.Dataset, formula: str | None = None, *, identities: bool = True) -> FeatureMatrix:
    """Lay out the features of the subgroups of a tally as columns.

    Parameters
    ----------
    tally : xr.Dataset
        A tally; ``features=`` of `bayesgroups.tally` names its explanatory features (an outcome of 0 and 1 among
        them gives outcome rates).
    formula : str, optional
        Terms over the columns of `subgroup_frame`, such as ``"race + age + race:age + visits"``. Without one: all
        attributes and all features. An intercept is never among the columns: every model has one.
    identities : bool
        Whether each subgroup has an indicator of its own, with which a model reproduces the tally exactly.

    Returns
    -------
    FeatureMatrix
        ``values`` (subgroup, column), in the order of the tally's subgroups.

    Raises
    ------
    InputError
        If the formula cannot be read or names what is no column, see `bayesgroups.data.formulas.parse_terms`.

    Notes
    -----
    Every level of an attribute has an indicator, so columns are redundant on purpose: a penalty or a prior treats
    levels alike, and least squares counts ranks. Explanatory columns are centred and scaled to unit standard
    deviation, weighted by rows; products are taken after that. A subgroup without rows has the row-weighted mean of
    a feature over the subgroups that share most levels with it. Columns that are the same in all subgroups are left
    out.

    References
    ----------
    Herlihy, Truong, Chouldechova, Dudik (2024), section 4; which columns are scaled is our choice.

    Examples
    --------
    >>> import pandas as pd
    >>> import bayesgroups as bg
    >>> from bayesgroups.data.features import feature_matrix
    >>> rows = pd.DataFrame({"site": ["a", "a", "b"], "visits": [1, 2, 4], "loss": [0.1, 0.3, 0.5]})
    >>> tally = bg.tally(rows, by=["site"], metrics=["mean"], loss="loss", features=["visits"])
    >>> found = feature_matrix(tally, "site * visits", identities=False)
    >>> found.names
    ('site[a]', 'site[b]', 'visits', 'site[a]:visits', 'site[b]:visits')
    >>> found.values.round(2).tolist()
    [[1.0, 0.0, -0.71, -0.71, 0.0], [0.0, 1.0, 1.41, 0.0, 1.41]]
    """
    frame = subgroup_frame(tally)
    by = [name for name in frame.columns if frame[name].dtype == "category"]
    features = [name for name in frame.columns if name not in by and name != "rows"]
    terms = parse_terms(formula, list(frame.columns)) if formula is not None else [(name,) for name in by + features]
    levels = np.stack([frame[name].cat.codes.to_numpy() for name in by], axis=1)
    weight = np.nan_to_num(frame["rows"].to_numpy(), nan=1.0)
    blocks: list[tuple[str, _Columns]] = []
    by_name: dict[str, _Columns] = {}
    for name in dict.fromkeys(name for term in terms for name in term):
        by_name[name] = _indicators(frame, name) if name in by else _explanatory(frame, name, levels, weight)
    _check_size(formula, terms, by_name, len(frame), "subgroups")
    for term in terms:
        first, *further = term
        kind = "interaction" if further else "attribute" if first in by else "explanatory"
        blocks.append((kind, _product([by_name[name] for name in term])))
    if identities:
        indicators = tuple(f"subgroup[{label}]" for label in frame.index)
        blocks.append(("identity", _Columns(np.eye(len(frame)), indicators)))
    values = [np.empty((len(frame), 0))]
    names: list[str] = []
    kinds: list[str] = []
    for kind, block in sorted(blocks, key=lambda entry: KINDS.index(entry[0])):
        vary = block.values.max(axis=0) > block.values.min(axis=0)
        values.append(block.values[:, vary])
        names += [name for name, varies in zip(block.names, vary, strict=True) if varies]
        kinds += [kind] * int(vary.sum())
    return FeatureMatrix(np.concatenate(values, axis=1), tuple(names), tuple(kinds))


def _check_size(
    formula: str | None, terms: Sequence[tuple[str, ...]], by_name: Mapping[str, _Columns], number: int, units: str
) -> None:
    columns = sum(math.prod(by_name[name].values.shape[1] for name in term) for term in terms)
    if columns * number > MAX_NUMBERS:
        raise InputError(
            f"formula {formula!r} asks for {columns:,} columns for {number:,} {units}; leave out products of many "
            "columns, as by (a + b + c)**2 in place of a * b * c"
        )


def _indicators(frame: pd.DataFrame, name: str) -> _Columns:
    column = frame[name].cat
    codes = column.codes.to_numpy()
    values = (codes[:, None] == np.arange(len(column.categories))).astype(np.float64)
    return _Columns(values, tuple(f"{name}[{level}]" for level in column.categories))


def _explanatory(frame: pd.DataFrame, name: str, levels: NDArray[np.integer], weight: FloatArray) -> _Columns:
    values = frame[name].to_numpy(dtype=np.float64)
    return _Columns(_standardised(_imputed(values, levels, weight), weight)[:, None], (name,))


def _imputed(values: FloatArray, levels: NDArray[np.integer], weight: FloatArray) -> FloatArray:
    """Fill what is missing (subgroup,) by the weighted mean over those that share most levels (subgroup, attribute)."""
    observed = np.isfinite(values) & (weight > 0)
    filled = values.copy()
    for i in np.flatnonzero(~np.isfinite(values)):
        if not observed.any():
            filled[i] = 0.0
            continue
        shared = (levels == levels[i]).sum(axis=1)
        near = observed & (shared == shared[observed].max())
        filled[i] = np.average(values[near], weights=weight[near])
    return filled


def _standardised(values: FloatArray, weight: FloatArray) -> FloatArray:
    """Centre and scale to unit weighted standard deviation; zeros where the values do not vary."""
    if not weight.sum() > 0:
        return np.zeros_like(values)
    centred = values - np.average(values, weights=weight)
    spread = float(np.sqrt(np.average(centred**2, weights=weight)))
    if spread <= CONSTANT * float(np.abs(values).max()):
        return np.zeros_like(values)
    return centred / spread


def _product(factors: list[_Columns]) -> _Columns:
    product = factors[0]
    for factor in factors[1:]:
        values = product.values[:, :, None] * factor.values[:, None, :]
        names = tuple(f"{left}:{right}" for left in product.names for right in factor.names)
        product = _Columns(values.reshape(len(values), -1), names)
    return _Columns(product.values + 0.0, product.names)  # no -0.0
