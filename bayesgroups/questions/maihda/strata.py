"""One metric of a tally as strata: sums of those with rows, and main effects of all."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import pandas as pd
import xarray as xr

from bayesgroups.data.arrays import BoolArray, FloatArray
from bayesgroups.errors import InputError, near_misses
from bayesgroups.models.shared.area_design import area_design, check_rank
from bayesgroups.questions.contrasts.cells import cells_of, population_of
from bayesgroups.questions.maihda import mean_models, rate_models
from bayesgroups.tallies.denominators import denominators
from bayesgroups.tallies.subgroups import attributes_of

Method = Literal["reml", "ml"]
Weights = Literal["strata", "rows"]


@dataclass(frozen=True)
class Strata:
    """Strata of one metric, all of them along (stratum,), and the names of the main effects of the adjusted model.

    ``rate`` is True for a rate; ``used`` are strata with rows; ``weight`` are those of the shares.
    """

    tally: xr.Dataset
    metric: str
    rate: bool
    used: BoolArray
    count: FloatArray
    successes: FloatArray
    mean: FloatArray
    adjust: tuple[str, ...]
    weight: FloatArray

    @property
    def models(self) -> dict[str, tuple[str, ...]]:
        """Names of the models and the attributes that they adjust for."""
        single = {f"only:{name}": (name,) for name in self.adjust} if len(self.adjust) > 1 else {}
        return {"null": (), **single, "adjusted": self.adjust}

    @property
    def rows(self) -> float:
        """Number of rows."""
        return float(self.count[self.used].sum())

    @property
    def row_variance(self) -> float:
        """Variance of rows within strata."""
        return float(self.tally["pooled_variance"].values[0])

    @property
    def freedom(self) -> float:
        """Degrees of freedom of that variance."""
        return self.rows - float(self.used.sum())

    def columns(self, names: Sequence[str]) -> FloatArray:
        """Columns of the main effects of some attributes, all strata, an intercept first."""
        return area_design(self.tally, names).with_intercept

    def means(self, names: Sequence[str], method: Method) -> mean_models.Means:
        """Sums of the strata with rows, of a metric that is a mean."""
        within = np.nansum(self.tally["row_variance"].values[0][self.used] * self.scatter_freedom)
        return mean_models.Means(
            self.count[self.used], self.mean[self.used], float(within), self.columns(names)[self.used], method == "reml"
        )

    @property
    def scatter_freedom(self) -> FloatArray:
        """Rows less one, by which a stratum's row variance becomes its sum of squares."""
        return np.asarray(self.count[self.used] - 1, dtype=np.float64)

    def counts(self, names: Sequence[str]) -> rate_models.Counts:
        """Counts of the strata with rows, of a rate."""
        return rate_models.Counts(self.successes[self.used], self.count[self.used], self.columns(names)[self.used])


def people_of(population: pd.DataFrame, tally: xr.Dataset, weights: Weights) -> FloatArray:
    """Number of people (stratum,) of a table; InputError where it is not one, or where other weights are asked for as well."""
    if weights != "strata":
        raise InputError(f"weights={weights!r} and population= are both weights of strata; leave one of them out")
    return population_of(population, cells_of(tally))


def strata_of(
    tally: xr.Dataset, adjust: Sequence[str] | None, weights: Weights, people: FloatArray | None = None
) -> Strata:
    """Strata of a tally with one metric; InputError where it has no multilevel model, or main effects cannot be told apart."""
    metric, kind = str(tally["metric"].values[0]), str(tally["kind"].values[0])
    if kind not in ("rate", "mean"):
        raise InputError(
            f"metric {metric!r} is of kind {kind!r}; maihda models rows of strata, which rates and means have; tally one of these"
        )
    by = attributes_of(tally)
    if len(by) < 2:
        raise InputError(
            f"the tally has one attribute ({by[0]}), so main effects leave nothing to add; tally by two attributes or more"
        )
    named = tuple(by if adjust is None else [adjust] if isinstance(adjust, str) else adjust)
    for name in named:
        if name not in by:
            raise InputError(f"adjust= names {name!r}, which is no attribute of the tally; {near_misses(name, by)}")
    if not named:
        raise InputError(
            f"adjust= is empty; name attributes of the tally ({', '.join(by)}), or leave it out for all of them"
        )
    count = np.nan_to_num(np.asarray(tally["count"].values[0], dtype=np.float64))
    used = (count > 0) & np.isfinite(tally["estimate"].values[0])
    _check_values(tally, metric, used)
    _check_levels(tally, by, named, used)
    try:
        check_rank(area_design(tally, named), used, metric)
    except ValueError as problem:  # what models share knows nothing of the errors of the package
        raise InputError(f"maihda: {problem}") from problem
    rows = np.nan_to_num(denominators(tally.isel(metric=0)))
    weight = (np.ones(len(count)) if weights == "strata" else rows) if people is None else people
    columns = area_design(tally, named).with_intercept
    if people is not None and np.linalg.matrix_rank(columns[(people > 0) & used]) < columns.shape[1]:
        raise InputError(
            f"metric {metric!r}: population= has people in so few strata with rows that the main effects of {', '.join(named)} "
            "cannot be told apart; give the people of more strata, or adjust for fewer attributes"
        )
    successes = np.where(used, tally["successes"].values[0], 0.0)
    mean = np.where(used, tally["estimate"].values[0], np.nan)
    return Strata(tally, metric, kind == "rate", used, count, successes, mean, named, weight)


def _check_values(tally: xr.Dataset, metric: str, used: BoolArray) -> None:
    """Refuse a metric that no stratum has, and a mean whose rows do not differ within strata."""
    if not used.any():
        undefined = str(tally["undefined_when"].values[0])
        why = f" ({undefined})" if undefined else ""
        raise InputError(f"maihda: metric {metric!r} is undefined in every stratum{why}; leave it out of the tally")
    if str(tally["kind"].values[0]) == "mean" and (tally["count"].values[0][used] <= 1).all():
        raise InputError(
            f"maihda: every stratum has one row of metric {metric!r} at most, so that the variance of rows cannot be told from "
            "that between strata; tally more rows, or by fewer attributes"
        )
    if str(tally["kind"].values[0]) == "mean" and float(tally["pooled_variance"].values[0]) == 0:
        raise InputError(
            f"maihda: the rows of metric {metric!r} do not differ within strata, so that their variance has no share; leave "
            "it out of the tally"
        )


def _check_levels(tally: xr.Dataset, by: Sequence[str], named: Sequence[str], used: BoolArray) -> None:
    """Refuse an attribute of the adjusted model that has one level in the strata with rows."""
    levels = {name: list(dict.fromkeys(tally[name].values[used].astype(str).tolist())) for name in by}
    single = next((name for name in named if len(levels[name]) == 1), None)
    if single is None:
        return
    varying = [name for name in by if len(levels[name]) > 1]
    fix = (
        f"adjust for the others, as adjust={varying}"
        if len(varying) > 1
        else "tally by two attributes that vary, or more"
    )
    raise InputError(
        f"maihda: attribute {single!r} has one level in the strata with rows, {levels[single][0]!r}, and so no main effect; {fix}"
    )
