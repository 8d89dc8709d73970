"""Blocked Gibbs sampling of the law of a score by outcome and subgroup, from moments of cells.

The model is that of `bayesgroups.models.model_based_metrics`. Blocks, each exact given the others or Hamiltonian:

1. scales of the effects, with all effects integrated out, given the variances: those of effects of subgroups together
   (`score_effects`), those of the components of columns one after another (`score_scales`);
2. effects and means, exactly;
3. hyper-parameters of the variances, with the variances integrated out (`score_variances`), given the means: the spread
   among points of a lattice, then all of them;
4. variances, exactly, and sigma given them, which moves far where the spread is large and the block before it does not;
5. with a warp of the scores (`bayesgroups.scores.warps`), its two parameters, with the effects integrated out,
   by steps and by independent proposals about where it was in the warm-up; variances go along with the scatter of warped
   scores in their cell.

Slopes of covariates of the rows are coefficients among others: means of covariates are columns of the means of cells, and what
rows within cells say of slopes is added to blocks 1 and 2. Variances are then those about the regression.

Means and variances of a normal sample hardly depend on each other, so chains mix about as well as independent draws. The
cost of an iteration depends on subgroups and columns, not on rows (`bayesgroups.scores.warped_sums`), and little on the number of
chains where subgroups are few: so there are groups of short chains, each group laid out as one chain.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from bayesgroups.data.arrays import FloatArray
from bayesgroups.inference import (
    half_normal_scales,
    hamiltonian,
    lattices,
    score_effects,
    score_scales,
    score_variances,
)
from bayesgroups.inference.hamiltonian import State, Tuning
from bayesgroups.inference.score_effects import Aside, Cells, Design, Law, Solved
from bayesgroups.inference.score_slopes import Slopes
from bayesgroups.inference.score_variances import Rows
from bayesgroups.inference.short_chains import GIBBS_CHAINS_OF_A_GROUP, in_groups
from bayesgroups.scores.shapes import PRIOR_SD, BinnedScores, Shape
from bayesgroups.scores.warped_sums import WarpedSums
from bayesgroups.scores.warps import warp

PER_SCALES, PER_HYPER = 4, 2
"""Draws of means and variances per draw of the scales of effects, and of the warp and the hyper-parameters of variances."""
POINTS, SPACING = 8, (0.03, 0.8)
"""Points of a lattice of logarithms of the spread, and the range of their distance, which is drawn anew every time."""
DEGREES = 6.0
INFLATION = 1.3
"""Degrees of freedom of the t distribution that proposes warps, and how much its covariance is inflated."""
STEPS_OF_WARPS = 0.5
"""Share of proposals of warps that are steps from the last one."""
SHARE_OF_FIT = 0.1
"""Share of the covariance of the fitted warp that is added to that of the warps of the warm-up."""
MIN_VARIANCE_RATIO = 1e-6
"""Smallest ratio of the pooled variance of warped scores to the one before in an admissible proposal."""
ROWS_OF_ALL = 8.0
"""Rows by which the variance of a cell is drawn to that of all as it goes along with a warp; about those of the prior."""


@dataclass(frozen=True)
class ScorePrior:
    """Scales of half-normal and normal priors, in units of the pooled standard deviation of scores.

    ``effect``: half-normal of every standard deviation of effects; ``log_sd``: normal of log sigma about 0; ``spread``:
    half-normal of the spread of log standard deviations.
    """

    effect: float
    log_sd: float
    spread: float


@dataclass(frozen=True)
class ScoreDraws:
    """Draws, groups of chains first, each laid out as one chain.

    ``mean`` and ``sd`` (chain, draw, subgroup, outcome), the coefficients ``theta`` (.., column), ``scales`` (..,
    component), ``hyper`` (.., 3): log sigma of both outcomes and log spread, and ``shape`` (.., 2): epsilon and log delta
    of the warp, or 0.
    """

    mean: FloatArray
    sd: FloatArray
    theta: FloatArray
    scales: FloatArray
    hyper: FloatArray
    shape: FloatArray


@dataclass(frozen=True)
class Warped:
    """Rows in bins, for a warp that is unknown, and where to look for it."""

    rows: BinnedScores
    start: Shape


def sample(
    design: Design, count: FloatArray, mean: FloatArray, scatter: FloatArray, prior: ScorePrior,
    rng: np.random.Generator, *, warped: Warped | None = None, slopes: Slopes | None = None, groups: int = 4,
    draws: int = 1000, tune: int = 50, thin: int = 1,
) -> ScoreDraws:  # fmt: skip
    """Markov chains whose law is the posterior.

    Of each cell (subgroup, outcome): rows, their mean score (anything finite where there are none) and the sum of squared
    deviations from it. ``warped`` has the same rows in bins, to sample a common warp of the scores; without it scores are
    normal as they are. ``slopes`` has covariates of the same rows, without a warp: ``mean`` of the draws is then that of
    the scores at the mean covariates of a cell, and ``sd`` is about the regression. There are ``groups`` of
    `GIBBS_CHAINS_OF_A_GROUP` chains that begin at one point, with so many ``draws`` of each group; ``tune`` are iterations of
    warm-up, ``thin`` iterations per draw.

    >>> design = Design(np.eye(2)[None], np.array([-1, -1]), np.full(2, 3.0), 0)
    >>> count, mean = np.array([[400.0, 100.0]]), np.array([[-1.0, 1.0]])
    >>> drawn = sample(design, count, mean, count, ScorePrior(0.3, 0.5, 0.25), np.random.default_rng(1), draws=200)
    >>> drawn.mean.mean(axis=(0, 1)).round(1).tolist(), drawn.sd.mean(axis=(0, 1)).round(1).tolist()
    ([[-1.0, 1.0]], [[1.0, 1.0]])
    """
    kernel = _Kernel(design, count, mean, scatter, prior, rng, warped, slopes, groups)
    kernel.begin()
    kernel.warmed_up(hamiltonian.warm_up(kernel.effect_density, kernel.state, tune, rng, between=kernel.rest)[1])
    iterations = -(-draws // (GIBBS_CHAINS_OF_A_GROUP * PER_SCALES))
    # What every cell has is large, and is put where it stays: outcomes come first in memory, so that those of one are in turn.
    mean, sd = (np.empty((2, groups, draws, len(count))) for _ in range(2))
    start_of_chain = iterations * PER_SCALES * np.arange(GIBBS_CHAINS_OF_A_GROUP)
    kept: list[tuple[FloatArray, ...]] = []
    for i in range(iterations * thin):
        kernel.step()
        if (i + 1) % thin:
            continue
        for of_mean, of_sd, *small in kernel.seen:
            place = start_of_chain + len(kept)
            some = place < draws
            for whole, each in ((mean, of_mean), (sd, of_sd)):
                chains = each.reshape(groups, GIBBS_CHAINS_OF_A_GROUP, *count.shape)
                whole[:, :, place[some]] = np.moveaxis(chains[:, some], -1, 0)
            kept.append(tuple(small))
    parts = (in_groups(np.stack(part, axis=1), groups, draws) for part in zip(*kept, strict=True))
    return ScoreDraws(np.moveaxis(mean, 0, -1), np.moveaxis(sd, 0, -1), *parts)


@dataclass(frozen=True)
class _Proposals:
    """Proposals of warps (chain, 2) by Student's t about a ``centre`` (2,)."""

    centre: FloatArray
    root: FloatArray
    precision: FloatArray

    @classmethod
    def of(cls, centre: FloatArray, covariance: FloatArray) -> _Proposals:
        """About a centre, with a covariance that is inflated."""
        return cls(centre, np.linalg.cholesky(covariance).T, np.linalg.inv(covariance))

    def log_density(self, shape: FloatArray) -> FloatArray:
        """Log density (chain,) up to a constant."""
        off = shape - self.centre
        squares = ((off @ self.precision) * off).sum(axis=1) / INFLATION
        return np.asarray(-0.5 * (DEGREES + 2) * np.log1p(squares / DEGREES))


