"""Columns of a regression across subgroups: dummies of attributes, and features. No PyMC here.

An attribute has a dummy for every level but its first, in the order of the tally; a feature is in units of its standard deviation
over the subgroups. Every column has mean 0 over the subgroups, so that the intercept is the centre of an average one.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import xarray as xr
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]

COEFFICIENT_LOGIT = 2.5
"""Prior standard deviation of the coefficient of a covariate of a rate, in logits."""


@dataclass(frozen=True)
class AreaDesign:
    """Columns (subgroup, column) without the intercept; ``unit`` (column,) is what 1 stands for, in units of the covariate."""

    values: FloatArray
    names: tuple[str, ...]
    mean: FloatArray
    unit: FloatArray

    @property
    def with_intercept(self) -> FloatArray:
        """The columns behind one of ones."""
        return np.column_stack([np.ones(len(self.values)), self.values])


def area_design(tally: xr.Dataset, covariates: Sequence[str]) -> AreaDesign:
    """Columns of attributes and features of a tally.

    Parameters
    ----------
    tally : xr.Dataset
        A tally; read are the attributes in ``attrs["by"]`` and ``feature_mean(subgroup, feature)``.
    covariates : sequence of str
        Names of attributes or features.

    Returns
    -------
    AreaDesign
        Columns ``sex[m]`` of attributes and ``visits`` of features.

    Raises
    ------
    ValueError
        If a name is neither or is there twice, a subgroup has no value of a feature, or a covariate is the same in all of them.

    Examples
    --------
    >>> tally = xr.Dataset(
    ...     {"feature_mean": (("subgroup", "feature"), [[1.0], [3.0], [5.0]])},
    ...     coords={"subgroup": ["a", "b", "c"], "feature": ["visits"], "site": ("subgroup", ["a", "b", "c"])},
    ...     attrs={"by": '{"by": ["site"]}'})
    >>> design = area_design(tally, ["site", "visits"])
    >>> design.names, design.values.round(2).tolist()
    (('site[b]', 'site[c]', 'visits'), [[-0.33, -0.33, -1.22], [0.67, -0.33, 0.0], [-0.33, 0.67, 1.22]])
    """
    by = json.loads(tally.attrs.get("by", "{}")).get("by", [])
    features = [str(name) for name in tally["feature"].values] if "feature_mean" in tally else []
    columns: list[FloatArray] = []
    names: list[str] = []
    units: list[float] = []
    for position, name in enumerate(covariates):
        if name in covariates[:position]:
            raise ValueError(f"covariate {name!r} is named twice; name it once")
        if name in by:
            made, labels = _dummies(tally[name].values, name), _levels(tally[name].values)[1:]
            columns += list(made.T)
            names += [f"{name}[{level}]" for level in labels]
            units += [1.0] * len(labels)
        elif name in features:
            values = np.asarray(tally["feature_mean"].sel(feature=name).values, dtype=np.float64)
            _check_values(tally, name, values)
            columns.append(values)
            names.append(name)
            units.append(float(values.std()))
        else:
            raise ValueError(
                f"covariate {name!r} is neither an attribute of the tally ({', '.join(by) or 'none'}) nor a feature of it "
                f"({', '.join(features) or 'none'}); name it in features= when tallying"
            )
        if not columns or not columns[-1].std() > 0 or (name in by and not labels):
            raise ValueError(f"covariate {name!r} is the same in all subgroups, so it explains nothing; leave it out")
    raw = np.stack(columns, axis=1) if columns else np.empty((tally.sizes["subgroup"], 0))
    mean, unit = raw.mean(axis=0), np.array(units, dtype=np.float64)
    return AreaDesign((raw - mean) / unit, tuple(names), mean, unit)


def check_rank(design: AreaDesign, used: NDArray[np.bool_], metric: str) -> None:
    """Check that the subgroups with an estimate tell the coefficients apart.

    Parameters
    ----------
    design : AreaDesign
        The columns.
    used : NDArray[np.bool_]
        Shape (subgroup,): which subgroups have an estimate.
    metric : str
        Name of the metric, for the message.

    Raises
    ------
    ValueError
        If columns depend on one another there, or there are too few of them: two more subgroups than coefficients and the
        intercept are the least that leave a spread to estimate.

    Examples
    --------
    >>> design = AreaDesign(np.array([[-1.0], [1.0], [-1.0], [1.0]]), ("visits",), np.zeros(1), np.ones(1))
    >>> check_rank(design, np.array([True, True, True, True]), "fnr")
    >>> check_rank(design, np.array([True, True, True, False]), "fnr")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ValueError: metric 'fnr': 3 subgroups have an estimate, for 2 coefficients (intercept, visits); 4 are the least, ...
    """
    matrix = design.with_intercept[used]
    rows, columns = matrix.shape
    names = ("intercept", *design.names)
    dependent = [
        names[j]
        for j in range(1, columns)
        if np.linalg.matrix_rank(matrix[:, : j + 1]) == np.linalg.matrix_rank(matrix[:, :j])
    ]
    if dependent:
        raise ValueError(
            f"metric {metric!r}: among the {rows} subgroups with an estimate, the columns {', '.join(dependent)} follow from the "
            f"columns before them ({', '.join(names)}); leave them out, or add subgroups that tell them apart"
        )
    if columns >= rows - 1:
        raise ValueError(
            f"metric {metric!r}: {rows} subgroups have an estimate, for {columns} coefficients ({', '.join(names)}); "
            f"{columns + 2} are the least, so name fewer covariates"
        )


def _levels(values: NDArray[np.str_]) -> list[str]:
    """Levels in the order of the tally."""
    return list(dict.fromkeys(str(value) for value in values))


def _dummies(values: NDArray[np.str_], name: str) -> FloatArray:
    """Dummies (subgroup, level) of every level but the first."""
    texts = np.array([str(value) for value in values])
    return np.stack([texts == level for level in _levels(values)], axis=1).astype(np.float64)[:, 1:]


def _check_values(tally: xr.Dataset, name: str, values: FloatArray) -> None:
    missing = ~np.isfinite(values)
    if missing.any():
        label = str(tally["subgroup"].values[int(np.argmax(missing))])
        raise ValueError(
            f"subgroup {label!r} has no value of the covariate {name!r}; give one in features=, also where there is no estimate, "
            f"or take attributes for covariates"
        )
