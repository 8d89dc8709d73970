"""Standard deviations as smooth functions of positive numbers, shares and slopes of numbers on the whole line.

How positive numbers are made of any is the matter of `bayesgroups.inference.collapsed.crossed.learned_coordinates`.

==============  ========================================================================================
``half_normal``  tau = scale a
``half_t``       tau = scale sinh(a): long tails of tau are those of an exponential in a
``r2d2``         the total as ``half_t``, the splits of its square as logistic functions
``known``        nothing is learned
==============  ========================================================================================
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np

from bayesgroups.data.arrays import FloatArray
from bayesgroups.inference.collapsed.crossed.following import FollowingPrior, Priors
from bayesgroups.inference.collapsed.crossed.prior import DEGREES, Prior
from bayesgroups.inference.collapsed.logit_normal import expit


class Scaled(NamedTuple):
    """Values (draw, column) of some coordinates, the log density of these (draw,) where it is asked for, and ``pull`` of gradients.

    ``pull`` takes derivatives by the values, (draw, column), to those by the coordinates, (draw, coordinate), with the slope of the
    log density added.
    """

    values: FloatArray
    log_density: Callable[[], FloatArray]
    pull: Callable[[FloatArray], FloatArray]


class Coordinates(Protocol):
    """Coordinates of what is learned."""

    @property
    def dimension(self) -> int:
        """Number of coordinates."""
        ...

    @property
    def positive(self) -> tuple[bool, ...]:
        """Of every coordinate, whether it is a positive number; densities are then those of either sign."""
        ...

    @property
    def pieces(self) -> tuple[Coordinates, ...]:
        """Coordinates that are independent of each other beforehand, in turn; their values are those of all."""
        ...

    def at(self, a: FloatArray) -> Scaled:
        """Values and log densities at coordinates (draw, coordinate)."""
        ...


@dataclass(frozen=True)
class StandardDeviations:
    """Standard deviations of one prior."""

    prior: Prior

    @property
    def dimension(self) -> int:
        """One for every standard deviation that is learned."""
        return 0 if self.prior.family == "known" else self.prior.dimension

    @property
    def positive(self) -> tuple[bool, ...]:
        """Of r2d2 the total alone."""
        return tuple(self.prior.family != "r2d2" or position == 0 for position in range(self.dimension))

    @property
    def pieces(self) -> tuple[Coordinates, ...]:
        """One for every standard deviation, then those that are known, without coordinates; of r2d2 all are one."""
        prior, learned = self.prior, self.dimension
        if prior.family == "r2d2":
            return (self,)
        alone = (StandardDeviations(Prior(prior.family, (scale,))) for scale in prior.scale[:learned])
        return *alone, StandardDeviations(Prior("known", self._fixed))

    @property
    def _fixed(self) -> tuple[float, ...]:
        """Those that are known."""
        rest, residual_sd = self.prior.scale[self.dimension :], self.prior.residual_sd
        return rest if residual_sd is None else (*rest[:-1], residual_sd)

    def at(self, a: FloatArray) -> Scaled:
        """See `Coordinates`."""
        prior, learned, fixed = self.prior, self.dimension, self._fixed
        scale = np.array(prior.scale[:learned])
        if prior.family == "r2d2":
            within = _total_and_splits(a, float(np.sqrt((scale**2).sum())))
        elif prior.family == "half_t":
            within = _sinh(a, scale)
        else:
            within = Scaled(scale * a, lambda: -0.5 * (a**2).sum(axis=1), lambda slope: scale * slope - a)
        if not fixed:
            return within
        values = np.column_stack([within.values, np.tile(fixed, (len(a), 1))])
        return Scaled(values, within.log_density, lambda slope: within.pull(slope[:, :learned]))


@dataclass(frozen=True)
class Shares:
    """Numbers between 0 and 1, uniform beforehand."""

    number: int

    @property
    def dimension(self) -> int:
        """One for every share."""
        return self.number

    @property
    def positive(self) -> tuple[bool, ...]:
        """None."""
        return (False,) * self.number

    @property
    def pieces(self) -> tuple[Coordinates, ...]:
        """One for every share."""
        return (Shares(1),) * self.number

    def at(self, a: FloatArray) -> Scaled:
        """See `Coordinates`."""
        share = expit(a)
        return Scaled(
            share,
            lambda: -(np.logaddexp(0, a) + np.logaddexp(0, -a)).sum(axis=1),
            lambda slope: slope * share * (1 - share) + 1 - 2 * share,
        )


@dataclass(frozen=True)
class Slopes:
    """Normal coefficients."""

    mean: float
    sd: float

    @property
    def dimension(self) -> int:
        """One coefficient."""
        return 1

    @property
    def positive(self) -> tuple[bool, ...]:
        """It is not."""
        return (False,)

    @property
    def pieces(self) -> tuple[Coordinates, ...]:
        """One."""
        return (self,)

    def at(self, a: FloatArray) -> Scaled:
        """See `Coordinates`."""
        return Scaled(self.mean + self.sd * a, lambda: -0.5 * (a**2).sum(axis=1), lambda slope: self.sd * slope - a)


@dataclass(frozen=True)
class Joined:
    """Several coordinates side by side."""

    parts: tuple[Coordinates, ...]

    @property
    def dimension(self) -> int:
        """The sum of theirs."""
        return sum(part.dimension for part in self.parts)

    @property
    def positive(self) -> tuple[bool, ...]:
        """Of all of them."""
        return tuple(each for part in self.parts for each in part.positive)

    @property
    def pieces(self) -> tuple[Coordinates, ...]:
        """Those of all of them."""
        return tuple(each for part in self.parts for each in part.pieces)

    def at(self, a: FloatArray) -> Scaled:
        """See `Coordinates`."""
        if len(self.parts) == 1:
            return self.parts[0].at(a)
        ends = np.cumsum([part.dimension for part in self.parts])[:-1]
        each = [part.at(piece) for part, piece in zip(self.parts, np.split(a, ends, axis=1), strict=True)]
        widths = np.cumsum([scaled.values.shape[1] for scaled in each])[:-1]

        def pull(slope: FloatArray) -> FloatArray:
            pieces = zip(each, np.split(slope, widths, axis=1), strict=True)
            return np.concatenate([scaled.pull(piece) for scaled, piece in pieces], axis=1)

        values = np.concatenate([scaled.values for scaled in each], axis=1)
        return Scaled(values, lambda: np.sum([scaled.log_density() for scaled in each], axis=0), pull)


def coordinates_of(prior: Priors, shares: int) -> Joined:
    """Coordinates of the columns of a prior, then of the shares that follow an order, of each of its predictors."""
    if isinstance(prior, FollowingPrior):
        spreads = StandardDeviations(prior.first), StandardDeviations(prior.second)
        return Joined((*spreads, Slopes(prior.follow_mean, prior.follow_sd), Shares(2 * shares)))
    return Joined((StandardDeviations(prior), *((Shares(shares),) if shares else ())))


def _sinh(a: FloatArray, scale: FloatArray | float) -> Scaled:
    """Values of a half-t with 3 degrees of freedom: its density at scale sinh(a), and the stretch of that function."""
    with np.errstate(over="ignore", invalid="ignore"):  # so far out is never taken
        sinh = np.sinh(a)
        square = sinh**2
        cosh, inside = np.sqrt(1 + square), square / DEGREES

    def log_density() -> FloatArray:
        return np.asarray((np.log(cosh) - (DEGREES + 1) / 2 * np.log1p(inside)).sum(axis=1))

    def pull(slope: FloatArray) -> FloatArray:
        with np.errstate(over="ignore", invalid="ignore"):
            bend = sinh / cosh - (DEGREES + 1) / DEGREES * sinh * cosh / (1 + inside)
        return scale * cosh * slope + bend

    return Scaled(scale * sinh, log_density, pull)


def _total_and_splits(a: FloatArray, scale: float) -> Scaled:
    """A total, and a uniform Dirichlet split of its square by breaking sticks."""
    total, taken = _sinh(a[:, :1], scale), expit(a[:, 1:])
    behind = np.arange(taken.shape[1], 0, -1)
    left = np.cumprod(np.column_stack([np.ones(len(a)), 1 - taken]), axis=1)
    root = np.sqrt(left * np.column_stack([taken, np.ones(len(a))]))
    values = total.values * root

    def log_density() -> FloatArray:
        sticks = np.logaddexp(0, -a[:, 1:]) + behind * np.logaddexp(0, a[:, 1:])
        return np.asarray(total.log_density() - sticks.sum(axis=1))

    def pull(slope: FloatArray) -> FloatArray:
        by_log = slope * values  # derivatives by the logs of the standard deviations
        later = np.cumsum(by_log[:, ::-1], axis=1)[:, ::-1][:, 1:]
        by_split = 0.5 * ((1 - taken) * by_log[:, :-1] - taken * later) + 1 - taken - behind * taken
        return np.column_stack([total.pull((slope * root).sum(axis=1, keepdims=True)), by_split])

    return Scaled(values, log_density, pull)
