"""Numbers per subgroup from whatever is asked about: a tally, its margins, or a report with its draws."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from bayesgroups.errors import InputError, SchemaError
from bayesgroups.questions.certification.bounds import Sample
from bayesgroups.questions.certification.overlapping import MARGINS_SCHEMA, deviations, margins, weighted_means
from bayesgroups.report.draw_blocks import blocks
from bayesgroups.report.schema import check
from bayesgroups.tallies.assembly import SCHEMA
from bayesgroups.tallies.estimands import reported_estimands, superpopulation_values
from bayesgroups.tallies.notes import direction_note
from bayesgroups.tallies.participation import Imputed, check_imputed, participants

FloatArray = NDArray[np.float64]
BoolArray = NDArray[np.bool_]
TextArray = NDArray[np.str_]

Part = Literal["auto", "tally", "posterior", "bootstrap"]


@dataclass(frozen=True)
class Numbers:
    """One metric in every subgroup asked about.

    Attributes
    ----------
    metric, kind : str
        Name and kind.
    estimand : str
        What the values are, in words; empty where a report does not name it.
    sign : int
        1 where larger is better, -1 where larger is worse: ``sign * value`` is worse where it is smaller.
    range : tuple of two floats
        Smallest and largest possible value.
    part : str
        ``tally``, ``posterior`` or ``bootstrap``: what the numbers come from.
    sample : Sample
        What the tally says; its ``estimate`` is that of the report for a part with draws. NaN where not included.
    draws : array (draw, subgroup) or None
        Posterior draws or bootstrap replicates.
    factor : array (subgroup, source) or None
        Of the covariance of overlapping subgroups; ``None`` where they are independent or nothing is known.
    labels : array (subgroup,)
        Names of the subgroups.
    included : array (subgroup,)
        False where the subgroup takes no part.
    left_out : str
        Labels and reasons of those that take no part.
    intersection : array (subgroup,)
        False for margins.
    status, reason : arrays (subgroup,)
        As in a tally; ``imputed`` where only a model answers.
    usable : bool
        False where the report failed its diagnostics.
    """

    metric: str
    kind: str
    estimand: str
    sign: int
    range: tuple[float, float]
    part: str
    sample: Sample
    draws: FloatArray | None
    factor: FloatArray | None
    labels: TextArray
    included: BoolArray
    left_out: str
    intersection: BoolArray
    status: TextArray
    reason: TextArray
    usable: bool

    def weights(self) -> FloatArray:
        """Denominators of the subgroups that take part, of published estimates inverse variances.

        0 for imputed subgroups; NaN for all where every one of them is imputed, so that nothing is known of their shares.
        """
        count = self.sample.count[self.included]
        observed = self.status[self.included] != "imputed"
        if not observed.any():
            return np.full(count.shape, np.nan)
        if not np.isfinite(count[observed]).all():  # published estimates come without denominators
            count = 1 / self.sample.variance[self.included]
        return np.where(observed, count, 0.0)

    def oriented(self) -> Iterator[FloatArray]:
        """Draws of the subgroups that take part, worse where smaller, a block (draw, subgroup) after the other."""
        assert self.draws is not None, "asked for with draws only"
        for block in blocks(*self.draws.shape):
            yield self.sign * self.draws[block][:, self.included]


@dataclass(frozen=True)
class Source:
    """All metrics, the coordinates along ``subgroup``, and a sentence on directions that nobody gave, or none."""

    metrics: list[Numbers]
    coordinates: dict[str, object]
    note: str = ""

    @property
    def noted(self) -> dict[str, str]:
        """The attribute ``note`` of an answer that tells better subgroups from worse ones; nothing where there is none."""
        return {"note": self.note} if self.note else {}


def read(
    source: xr.Dataset | xr.DataTree,
    *,
    part: Part = "auto",
    with_margins: bool = False,
    order: int | None = None,
    larger_is_better: bool | None = None,
    imputed: Imputed = "leave_out",
) -> Source:
    """Read a tally, margins or a report.

    Parameters
    ----------
    source : xr.Dataset or xr.DataTree
        From `bayesgroups.tally` and related functions, `bayesgroups.margins`, or `bayesgroups.estimate`.
    part : {"auto", "tally", "posterior", "bootstrap"}
        What of a report is read; ``auto`` is its posterior.
    with_margins : bool
        Add every margin to the intersections of a tally or report.
    order : int, optional
        Most attributes of a margin.
    larger_is_better : bool, optional
        Replaces what the tally says of every metric.
    imputed : {"leave_out", "include"}
        Whether subgroups without rows that count take part where a model answers for them.

    Returns
    -------
    Source

    Raises
    ------
    InputError
        If there is no such part or treatment of imputed subgroups, an order is given without margins, or a margin of the
        metric is no mean of its intersections.
    SchemaError
        If it is neither a tally, margins nor a report.
    """
    if part not in get_args(Part):
        raise InputError(f"part={part!r} is not one of {', '.join(map(repr, get_args(Part)))}")
    check_imputed(imputed)
    if order is not None and not with_margins:
        raise InputError(f"order={order!r} is about margins; give margins=True as well")
    if isinstance(source, xr.DataTree):
        check(source)
        cells, usable = source["constant_data"].to_dataset(), bool(source.attrs["usable"])
        chosen = "posterior" if part == "auto" else part
        if chosen != "tally" and chosen not in source.children:
            held = "; NoPooling(bootstrap=2000) keeps replicates" if chosen == "bootstrap" else ""
            raise InputError(f"the report has no group {chosen!r}{held}")
    elif isinstance(source, xr.Dataset) and source.attrs.get("schema") in (SCHEMA, MARGINS_SCHEMA):
        if part in ("posterior", "bootstrap"):
            raise InputError(f"part={part!r} needs a report from bg.estimate(); a tally has no draws")
        cells, chosen, usable = source, "tally", True
    else:
        raise SchemaError(f"expected a tally or a report of bayesgroups; got {type(source).__name__}")
    table = margins(cells, order=order) if with_margins and cells.attrs.get("schema") == SCHEMA else cells
    draws = estimates = None
    if chosen != "tally":
        assert isinstance(source, xr.DataTree)
        approach = "bayesian" if chosen == "posterior" else "frequentist"
        estimates = source["estimates"].to_dataset().sel(approach=approach)
        draws = source[chosen].to_dataset()["mu"].transpose("metric", "chain", "draw", "subgroup").values
        draws = draws.reshape(draws.shape[0], -1, draws.shape[-1])
    cells = table.sel(subgroup=table["cell"].values) if "cell" in table.dims else table
    estimands = superpopulation_values(table) if estimates is None else reported_estimands(estimates)
    metrics = [
        _numbers(
            table,
            cells,
            i,
            chosen,
            None if draws is None else draws[i],
            estimates,
            larger_is_better,
            usable,
            imputed,
            str(estimands[i]),
        )
        for i in range(table.sizes["metric"])
    ]
    along = {str(name): values.variable for name, values in table.coords.items() if values.dims == ("subgroup",)}
    note = direction_note(table) if larger_is_better is None else ""
    return Source(metrics, {"metric": table["metric"].values, **along}, note)


def _numbers(
    table: xr.Dataset, cells: xr.Dataset, i: int, part: str, draws: FloatArray | None, estimates: xr.Dataset | None,
    larger_is_better: bool | None, usable: bool, imputed: Imputed, estimand: str,
) -> Numbers:  # fmt: skip
    one = table.isel(metric=i)
    name, kind = str(one["metric"].values), str(one["kind"].values)
    estimate, count = one["estimate"].values, one["count"].values
    status, reason = one["status"].values.astype("<U10"), one["reason"].values
    factor = None
    members = table["members"].values.astype(bool) if "members" in table else None
    additive = kind in ("rate", "mean")
    if members is not None and additive:
        own = cells.isel(metric=i)
        factor = deviations(own["estimate"].values, own["count"].values, float(one["pooled_variance"]), members)
    if draws is not None and estimates is not None:
        values = estimates["estimate"].values[i]
        if members is not None:
            if not additive:
                raise InputError(
                    f"metric {name!r}: that of a margin is no mean of its intersections, so draws do not add up"
                )
            weights = cells["count"].values[i]
            draws, values = weighted_means(draws, weights, members), weighted_means(values, weights, members)
        answered = np.isfinite(values) & np.isfinite(draws).any(axis=0)
        status = np.where((status == "undefined") & answered, "imputed", status)
        estimate = np.where(answered, values, np.nan)
    taking_part = participants(one, np.isfinite(estimate), imputed)
    estimate = np.where(taking_part.included, estimate, np.nan)
    sign = int(one["larger_is_better"]) if larger_is_better is None else int(larger_is_better)
    return Numbers(
        metric=name,
        kind=kind,
        estimand=estimand,
        sign=1 if sign else -1,
        range=(float(one["range_lower"]), float(one["range_upper"])),
        part=part,
        sample=Sample(
            estimate, count, one["successes"].values, one["sampling_variance"].values, one["bootstrap_variance"].values,
            float(one["pooled_df"]),
        ),
        draws=draws,
        factor=factor,
        labels=table["subgroup"].values,
        included=taking_part.included,
        left_out=taking_part.names,
        intersection=np.isin(table["subgroup"].values, cells["subgroup"].values),
        status=status,
        reason=reason,
        usable=usable,
    )  # fmt: skip


def spread(numbers: Numbers, rng: np.random.Generator) -> tuple[FloatArray, FloatArray]:
    """Draws that spread in every subgroup with a number, and their standard deviations.

    Replicates of a saturated or single subgroup are all alike, which is no evidence of certainty: they are replaced by
    normal ones with the pooled row variance.

    Parameters
    ----------
    numbers : Numbers
        With draws.
    rng : numpy Generator
        Source of randomness for what is replaced.

    Returns
    -------
    draws : array (draw, subgroup)
        NaN where there is no number.
    scale : array (subgroup,)
    """
    assert numbers.draws is not None, "asked for with draws only"
    draws = np.where(numbers.included, numbers.draws, np.nan)
    some = np.isfinite(draws).sum(axis=0) > 1
    scale = np.full(some.shape, np.nan)
    scale[some] = np.nanstd(draws[:, some], axis=0, ddof=1)
    flat = numbers.included & ~(scale > 0)
    if numbers.part == "bootstrap" and flat.any():
        scale = np.where(flat, np.sqrt(numbers.sample.variance), scale)
        noise = rng.standard_normal((len(draws), int(flat.sum())))
        draws[:, flat] = numbers.sample.estimate[flat] + scale[flat] * noise
    return draws, scale
