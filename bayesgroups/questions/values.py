"""Values of every metric per subgroup from a tally, a posterior or a bootstrap: the one reader of all questions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from bayesgroups.data.arrays import FloatArray
from bayesgroups.errors import InputError, SchemaError
from bayesgroups.questions.subgroup_values import Origin, Sample, Values
from bayesgroups.report.draw_blocks import blocks
from bayesgroups.report.overlap import refuse_overlapping
from bayesgroups.report.schema import check
from bayesgroups.tallies.assembly import SCHEMA
from bayesgroups.tallies.estimands import reported_estimands, superpopulation_values
from bayesgroups.tallies.notes import direction_note, shared_clusters_note
from bayesgroups.tallies.participation import Imputed, check_imputed, participants
from bayesgroups.tallies.subgroups import with_attributes

Using = Literal["auto", "tally", "posterior", "bootstrap"]
"""Where numbers come from; ``auto`` is the posterior of a report, and the tally where there is no report."""
Approach = Literal["bayesian", "frequentist"]
NOT_USABLE = "not usable: "
"""Opening of the reason of an answer whose fit failed its diagnostics."""
_APPROACHES: dict[str, Approach] = {"posterior": "bayesian", "bootstrap": "frequentist"}
_FIXES = {"posterior": "save the report with its draws", "bootstrap": "bg.NoPooling(bootstrap=2000) keeps replicates"}


@dataclass(frozen=True, eq=False)
class Source:
    """All metrics of a tally, or of its margins, with draws where they are asked for.

    ``estimates`` (metric, subgroup) are those of the tally, or of the approach of the report that the draws belong to;
    ``estimands`` (metric,) the quantities in words, empty where a report does not name them; ``usable`` is False where the
    report failed its diagnostics; ``larger_is_better`` replaces the tally's word on every metric.
    """

    tally: xr.Dataset
    using: Origin
    imputed: Imputed
    draws: xr.DataArray | None
    estimates: FloatArray
    estimands: NDArray[np.str_]
    usable: bool = True
    larger_is_better: bool | None = None

    @property
    def metrics(self) -> list[Values]:
        """Values of every metric."""
        return [self.read(i) for i in range(self.tally.sizes["metric"])]

    @property
    def coordinates(self) -> dict[str, object]:
        """Coordinates of an answer: metrics, and what is along ``subgroup``."""
        along = {str(name): x.variable for name, x in self.tally.coords.items() if x.dims == ("subgroup",)}
        return {"metric": self.tally["metric"].values, **along}

    @property
    def direction(self) -> dict[str, str]:
        """The attribute ``note`` of an answer that tells better subgroups from worse ones: directions that nobody gave."""
        note = direction_note(self.tally) if self.larger_is_better is None else ""
        return {"note": note} if note else {}

    @property
    def noted(self) -> dict[str, str]:
        """The same with a note on errors of a tally that are correlated, for an answer about several subgroups at once."""
        notes = [*self.direction.values(), shared_clusters_note(self.tally) if self.using == "tally" else ""]
        note = "; ".join(filter(None, notes))
        return {"note": note} if note else {}

    def answer(self, tables: Sequence[xr.Dataset], attrs: Mapping[str, object]) -> xr.Dataset:
        """Answers for every metric as one Dataset, with the coordinates of the source."""
        joined = xr.concat(tables, dim="metric", data_vars="all", join="exact")
        return with_attributes(joined, self.coordinates).assign_attrs(attrs)

    def read(self, position: int, *, unanswered: Literal["leave_out", "keep"] = "leave_out") -> Values:
        """Values of the metric at a position.

        ``unanswered`` is about subgroups that have rows and not a single draw: kept, they leave no draw complete.
        """
        table = self.tally.isel(metric=position)
        status = table["status"].values.astype("<U10")
        estimate, draws = self.estimates[position], None
        answered = np.isfinite(estimate)
        if self.draws is not None:
            draws = self.draws.isel(metric=position).values
            draws = draws.reshape(-1, draws.shape[-1])
            drawn = np.any([np.isfinite(draws[block]).any(axis=0) for block in blocks(*draws.shape)], axis=0)
            answered = drawn | np.isfinite(table["estimate"].values) if unanswered == "keep" else drawn & answered
            status = np.where((status == "undefined") & answered, "imputed", status)
        taking_part = participants(table, answered, self.imputed)
        larger = bool(table["larger_is_better"]) if self.larger_is_better is None else self.larger_is_better
        sample = Sample(
            estimate=np.where(taking_part.included, estimate, np.nan),
            count=table["count"].values,
            successes=table["successes"].values,
            variance=table["sampling_variance"].values,
            own_variance=table["bootstrap_variance"].values,
            freedom=float(table["pooled_df"]),
        )
        return Values(
            table, self.using, str(self.estimands[position]), 1 if larger else -1, sample, draws, taking_part.included,
            taking_part.names, status, self.usable,
        )  # fmt: skip


def open_source(
    source: object, using: Using = "auto", *, imputed: Imputed = "leave_out", larger_is_better: bool | None = None,
    schemas: Sequence[str] = (SCHEMA,), overlapping: bool = False,
) -> Source:  # fmt: skip
    """Source of a tally or a report.

    ``using="auto"`` is the posterior of a report, and the tally where there is no report; ``schemas`` are those of the
    Datasets that the question takes; ``overlapping`` says that targets that share people will do, by their draws. An
    InputError if a setting does not exist, a tally is asked for draws, or the report
    was made, or saved, without them; a SchemaError if the source is neither.
    """
    check_using(using)
    check_imputed(imputed)
    if not overlapping or using == "tally" or isinstance(source, xr.Dataset):
        refuse_overlapping(source, "this question" if not overlapping else "an answer without draws")
    if isinstance(source, xr.Dataset) and source.attrs.get("schema") in schemas:
        if using in _APPROACHES:
            raise InputError(f"using={using!r} needs a report from bg.estimate(); a tally has no draws")
        tally, usable = source, True
    elif isinstance(source, xr.DataTree):
        check(source)
        tally, usable = source["constant_data"].to_dataset(), bool(source.attrs["usable"])
    else:
        raise SchemaError(f"expected a tally or a report of bayesgroups; got {type(source).__name__}")
    if using == "tally" or not isinstance(source, xr.DataTree):
        estimates = tally["estimate"].transpose("metric", "subgroup").values
        estimands = superpopulation_values(tally)
        return Source(tally, "tally", imputed, None, estimates, estimands, usable, larger_is_better)
    origin: Origin = "posterior" if using == "auto" else using
    if origin not in source.children:
        raise InputError(f"the report has no group {origin!r}, which using={origin!r} needs; {_FIXES[origin]}")
    draws = source[origin].to_dataset()["mu"].transpose("chain", "draw", "metric", "subgroup")
    answers = source["estimates"].to_dataset().sel(approach=_APPROACHES[origin])
    estimates = answers["estimate"].transpose("metric", "subgroup").values
    return Source(tally, origin, imputed, draws, estimates, reported_estimands(answers), usable, larger_is_better)


def check_using(using: object) -> None:
    """Refusal, as an InputError that names the four that exist, of a place for numbers to come from."""
    if using not in get_args(Using):
        raise InputError(f"using={using!r} is not one of {', '.join(map(repr, get_args(Using)))}")


def approach_shown(using: Using) -> Approach:
    """Approach of a report whose estimates are shown: the frequentist one is made from the tally alone.

    An InputError for the bootstrap, whose replicates have no estimates of their own, and for a place that does not exist.
    """
    check_using(using)
    if using == "bootstrap":
        raise InputError(
            "using='bootstrap' has no estimates of its own to show: replicates vary about the frequentist estimates, which "
            "are made from the tally; give using='tally'"
        )
    return "frequentist" if using == "tally" else "bayesian"
