"""Populations: labelled rows whose metrics are known, and evaluation sets drawn from them."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import xarray as xr

from bayesgroups import tallies
from bayesgroups.data.arrays import BoolArray, FloatArray
from bayesgroups.data.metrics import Metric
from bayesgroups.data.texts import as_json
from bayesgroups.datasets.draws import draw_evaluation, generator
from bayesgroups.errors import InputError, near_misses

if TYPE_CHECKING:
    import pandas as pd

Design = Literal["stratified", "independent"]
MAX_ROWS_OF_SMALL_SUBGROUP = 25
"""Rows of a small subgroup of an evaluation set, at most."""


@dataclass(frozen=True, eq=False)
class Population:
    """Rows whose metrics are known, and how evaluation sets are drawn from them.

    Parameters
    ----------
    name : str
        Part of what its draws depend on, and the folder of its records.
    frame : pandas DataFrame
        The labelled rows; only the columns that are named are kept.
    by : mapping
        Attributes of the subgroups and their levels; all combinations are subgroups of every draw.
    metrics : tuple of str or Metric
        What is measured.
    rows : int
        Rows of an evaluation set.
    design : {"stratified", "independent"}
        ``stratified`` draws without replacement, subgroups in proportion to their size by largest remainder;
        ``independent`` draws every row from all of them, with replacement.
    fewest : int
        Rows below which the population value of a subgroup is no truth to be held to.
    y_true, y_score : str, optional
        Columns of outcome and score.
    threshold : float, optional
        Turns the score into a decision.
    coverage_rows, coverage_count : int
        Rows of a subgroup in the population, and of the metric's denominator, below which its value there is too far from
        the superpopulation's to say whether an interval covers it.
    no_differences : bool
        Before every draw the outcomes are permuted over the rows, so that all subgroups have the true value of everyone.

    Raises
    ------
    InputError
        If a column is absent, an attribute has other levels, or there are too few rows or none asked for.

    Examples
    --------
    >>> import pandas as pd
    >>> people = pd.DataFrame({"sex": ["f"] * 60 + ["m"] * 60, "wrong": [0, 1] * 30 + [1] * 60})
    >>> wrong = Metric("wrong", value="wrong", kind="rate")
    >>> population = Population("people", people, {"sex": ("f", "m")}, (wrong,), rows=30, design="independent")
    >>> population.truth().values.tolist()
    [[0.5, 1.0]]
    >>> population.draw(0, seed=1).tally["rows"].values.sum()
    np.float64(30.0)
    """

    name: str
    frame: pd.DataFrame
    by: Mapping[str, tuple[str, ...]]
    metrics: tuple[str | Metric, ...]
    rows: int
    design: Design
    fewest: int = 40
    y_true: str | None = None
    y_score: str | None = None
    threshold: float | None = None
    no_differences: bool = False
    coverage_rows: int = 1
    coverage_count: int = 1

    def __post_init__(self) -> None:
        columns = [*self.by, *self._outcomes()]
        frame_columns = [str(column) for column in self.frame.columns]
        for column in columns:
            if column not in frame_columns:
                raise InputError(
                    f"population {self.name!r} has no column {column!r}; {near_misses(column, frame_columns)}"
                )
        for column, levels in self.by.items():
            strange = sorted(set(self.frame[column]) - set(levels))
            if strange:
                raise InputError(f"population {self.name!r}: {column!r} has level {strange[0]!r}, not in {levels}")
        if self.design not in ("stratified", "independent"):
            raise InputError(f"design={self.design!r} is not 'stratified' or 'independent'")
        if self.rows < 1 or (self.design == "stratified" and self.rows > len(self.frame)):
            raise InputError(f"population {self.name!r} has {len(self.frame)} rows; {self.rows} cannot be drawn")
        object.__setattr__(self, "frame", self.frame[columns].reset_index(drop=True))

    @property
    def metric_names(self) -> tuple[str, ...]:
        """Names of the metrics."""
        return tuple(metric if isinstance(metric, str) else metric.name for metric in self.metrics)

    def tally(self, frame: pd.DataFrame) -> xr.Dataset:
        """Tally of rows as those of the population are."""
        return tallies.tally(
            frame, by=self.by, metrics=self.metrics, y_true=self.y_true, y_score=self.y_score, threshold=self.threshold
        )

    def truth(self) -> xr.DataArray:
        """The value of every subgroup in the population, (metric, subgroup); NaN where it has too few rows."""
        whole = self.tally(self.frame)
        values = whole["estimate"].where(whole["rows"] >= self.fewest)
        if self.no_differences:
            everyone = tallies.tally(
                self.frame.assign(everyone="everyone"), by=["everyone"], metrics=self.metrics,
                y_true=self.y_true, y_score=self.y_score, threshold=self.threshold,
            )  # fmt: skip
            values = everyone["estimate"].isel(subgroup=0, drop=True).where(values.notnull())  # noqa: PD004
        return values.transpose("metric", "subgroup").rename("truth")

    def covers(self) -> xr.DataArray:
        """Subgroups whose value in the population stands for the superpopulation's, (metric, subgroup)."""
        whole = self.tally(self.frame)
        large = (whole["rows"] >= self.coverage_rows) & (whole["count"] >= self.coverage_count)
        return large.transpose("metric", "subgroup").rename("covers")

    def sample(self, draw: int, *, seed: int) -> pd.DataFrame:
        """The rows of one evaluation set, a function of the name, the draw and the seed."""
        digest = hashlib.sha256(self.name.encode()).digest()
        key = np.random.SeedSequence([int(seed), int.from_bytes(digest[:8], "big"), int(draw)])
        first, second = (int(number) for number in key.generate_state(2))
        frame = self.frame
        if self.no_differences:
            outcomes = list(self._outcomes())
            order = generator(second).permutation(len(frame))
            frame = frame.assign(**{name: frame[name].to_numpy()[order] for name in outcomes})
        if self.design == "stratified":
            return draw_evaluation(frame, list(self.by), self.rows, seed=first)
        return frame.iloc[generator(first).integers(len(frame), size=self.rows)]

    def draw(self, draw: int, *, seed: int, truth: xr.DataArray | None = None) -> Drawn:
        """Tally one evaluation set; give ``truth`` where it is known already, for speed."""
        tally = self.tally(self.sample(draw, seed=seed))
        return Drawn(self, draw, tally, self.truth() if truth is None else truth)

    def without_differences(self) -> Population:
        """The same rows with outcomes permuted over them: a population in which no subgroup differs."""
        return replace(self, name=f"{self.name}, no differences", no_differences=True)

    def fingerprint(self) -> str:
        """A digest of all that its draws depend on, in hexadecimal; ``fewest`` is about the truth alone."""
        from pandas import util

        hash_array: Any = util.hash_array  # its stub is a bare object
        digest = hashlib.sha256()
        for column in self.frame.columns:
            digest.update(hash_array(self.frame[column].to_numpy()).tobytes())
        design = [self.name, self.rows, self.design, self.y_true, self.y_score, self.threshold]
        described = [[str(name), list(levels)] for name, levels in self.by.items()]
        digest.update(as_json({"design": design, "by": described, "metrics": list(self.metric_names)}).encode())
        digest.update(as_json({"columns": list(self.frame.columns), "no_differences": self.no_differences}).encode())
        return digest.hexdigest()

    def _outcomes(self) -> tuple[str, ...]:
        """Columns that the metrics need."""
        roles = [column for column in (self.y_true, self.y_score) if column is not None]
        values = [metric.value for metric in self.metrics if isinstance(metric, Metric)]
        for value in values:
            if not isinstance(value, str):
                raise InputError(f"population {self.name!r}: the value of a metric of one's own must name a column")
        return tuple(dict.fromkeys([*roles, *(str(value) for value in values)]))


@dataclass(frozen=True, eq=False)
class Drawn:
    """Evaluation set of a population, by the number ``index`` of its draw.

    ``truth`` are population values (metric, subgroup), aligned with the tally; NaN where there is no truth to be held to.
    """

    population: Population
    index: int
    tally: xr.Dataset
    truth: xr.DataArray

    @property
    def rows(self) -> FloatArray:
        """Rows drawn of each subgroup, (subgroup,)."""
        return np.asarray(self.tally["rows"].values, dtype=np.float64)

    @property
    def scored(self) -> BoolArray:
        """Mask of the defined standard estimates whose truth is known, (metric, subgroup)."""
        return np.asarray(np.isfinite(self.truth.values) & np.isfinite(self.tally["estimate"].values))
