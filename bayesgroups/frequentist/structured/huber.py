"""Lassos of several samples, with the coefficients of single subgroups minimised over: Huber losses of the other columns.

An indicator of one subgroup takes up a part b of its residual r at a price,

    min_b  w (r - b)^2 + penalty |b|  =  w r^2                                where 2 w |r| <= penalty,
                                         penalty |r| - penalty^2 / (4 w)      beyond

(She and Owen 2011, doi:10.1198/jasa.2011.tm10390). What is left are the other columns, a few where coordinate descent has more than
there are subgroups, in a loss that is quadratic in pieces: Newton steps with exact line searches end at its minimum.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from bayesgroups.data.arrays import BoolArray, FloatArray, IntArray
from bayesgroups.frequentist.structured.linear import indicated

STEPS = 1000
"""Newton steps for one penalty, at most."""
TOLERANCE = 1e-11
"""Largest derivative at a minimum, as a share of the largest where all coefficients are 0."""
RIDGE = 1e-12
"""Curvature added to that of columns of unit length: where there is no other, a step is as long as its line search lets it be."""
ROUNDING = 1e-13
"""Share of the curvature of all subgroups, and of the mean, that counts as none."""


class Sample(NamedTuple):
    """Features ``x`` (subgroup, column), estimates ``z`` and weights ``w`` (subgroup,), 0 where there is no estimate."""

    x: FloatArray
    z: FloatArray
    w: FloatArray


def predictions(samples: Sequence[Sample], penalties: FloatArray) -> FloatArray:
    """Predictions (sample, penalty, subgroup), of subgroups without an estimate too, at decreasing penalties (sample, penalty).

    Of the lasso of `bayesgroups.frequentist.structured.lasso`. Penalties are above 0 where columns indicate single subgroups, and
    where several indicate the same, the first of them does. Samples have the same subgroups and columns, and one estimate at least.

    >>> z, w = np.array([0.6, 0.2, np.nan]), np.array([10.0, 10.0, 0.0])
    >>> predictions([Sample(np.eye(3), z, w)], np.array([[4.0, 1.0]])).round(6).tolist()
    [[[0.4, 0.4, 0.4], [0.55, 0.25, 0.4]]]
    """
    columns = [_columns_of(sample) for sample in samples]
    weight = np.stack([sample.w for sample in samples])
    total = weight.sum(axis=1, keepdims=True)
    w = weight / total
    z = np.stack([np.where(sample.w > 0, sample.z, 0.0) for sample in samples])
    mean = (w * z).sum(axis=1, keepdims=True)
    z = np.where(w > 0, z - mean, 0.0)
    design, price = _design(samples, columns, w)
    alone = np.zeros(w.shape, dtype=np.bool_)
    for row, each in zip(alone, columns, strict=True):
        row[each.subgroup] = True

    coefficient = np.zeros(price.shape)
    largest = 2 * np.abs((w * z)[:, None] @ design)[:, 0].max(axis=1)
    smallest = np.maximum(TOLERANCE * largest, ROUNDING * np.abs(mean[:, 0]))
    answers, taken = np.empty((2, *penalties.shape, w.shape[1]))
    for position, penalty in enumerate((penalties / total).T):
        losses = Losses(design, z, w, np.where(alone, penalty[:, None], np.inf), penalty[:, None] * price)
        coefficient = losses.minimum(coefficient, smallest)
        answers[:, position] = losses.predicted(coefficient)
        residual = z - answers[:, position]
        with np.errstate(divide="ignore", invalid="ignore"):
            beyond = np.maximum(np.abs(residual) - losses.bound / (2 * w), 0.0)
        taken[:, position] = np.where(alone, np.sign(residual) * beyond, 0.0)
    answers += mean[:, None]
    for i, (sample, each) in enumerate(zip(samples, columns, strict=True)):
        answers[i] += taken[i][:, each.subgroup] @ sample.x[:, each.indicator].T
    return np.asarray(answers)


class _Columns(NamedTuple):
    """Columns that indicate one subgroup among those with an estimate, ``indicator`` and ``subgroup``, and ``rest`` that varies."""

    indicator: IntArray
    subgroup: IntArray
    rest: IntArray


def _columns_of(sample: Sample) -> _Columns:
    used = np.flatnonzero(sample.w > 0)
    x = sample.x[used]
    subgroup = indicated(x)
    place, first = np.unique(subgroup, return_index=True)
    some = place >= 0
    return _Columns(first[some], used[place[some]], np.flatnonzero((subgroup < 0) & (np.ptp(x, axis=0) > 0)))


def _design(samples: Sequence[Sample], columns: Sequence[_Columns], w: FloatArray) -> tuple[FloatArray, FloatArray]:
    """An intercept and columns of unit length and mean 0 (sample, subgroup, column), and prices of their coefficients."""
    every = np.unique(np.concatenate([each.rest for each in columns]))
    design, price = np.zeros((*w.shape, 1 + len(every))), np.zeros((len(samples), 1 + len(every)))
    design[:, :, 0] = 1.0
    for i, (sample, each) in enumerate(zip(samples, columns, strict=True)):
        deviations = sample.x[:, each.rest] - w[i] @ sample.x[:, each.rest]
        length = np.sqrt(w[i] @ deviations**2)
        place = 1 + np.searchsorted(every, each.rest)
        design[i][:, place] = deviations / length
        price[i, place] = 1 / length
    return design, price


@dataclass(frozen=True)
class Losses:
    """Huber losses of linear predictors, and prices of their coefficients.

    ``columns`` (sample, subgroup, column) of about unit length; estimates ``z``, weights ``w``, and ``bound`` (sample, subgroup) of
    the derivative of a loss by its prediction, infinite where it is quadratic; ``price`` (sample, column).
    """

    columns: FloatArray
    z: FloatArray
    w: FloatArray
    bound: FloatArray
    price: FloatArray

    def predicted(self, coefficient: FloatArray) -> FloatArray:
        """Predictions (sample, subgroup)."""
        return np.asarray((self.columns @ coefficient[..., None])[..., 0])

    def minimum(self, start: FloatArray, smallest: FloatArray) -> FloatArray:
        """Coefficients (sample, column) at the minimum, to derivatives no larger than ``smallest`` (sample,)."""
        coefficient, left, losses = start.copy(), np.arange(len(start)), self
        for _ in range(STEPS):
            at = coefficient[left]
            pull = 2 * losses.w * (losses.predicted(at) - losses.z)
            quadratic = np.abs(pull) < losses.bound
            slope = (np.clip(pull, -losses.bound, losses.bound)[:, None] @ losses.columns)[:, 0]
            sign = np.where(at != 0, np.sign(at), -np.sign(slope))
            slope += losses.price * sign
            free = (at != 0) | (slope * sign < -smallest[left, None])  # away from 0 where that makes less
            unfinished = (np.abs(slope) * free).max(axis=1) > smallest[left]
            if not unfinished.all():
                left, losses = left[unfinished], losses.of(unfinished)
                at, slope, sign = at[unfinished], slope[unfinished], sign[unfinished]
                quadratic, free = quadratic[unfinished], free[unfinished]
            if not len(left):
                break
            direction = losses.direction(quadratic, slope, free, np.where(at == 0, sign, 0.0))
            coefficient[left] = losses.along(at, direction, (slope * direction).sum(axis=1))
            moved = (coefficient[left] != at).any(axis=1)
            if not moved.all():  # rounding
                left, losses = left[moved], losses.of(moved)
        return coefficient

    def of(self, samples: BoolArray) -> Losses:
        """Those of some samples."""
        return Losses(*(part[samples] for part in (self.columns, self.z, self.w, self.bound, self.price)))

    def direction(self, quadratic: BoolArray, slope: FloatArray, free: BoolArray, side: FloatArray) -> FloatArray:
        """Newton steps (sample, column) of the coefficients that are ``free``, those of 0 to one ``side`` alone."""
        direction, some = np.zeros(free.shape), free.any(axis=0)
        columns, slope, free, side = self.columns[:, :, some], slope[:, some], free[:, some], side[:, some]
        curvature = np.swapaxes(columns, 1, 2) @ (columns * (2 * self.w * quadratic)[..., None])
        diagonal = np.arange(curvature.shape[1])
        while True:
            matrix = np.where(free[:, :, None] & free[:, None, :], curvature, 0.0)
            matrix[:, diagonal, diagonal] += np.where(free, RIDGE, 1.0)
            step = -np.linalg.solve(matrix, np.where(free, slope, 0.0)[..., None])[..., 0]
            astray = free & (step * side < 0)
            if not astray.any():
                direction[:, some] = step
                return direction
            free = free & ~astray

    def along(self, at: FloatArray, direction: FloatArray, slope: FloatArray) -> FloatArray:
        """The points with the least losses and prices on rays, whose derivatives at their start are ``slope`` (sample,)."""
        change, gap = self.predicted(direction), self.z - self.predicted(at)
        with np.errstate(divide="ignore", invalid="ignore"):
            width = self.bound / (2 * self.w * np.abs(change))
            enters, leaves = gap / change - width, gap / change + width
            kinks = -at / direction
        bend = np.where(change != 0, 2 * self.w * change**2, 0.0)
        within = np.where((enters <= 0) & (leaves > 0), bend, 0.0).sum(axis=1, keepdims=True)
        none, jump = np.zeros_like(bend), 2 * self.price * np.abs(direction)
        events = np.concatenate([enters, leaves, kinks], axis=1)
        ahead = (events > 0) & (events < np.inf)
        events = np.where(ahead, events, np.inf)
        order = np.argsort(events, axis=1)
        events = np.take_along_axis(events, order, axis=1)
        bends, jumps = (
            np.take_along_axis(np.where(ahead, np.concatenate(parts, axis=1), 0.0), order, axis=1)
            for parts in ((bend, -bend, np.zeros_like(jump)), (none, none, jump))
        )
        # Before every event: where the one before it was, the curvature since, and the derivative there.
        start = np.concatenate([np.zeros_like(within), events[:, :-1]], axis=1)
        curvature = within + np.cumsum(bends, axis=1) - bends
        curvature[curvature < ROUNDING * bend.sum(axis=1, keepdims=True)] = 0.0
        with np.errstate(invalid="ignore"):
            rise = np.nan_to_num(np.where(curvature > 0, curvature * (events - start), 0.0), posinf=np.inf)
        derivative = slope[:, None] + np.cumsum(rise + jumps, axis=1)
        rows = np.arange(len(at))
        first = np.argmax(derivative >= 0, axis=1)
        before = np.where(first > 0, derivative[rows, first - 1], slope)
        with np.errstate(divide="ignore", invalid="ignore"):
            step = start[rows, first] - before / curvature[rows, first]
        step = np.where(curvature[rows, first] > 0, np.minimum(step, events[rows, first]), events[rows, first])
        step = np.where((derivative >= 0).any(axis=1), step, 0.0)
        return np.where(kinks == step[:, None], 0.0, at + step[:, None] * direction)
