"""Plans of labelling, by subgroup and decision, so that rates are known best."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import xarray as xr

from bayesgroups.data.arrays import FloatArray, IntArray
from bayesgroups.data.keywords import checked_keywords
from bayesgroups.errors import InputError
from bayesgroups.frequentist.intervals.interval import normal_quantile
from bayesgroups.questions.judges.allocation import allocate
from bayesgroups.report.schema import check
from bayesgroups.tallies.partial_labels import read_partial
from bayesgroups.tallies.post_stratified import smoothed

Target = Literal["subgroups", "overall"]
MIN_LABELS = 2
"""Labels that every subgroup and decision with so many rows gets."""


@dataclass(frozen=True)
class _Plan:
    """Start of a plan, (subgroup, decision) each: judged and labelled rows, and the assumed rate of the outcome."""

    judged: FloatArray
    labelled: FloatArray
    rate: FloatArray

    @property
    def share(self) -> FloatArray:
        rows = self.judged.sum(axis=1, keepdims=True)
        return np.where(rows > 0, self.judged / np.where(rows > 0, rows, 1.0), 0.0)

    @property
    def spread(self) -> FloatArray:
        """Standard deviation of an outcome given the decision times the share of the decision."""
        return np.asarray(self.share * np.sqrt(self.rate * (1 - self.rate)))

    @property
    def fixed(self) -> FloatArray:
        """Variance (subgroup,) that no label removes: that of the shares of the decisions."""
        rows = self.judged.sum(axis=1)
        mean = (self.share * self.rate).sum(axis=1, keepdims=True)
        between = (self.share * (self.rate - mean) ** 2).sum(axis=1)
        return np.where(rows > 0, between / np.where(rows > 0, rows, 1.0), np.nan)


@checked_keywords
def rows_to_label(
    source: xr.Dataset | xr.DataTree, *, number: int | None = None, width: float | None = None, target: Target = "subgroups",
    level: float = 0.95,
) -> xr.Dataset:  # fmt: skip
    """Plan the rows to label, by subgroup and decision of the judge.

    Estimand: labels with which the post-stratified rate of the outcome has the least variance, or intervals of a given width.

    Parameters
    ----------
    source : xr.Dataset or xr.DataTree
        A tally that keeps rows without an outcome, with two classes, or a report of one. Rates after either decision are taken from
        the draws of the cells of a report, which is better than from few labels of a tally (with one row more after each).
    number : int, optional
        Labels in all, those that are there already included.
    width : float, optional
        Width of the intervals to be reached, instead.
    target : {"subgroups", "overall"}
        The same width in all subgroups, or the least variance of the rate of all rows.
    level : float
        Probability of the intervals.

    Returns
    -------
    xr.Dataset
        Along ``subgroup`` and ``decision``: ``labels`` to have, ``more`` than there are, ``judged`` rows, ``labelled`` rows and
        the ``assumed`` rate of the outcome. Along ``subgroup``: ``expected_width`` of its interval and ``reason`` where a width
        cannot be reached. ``expected_width_overall`` of the rate of all rows.

    Raises
    ------
    InputError
        If neither or both of number and width are given or cannot be met, the target does not exist, or the source has no cells.

    Notes
    -----
    The variance is the sum over subgroups and decisions of W^2 s^2 r (1 - r) / m, plus that of the shares s of the decisions, so
    that labels go where W s sqrt(r (1 - r)) is large (Neyman). At least 2 after every decision with rows, and no more than there
    are; rounding is by largest remainders. The gain over labels in proportion to the rows is small; what matters is that
    no decision is left without labels.

    References
    ----------
    Neyman (1934), doi:10.2307/2342192. Fisch et al. (2024), arXiv:2406.04291.

    Examples
    --------
    >>> import pandas as pd
    >>> import bayesgroups as bg
    >>> gold = [1] * 6 + [0] * 2 + [None] * 62 + [1] * 3 + [0] * 9 + [None] * 118
    >>> rows = pd.DataFrame({"dialect": "a", "gold": gold, "judge": [1] * 70 + [0] * 130})
    >>> tally = bg.tally(rows, ["dialect"], ["prev"], y_true="gold", y_pred="judge", unlabelled="keep")
    >>> plan = bg.rows_to_label(tally, number=60)
    >>> plan["labels"].values.tolist(), plan["more"].values.tolist()
    ([[39, 21]], [[27, 13]])
    """
    if (number is None) == (width is None):
        raise InputError(
            "rows_to_label() takes exactly one of number= and width=; give the labels one can afford, or a width"
        )
    z = normal_quantile(level)
    tally, plan = _start(source)
    weight = np.ones(len(plan.judged))
    if target == "overall":
        weight = plan.judged.sum(axis=1) / plan.judged.sum()
    least = np.maximum(np.minimum(plan.judged, MIN_LABELS), plan.labelled)
    if number is not None:
        labels = _number(plan, number, least, weight, target)
    else:
        assert width is not None, "one of both is given"
        labels = _width(plan, width, least, weight, target, z)
    variance = _variance(plan, labels)
    reached = 2 * z * np.sqrt(variance)
    reason = np.full(len(labels), "", dtype="<U90")
    reason[plan.judged.sum(axis=1) == 0] = "no rows"
    if width is not None and target == "subgroups":
        short = np.isfinite(reached) & (reached > width * (1 + 1e-9)) & (labels >= plan.judged).all(axis=1)
        reason[short] = "the width cannot be reached with these rows, even if all are labelled"
    share = plan.judged.sum(axis=1) / plan.judged.sum()
    arms = ("subgroup", "decision")
    data: dict[str, Any] = {
        "labels": (arms, labels),
        "more": (arms, labels - plan.labelled.astype(np.int64)),
        "judged": (arms, plan.judged.astype(np.int64)),
        "labelled": (arms, plan.labelled.astype(np.int64)),
        "assumed": (arms, np.where(plan.judged > 0, plan.rate, np.nan)),
        "expected_width": ("subgroup", reached),
        "reason": ("subgroup", reason),
        "expected_width_overall": 2 * z * np.sqrt(np.nansum(share**2 * np.nan_to_num(variance))),
    }
    where = {str(name): coord for name, coord in tally.coords.items() if coord.dims in (("subgroup",), ("decision",))}
    return xr.Dataset(data, where, {"target": target, "level": level})


def _start(source: xr.Dataset | xr.DataTree) -> tuple[xr.Dataset, _Plan]:
    if isinstance(source, xr.DataTree):
        check(source)
    tally = source["constant_data"].to_dataset() if isinstance(source, xr.DataTree) else source
    if "cell_count" not in tally.data_vars:
        raise InputError(
            "rows_to_label() needs decisions and outcomes; make the tally with bg.tally(..., unlabelled='keep')"
        )
    if tally.sizes["decision"] != 2:
        raise InputError(f"rows_to_label() plans for two classes; the tally has {tally['decision'].values.tolist()}")
    sums = read_partial(tally)
    if isinstance(source, xr.DataTree) and "cell_share" in source["posterior"]:
        share = source["posterior"]["cell_share"].transpose("chain", "draw", "subgroup", "outcome", "decision").values
        share = share.reshape(-1, *share.shape[2:])
        rate = (share[:, :, 1] / share.sum(axis=2)).mean(axis=0)
    else:
        more = smoothed(sums.effective[1])
        rate = more[:, 1] / more.sum(axis=1)
    return tally, _Plan(sums.judged, sums.labelled, rate)


def _variance(plan: _Plan, labels: IntArray) -> FloatArray:
    """Variance (subgroup,) of the rate with these labels; NaN without rows."""
    with np.errstate(divide="ignore", invalid="ignore"):
        parts = np.where(plan.judged > 0, plan.spread**2 / labels, 0.0)
    return np.asarray(parts.sum(axis=1) + plan.fixed)


def _number(plan: _Plan, number: int, least: FloatArray, weight: FloatArray, target: Target) -> IntArray:
    if isinstance(number, bool) or not isinstance(number, int | np.integer) or number < 1:
        raise InputError(f"number={number!r} must be a whole number, 1 or larger")
    if number < least.sum():
        raise InputError(
            f"number={number} is below {least.sum():g}, the labels that are there and {MIN_LABELS} after every decision with rows"
        )
    if number > plan.judged.sum():
        raise InputError(f"number={number} is more than the {plan.judged.sum():g} rows that there are")
    return allocate(_claims(plan, weight, target), number, least, plan.judged)


def _claims(plan: _Plan, weight: FloatArray, target: Target) -> FloatArray:
    """Shares of the labels (subgroup, decision), up to a factor."""
    claims = plan.spread * weight[:, None]
    return np.asarray(claims * claims.sum(axis=1, keepdims=True) if target == "subgroups" else claims)


def _width(plan: _Plan, width: float, least: FloatArray, weight: FloatArray, target: Target, z: float) -> IntArray:
    if not 0 < width < 1:
        raise InputError(f"width={width!r} must be above 0 and below 1, such as 0.1")
    goal = (width / (2 * z)) ** 2
    if target == "overall":

        def shared(number: int) -> IntArray:
            return allocate(_claims(plan, weight, target), number, least, plan.judged)

        def narrow(number: int) -> bool:
            return bool(np.nansum(weight**2 * np.nan_to_num(_variance(plan, shared(number)))) <= goal)

        total = int(plan.judged.sum())
        if not narrow(total):
            raise InputError(
                f"width={width:g} cannot be reached with {total} judged rows, even if all are labelled; judge more, or "
                "ask for a wider interval"
            )
        return shared(_first(narrow, int(least.sum()), total))
    labels = np.zeros(plan.judged.shape, dtype=np.int64)
    for g, rows in enumerate(plan.judged):
        alone = _Plan(plan.judged[[g]], plan.labelled[[g]], plan.rate[[g]])
        spread = alone.spread[0]

        def own_labels(number: int, spread: FloatArray = spread, g: int = g, rows: FloatArray = rows) -> IntArray:
            return allocate(spread, number, least[g], rows)

        def reaches(number: int, alone: _Plan = alone, share: Callable[[int], IntArray] = own_labels) -> bool:
            return bool(_variance(alone, share(number)[None])[0] <= goal)

        if rows.sum() > 0:
            labels[g] = own_labels(_first(reaches, int(least[g].sum()), int(rows.sum())))
    return labels


def _first(reached: Callable[[int], bool], low: int, high: int) -> int:
    """The smallest number from ``low`` to ``high`` that reaches a goal, ``high`` where none does; more never does worse."""
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if reached(middle) else (middle + 1, high)
    return low
