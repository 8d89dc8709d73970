"""Target population that a page of subgroups is asked for: its report, and what the page says of every metric."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import xarray as xr

from bayesgroups.errors import InputError
from bayesgroups.questions.populations import poststratify
from bayesgroups.report.overlap import overlaps
from bayesgroups.report.schema import check
from bayesgroups.report.view import failures, metrics_of, plain
from bayesgroups.tallies.subgroups import attributes_of
from bayesgroups.views.html.sections.context import Context, contexts
from bayesgroups.views.html.sections.estimates import table


@dataclass(frozen=True)
class Served:
    """Metrics of the targets by name, empty where no population is asked for, and what there is to remark on them."""

    contexts: Mapping[str, Context]
    remarks: tuple[str, ...] = ()

    def section(self, metric: str) -> dict[str, Any] | None:
        """Estimand, table of both approaches and remarks of a metric."""
        if metric not in self.contexts:
            return None
        context = self.contexts[metric]
        return {"estimand": context.reading.headline(), "table": table(context), "remarks": self.remarks}

    def missing(self, metric: str) -> str:
        """Sentence about a metric that the report of the target population lacks."""
        if not self.contexts or metric in self.contexts:
            return ""
        return (
            f"The report of the target population has no {plain(metric)}, only {', '.join(map(plain, self.contexts))}."
        )


def asked_targets(report: xr.DataTree, population: Any, level: float) -> Served:
    """Targets of a population of sizes, or of the report of one, which must be of the subgroups of the ``report``."""
    if population is None:
        return Served({})
    if overlaps(report):
        raise InputError(
            "population=: the report is of a target population itself; give the report that bg.poststratify() was given, or "
            "leave population= out"
        )
    targets = population if isinstance(population, xr.DataTree) else _weighted(report, population)
    check(targets)
    if not overlaps(targets):
        raise InputError(
            "population= is a report of subgroups; expected sizes of a population, or the report of bg.poststratify()"
        )
    cells = targets["constant_data"].to_dataset()["cell"].values.tolist()
    labels = report["estimates"].to_dataset()["subgroup"].values.tolist()
    if cells != labels:
        lacking = next((label for label in (*labels, *cells) if (label in cells) != (label in labels)), "their order")
        raise InputError(
            f"population=: the report of targets is of other subgroups, see {lacking!r}; poststratify the report of the page"
        )
    if not set(metrics_of(targets)) & set(metrics_of(report)):
        raise InputError(
            f"population=: the report of targets has the metrics {metrics_of(targets)}, and that of the page "
            f"{metrics_of(report)}; poststratify the report of the page"
        )
    earlier = [*json.loads(str(report.attrs.get("notes", "[]"))), *failures(report)]
    told = [*json.loads(str(targets.attrs.get("notes", "[]"))), *failures(targets)]
    remarks = tuple(f"Note: {plain(note)}" for note in told if note not in earlier)
    return Served({context.name: context for context in contexts(targets, level, None)}, remarks)


def _weighted(report: xr.DataTree, population: Any) -> xr.DataTree:
    """Everybody and every level of the attributes, with the seed of the report."""
    by = attributes_of(report["constant_data"].to_dataset())
    return poststratify(report, population, by=by, seed=int(report.attrs["seed"]))