class _Kernel:
    """State of all chains, and the transition of each."""

    def __init__(
        self, design: Design, count: FloatArray, mean: FloatArray, scatter: FloatArray, prior: ScorePrior,
        rng: np.random.Generator, warped: Warped | None, slopes: Slopes | None, groups: int,
    ) -> None:  # fmt: skip
        self.design, self.prior, self.rng, self.warped, self.slopes = design, prior, rng, warped, slopes
        self.count, self.observed, self.scatter = count, mean[None], scatter[None]
        self.sums = None if warped is None else WarpedSums(warped.rows)
        self.rows, self.turns = Rows(count), 1
        self.size = design.components + 2
        self.groups, self.chains = groups, groups * GIBBS_CHAINS_OF_A_GROUP
        rows, cells = np.maximum(count.sum(axis=0), 1.0), np.maximum((count > 1).sum(axis=0), 1)
        # Steps that are stable even where the spread is next to nothing and sigma is as well known as all rows can tell.
        narrow = 0.7 / np.sqrt(rows) + 0.1 * prior.spread / np.sqrt(cells)
        spread = np.array([*np.minimum(narrow, prior.log_sd), 1.0 / np.sqrt(cells.sum()) + 0.3])
        self.own_tuning = Tuning(0.5, spread)
        self.seen: list[tuple[FloatArray, ...]] = []
        self.shapes: list[FloatArray] = []
        self.hypers: list[FloatArray] = []
        self.tuning = Tuning(hamiltonian.FIRST_STEP, np.ones(2))

    def begin(self) -> None:
        """Scatter the groups of chains about the prior."""
        self.shape = np.zeros((self.chains, 2))
        if self.warped is not None:
            start = self.warped.start
            self.about = _Proposals.of(np.array([start.epsilon, start.log_delta]), np.linalg.inv(start.hessian))
            self.shape = self.about.centre + self._apart(2) @ self.about.root
            self.observed, self.scatter, self.slope = self._moments(self.shape)
        freedom = np.maximum(self.count - 1, 0.0).sum(axis=0)
        pooled = (self.scatter.sum(axis=1) + 1.0) / (freedom + 1.0)
        noise = self._apart(3)
        self.hyper = np.log(0.5 * self.prior.spread) + 0.3 * noise
        self.hyper[:, :2] = 0.5 * np.log(pooled) + 0.1 * noise[:, :2] / np.sqrt(freedom + 1.0)
        self.variance = pooled[:, None, :] * np.exp(0.1 * self._apart(*self.count.shape))
        self.coordinate = -0.3 + 0.5 * self._apart(self.size)  # scales about half of their prior's
        self.cells = Cells.of(self.observed, self._precision())
        self.state = hamiltonian.start(self.effect_density, self.coordinate[:, -2:].copy())
        self.state = self.rest(self.state)

    def _apart(self, *shape: int) -> FloatArray:
        """Standard normal numbers (chain, ...), the same for the chains of a group."""
        return self.rng.standard_normal((self.groups, *shape)).repeat(GIBBS_CHAINS_OF_A_GROUP, axis=0)

    def step(self) -> None:
        """One iteration."""
        state, _ = hamiltonian.step(self.effect_density, self.state, self.tuning, self.rng)
        self.state = self.rest(state)

    def rest(self, state: State) -> State:
        """All blocks but the first; the density of the first is another one then."""
        self.coordinate[:, -2:], self.seen = state.point, []
        log_scale, value = self._log_scale(self.coordinate)[0], state.value - self._scale_prior(state.point)
        for turn in range(self.turns):
            again = turn % PER_HYPER == 0
            if self.warped is not None and again:
                if turn:
                    value = self._solve(log_scale).value
                # Steps lead back from where proposals about the centre are too rare.
                self._propose_warp(log_scale, value, near=bool(self.rng.random() < STEPS_OF_WARPS))
                self.shapes.append(self.shape)
            solved = self._solve(log_scale)
            if again:
                self.coordinate = score_scales.redraw(self.design, self.coordinate, solved.law, self.rng)
                log_scale = self._log_scale(self.coordinate)[0]
                solved = replace(solved, law=Law.of(self.design, log_scale, solved.inner, solved.along))
            mean, theta = score_effects.draw(self.design, solved, log_scale, self.rng)
            left = self.scatter
            if self.slopes is not None:
                left = np.maximum(left - self.slopes.explained(theta), 0.0)
            total = left + self.count * (self.observed - mean) ** 2
            if again:
                self._move_hyper(total)
            self.variance = score_variances.draw(self.hyper, self.count, total, self.rng)
            self.hyper = score_variances.redraw_sigma(self.hyper, self.variance, self.prior.log_sd, self.rng)
            self.seen.append((mean, np.sqrt(self.variance), theta, np.exp(log_scale), self.hyper, self.shape))
        self.cells = Cells.of(self.observed, self._precision())
        self.state = hamiltonian.start(self.effect_density, state.point)
        return self.state

    def _solve(self, log_scale: FloatArray) -> Solved:
        return score_effects.solve(self.design, log_scale, Cells.of(self.observed, self._precision()), self._aside())

    def _move_hyper(self, total: FloatArray) -> None:
        """Draw hyper-parameters of the variances, given scatter (chain, subgroup, outcome) about the means.

        First the spread among points of a lattice: chains that begin far from its law would take too long steps.
        """

        def log_density(log_spread: FloatArray) -> FloatArray:
            hyper = np.repeat(self.hyper[:, None], log_spread.shape[1], axis=1)
            hyper[..., 2] = log_spread
            return score_variances.log_likelihood(hyper, self.rows, total[:, None]) + self._hyper_prior(hyper)

        def slope(hyper: FloatArray) -> FloatArray:
            ratio = (np.exp(hyper[:, 2]) / self.prior.spread) ** 2
            from_prior = np.column_stack([hyper[:, :2] / self.prior.log_sd**2, ratio - 1])
            return score_variances.slope(hyper, self.rows, total) - from_prior

        def density(hyper: FloatArray) -> tuple[FloatArray, FloatArray]:
            return score_variances.log_likelihood(hyper, self.rows, total) + self._hyper_prior(hyper), slope(hyper)

        spacing = np.exp(self.rng.uniform(*np.log(SPACING)))
        self.hyper = self.hyper.copy()
        self.hyper[:, 2] = lattices.moved(self.hyper[:, 2], log_density, POINTS, spacing, self.rng)
        state = hamiltonian.start(density, self.hyper)
        moved, _ = hamiltonian.step(density, state, self.own_tuning, self.rng, slope=slope)
        self.hyper = moved.point
        self.hypers.append(self.hyper)

    def _hyper_prior(self, hyper: FloatArray) -> FloatArray:
        ratio = (np.exp(hyper[..., 2]) / self.prior.spread) ** 2
        return np.asarray(hyper[..., 2] - 0.5 * ((hyper[..., :2] ** 2).sum(axis=-1) / self.prior.log_sd**2 + ratio))

    def effect_density(self, last: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Log density of the coordinates (chain, 2) of the scales of effects of subgroups, given the others and the variances."""
        log_scale, slope = self._log_scale(np.concatenate([self.coordinate[:, :-2], last], axis=1))
        solved = score_effects.solve(self.design, log_scale, self.cells, self._aside())
        inside = (np.abs(last) < half_normal_scales.MAX_COORDINATE).all(axis=1)
        value = np.where(inside, solved.value + self._scale_prior(last), -np.inf)
        return value, (solved.gradient * slope)[:, -2:] - last

    def _log_scale(self, coordinate: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Log scales of the effects, and their derivatives with respect to their coordinates."""
        value, slope = half_normal_scales.log_scales(coordinate)
        return value + np.log(self.prior.effect), slope

    def _aside(self) -> Aside | None:
        return None if self.slopes is None else self.slopes.aside(self.variance, len(self.design.owner))

    def _scale_prior(self, coordinate: FloatArray) -> FloatArray:
        return np.asarray(-0.5 * (coordinate**2).sum(axis=1))

    def _moments(self, shape: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        assert self.sums is not None, "asked for with a warp only"
        mean, scatter, slope = self.sums.moments(warp(shape[:, 0], shape[:, 1]))
        cells = (len(shape), *self.count.shape)
        return mean.reshape(cells), scatter.reshape(cells), slope

    def warmed_up(self, tuning: Tuning) -> None:
        """End the warm-up: tuning is fixed then, and draws are kept.

        Steps of hyper-parameters are no longer than these varied in the second half of it. Warps are proposed about where the
        chains were then: the fit knows nothing of the hierarchy.
        """
        self.tuning, self.turns = tuning, PER_SCALES
        spread = np.concatenate(self.hypers[len(self.hypers) // 2 :]).std(axis=0)
        self.own_tuning = replace(self.own_tuning, spread=np.minimum(spread, self.own_tuning.spread))
        if self.warped is not None:
            visited = np.concatenate(self.shapes[len(self.shapes) // 2 :])
            fitted = np.linalg.inv(self.warped.start.hessian)
            self.about = _Proposals.of(visited.mean(axis=0), np.cov(visited.T) + SHARE_OF_FIT * fitted)

    def _propose_warp(self, log_scale: FloatArray, effects: FloatArray, *, near: bool) -> None:
        """Propose a warp; variances go along with the scatter of their cell, and sigma with that of all.

        ``effects`` (chain,) is the log likelihood of the scales as it is.

        A step is ``near``, from the last one; without it the proposal is independent of that.
        """
        step = self.rng.standard_normal(self.shape.shape) @ self.about.root * np.sqrt(INFLATION)
        heavy = np.sqrt(DEGREES / self.rng.chisquare(DEGREES, len(step)))[:, None]
        proposal = (self.shape if near else self.about.centre) + step * heavy
        with np.errstate(all="ignore"):
            observed, scatter, slope = self._moments(proposal)
            ratio = scatter.sum(axis=(1, 2)) / self.scatter.sum(axis=(1, 2))
            # Scores of a few values only can be warped to next to nothing, which no likelihood is worth.
            finite = np.isfinite(ratio) & np.isfinite(slope) & np.isfinite(observed).all(axis=(1, 2))
            finite &= (ratio > MIN_VARIANCE_RATIO) & (ratio < 1 / MIN_VARIANCE_RATIO)
        cell = finite[:, None, None]
        observed, scatter = np.where(cell, observed, self.observed), np.where(cell, scatter, self.scatter)
        by_cell = self._steadied(scatter) / self._steadied(self.scatter)
        variance = by_cell * self.variance
        hyper = self.hyper + 0.5 * np.log(np.where(finite, ratio, 1.0))[:, None] * np.array([1.0, 1.0, 0.0])
        now = effects + self._with_warp(self.shape, self.scatter, self.slope, self.variance, self.hyper, near)
        effects = score_effects.solve(self.design, log_scale, Cells.of(observed, self.count / variance)).value
        new = effects + self._with_warp(proposal, scatter, slope, variance, hyper, near)
        new = new + np.log(by_cell).sum(axis=(1, 2))  # the volume that variances gain by going along
        chance = np.where(finite, new - now, -np.inf)
        moved = np.log(self.rng.random(len(ratio))) < chance
        cell = moved[:, None, None]
        self.shape, self.hyper = (
            np.where(moved[:, None], proposal, self.shape),
            np.where(moved[:, None], hyper, self.hyper),
        )
        self.observed, self.scatter = np.where(cell, observed, self.observed), np.where(cell, scatter, self.scatter)
        self.variance, self.slope = np.where(cell, variance, self.variance), np.where(moved, slope, self.slope)

    def _steadied(self, scatter: FloatArray) -> FloatArray:
        """Scatter (chain, subgroup, outcome) with that of a few rows of all cells added, to which variances are proportional."""
        freedom = np.maximum(self.count - 1, 0.0).sum()
        return np.asarray(scatter + ROWS_OF_ALL * scatter.sum(axis=(1, 2), keepdims=True) / freedom)

    def _with_warp(
        self,
        shape: FloatArray,
        scatter: FloatArray,
        slope: FloatArray,
        variance: FloatArray,
        hyper: FloatArray,
        near: bool,
    ) -> FloatArray:
        """Log density of warp, variances and sigma, over that of proposals about the centre, the observed means left out."""
        spread = -0.5 * (np.maximum(self.count - 1, 0.0) * np.log(variance) + scatter / variance).sum(axis=(1, 2))
        spread = spread + score_variances.log_prior(hyper, variance)
        prior = (
            0.5 * (shape**2).sum(axis=1) / PRIOR_SD**2 + 0.5 * (hyper[:, :2] ** 2).sum(axis=1) / self.prior.log_sd**2
        )
        proposed = 0.0 if near else self.about.log_density(shape)
        return np.asarray(spread + slope - prior - proposed, dtype=np.float64)

    def _precision(self) -> FloatArray:
        return np.asarray(self.count / self.variance, dtype=np.float64)
