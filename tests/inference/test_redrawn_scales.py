"""Standard deviations drawn given predictors, against a dense grid of covariances, and what they are for."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping
from typing import NamedTuple

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import bayesgroups as bg
from bayesgroups.data.arrays import FloatArray, IntArray
from bayesgroups.inference.collapsed.crossed import spectral_design
from bayesgroups.inference.collapsed.crossed.data_likelihoods import Counts
from bayesgroups.inference.collapsed.crossed.fitted_target import fitted
from bayesgroups.inference.collapsed.crossed.following import FollowingPredictor, FollowingPrior
from bayesgroups.inference.collapsed.crossed.predictor import Predictor
from bayesgroups.inference.collapsed.crossed.prior import Prior
from bayesgroups.inference.collapsed.crossed.redrawn_scales import redrawn
from bayesgroups.inference.collapsed.crossed.spectral_design import Kernel
from bayesgroups.inference.collapsed.crossed.spectral_target import Target
from bayesgroups.models.shared import spectrum
from bayesgroups.models.shared.ordered_levels import NOTHING, OrderedBlock, OrderedBlocks, walk_root

LEVELS = np.array(list(itertools.product(range(4), range(3))))
CELLS = np.vstack([LEVELS.T, np.arange(12)])
ALONE = np.zeros((4, 3))
ALONE[:3, :2], ALONE[3, 2] = walk_root(3), 1.0
OVERALL, SCALES = 1.5, (0.8, 1.1, 0.6)
GRID = np.exp(np.linspace(np.log(4e-4), np.log(60.0), 42))
DRAWS, FIRST, EFFECTIVE = 300, 20, 4000


def target_of(kept: IntArray, x: FloatArray, *, whole: bool) -> tuple[Target, FloatArray, Predictor]:
    """Target of subgroups that are all or some combinations, and 64 points with the same predictors."""
    rng = np.random.default_rng(4)
    levels = LEVELS[kept]
    predictor = Predictor(np.vstack([levels.T, np.arange(len(levels))]), x[kept], OVERALL, 1.0)
    n = rng.integers(3, 400, len(levels)).astype(np.float64)
    k = rng.binomial(n.astype(int), 0.4).astype(np.float64)
    design = spectral_design.design_of(predictor, Prior("half_t", SCALES), np.zeros(len(levels)))
    target = Target.around(design, Counts(k[None], n[None]), np.zeros((1, len(levels))))
    if whole:
        target, _ = fitted(target, rng.standard_normal((64, target.dimension)))
    return target, np.tile(rng.standard_normal(target.dimension), (64, 1)), predictor


def dense(predictor: Predictor, eta: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Probabilities of standard deviations on a grid, (a, b, own), and means of what is shared, averaged over it."""
    at = np.stack(np.meshgrid(GRID, GRID, GRID, indexing="ij"), axis=-1).reshape(-1, 3)
    alike = (predictor.cells[:, :, None] == predictor.cells[:, None]).astype(np.float64)
    shared = np.tensordot(at[:, :2] ** 2, alike[:2], axes=1) + OVERALL**2
    values, vectors = np.linalg.eigh(shared)
    values = np.maximum(values, 0.0)
    along, own = (eta @ vectors), at[:, 2:] ** 2
    log_density = -0.5 * (np.log(values + own) + along**2 / (values + own)).sum(axis=1)
    log_density += (stats.t.logpdf(at / np.array(SCALES), 3) + np.log(at)).sum(axis=1)
    mass = np.exp(log_density - log_density.max())
    mass /= mass.sum()
    mean = (vectors @ (values / (values + own) * along)[..., None])[..., 0]
    return mass.reshape(3 * (len(GRID),)), mass @ mean


@pytest.mark.parametrize("whole", [False, True], ids=["around zero", "fitted"])
@pytest.mark.parametrize(
    ("kept", "columns"), [(np.arange(12), 0), (np.array([0, 1, 2, 3, 5, 6, 7, 8, 9, 11]), 0), (np.arange(12), 1)]
)
def test_law_given_predictors_is_that_of_dense_covariances(kept: IntArray, columns: int, whole: bool) -> None:
    """All combinations, some of them, and with a covariate, whose part of the predictors stays."""
    rng = np.random.default_rng(1)
    target, points, predictor = target_of(kept, rng.standard_normal((12, columns)), whole=whole)
    before = target.values(points)
    learned, shared = [], []
    for _ in range(DRAWS):
        points = redrawn(target, points, rng)
        after = target.values(points)
        np.testing.assert_allclose(after.eta, before.eta, atol=1e-8)
        learned.append(after.scaled.values)
        shared.append(after.eta[:, 0] - after.residuals[0].values - sum(after.sums))
    mass, mean = dense(predictor, (before.eta[:, 0] - sum(before.sums))[0])
    drawn, found = np.concatenate(learned[FIRST:]), np.concatenate(shared[FIRST:])
    for component in range(3):
        probability = mass.sum(axis=tuple({0, 1, 2} - {component}))
        for measured in (np.log, lambda sd: sd / (0.1 + sd), lambda sd: sd / (3 + sd)):
            values = measured(drawn[:, component])
            assert abs(values.mean() - probability @ measured(GRID)) < 4.5 * values.std() / np.sqrt(EFFECTIVE)
    np.testing.assert_allclose(found.mean(axis=0), mean, atol=0.03 * np.abs(found).std())


class Shared(NamedTuple):
    """What subgroups share: ``cells`` (component, subgroup), a prior of the components, and those that follow an order."""

    prior: Prior
    cells: IntArray = CELLS
    ordered: OrderedBlocks = NOTHING

    def log_density(self, learned: FloatArray, eta: FloatArray, kept: Mapping[Kernel, FloatArray]) -> float:
        """Of predictors (subgroup,), and of effects that are ``kept`` beside these, given learned values (value,)."""
        components, covariance, told = len(self.cells), np.full(2 * (len(eta),), OVERALL**2), 0.0
        roots = {part.component: part.root for part in self.ordered.blocks}
        for component, cell in enumerate(self.cells):
            share = float(learned[components]) if component in roots else 0.0
            alike = (cell[:, None] == cell).astype(np.float64)
            for follows, part in ((False, 1 - share), (True, share)):
                variance = part * learned[component] ** 2
                effects = [
                    values
                    for kernel, values in kept.items()
                    if (kernel.component, kernel.follows) == (component, follows)
                ]
                if effects:
                    told += stats.norm.logpdf(effects[0], 0, np.sqrt(variance)).sum()
                elif part:
                    covariance += variance * (roots[component] @ roots[component].T if follows else alike)
        return float(told + stats.multivariate_normal(cov=covariance).logpdf(eta))


@pytest.mark.parametrize(
    "shared",
    [
        Shared(Prior("r2d2", SCALES)),
        Shared(Prior("half_normal", SCALES)),
        Shared(Prior("half_t", SCALES, residual_sd=0.4)),
        Shared(
            Prior("half_t", SCALES), ordered=OrderedBlocks(("a",), (OrderedBlock(0, 0, walk_root(4)[LEVELS[:, 0]]),))
        ),
        Shared(Prior("half_t", SCALES), ordered=OrderedBlocks(("a",), (OrderedBlock(0, 0, ALONE[LEVELS[:, 0]]),))),
    ],
    ids=["r2d2", "half-normal", "residual effects known", "an order", "a level that stands alone"],
)
def test_lattices_have_the_density_of_all_numbers_together(shared: Shared, monkeypatch: pytest.MonkeyPatch) -> None:
    """That of the prior, times that of predictors with their dense covariance, but for a constant of each draw; and these stay."""
    rng, seen, count = np.random.default_rng(6), [], np.full((1, 12), 3.0)
    predictor = Predictor(shared.cells, rng.standard_normal((12, 1)), OVERALL, 1.0)
    design = spectral_design.design_of(predictor, shared.prior, np.zeros(12), shared.ordered)
    target = Target.around(design, Counts(count, 3 * count), np.zeros((1, 12)))
    target, points = fitted(target, rng.standard_normal((6, target.dimension)))
    learned, before = target.learned, target.values(points)
    after = target.values(redrawn(target, points, rng))
    np.testing.assert_allclose(after.eta, before.eta, atol=1e-9)
    for new, old in zip(after.effects, before.effects, strict=True):
        np.testing.assert_allclose(new.values, old.values, atol=1e-9)

    def moved(value: FloatArray, log_density: Callable[[FloatArray], FloatArray], size: int, *_: object) -> FloatArray:
        at = value[:, None] + np.linspace(-0.5, 1.5, size)
        seen.append((at, log_density(at)))
        return value

    monkeypatch.setattr("bayesgroups.inference.lattices.moved", moved)
    redrawn(target, points, rng)
    numbers, eta = learned.numbers(points[:, : learned.dimension]), before.eta[:, 0] - sum(before.sums)
    for column, (at, density) in enumerate(seen):
        for draw in range(len(points)):
            candidates = np.repeat(numbers[[draw]], at.shape[1], axis=0)
            candidates[:, column] = at[draw]
            scaled = learned.at(learned.points(candidates))
            pairs = zip(design.blocks, before.effects, strict=True)
            kept = {block.loading: made.values[draw] for block, made in pairs if isinstance(block.loading, Kernel)}
            told = [shared.log_density(values, eta[draw], kept) for values in scaled.values]
            gap = density[draw] - scaled.log_density() - told
            np.testing.assert_allclose(gap, gap[0], atol=1e-6)
    assert len(seen) == learned.dimension


PAIR = FollowingPredictor(LEVELS.T, np.empty((12, 0)), OVERALL, 1.0)
LEARNED = FollowingPrior(Prior("half_t", SCALES[:2]), Prior("half_t", SCALES[1:]), 0.3, 0.5)
OF_OWN = (0.3, 0.2)


def both_shared(learned: FloatArray) -> FloatArray:
    """Covariance of what subgroups share, of the first part and then of the second, from the components one by one."""
    alike = (LEVELS.T[:, :, None] == LEVELS.T[:, None]).astype(np.float64)
    first, own = (np.tensordot(each**2, alike, axes=1) for each in (learned[:2], learned[2:4]))
    follow = learned[4]
    blocks = [[first + OVERALL**2, follow * first], [follow * first, follow**2 * first + own + OVERALL**2]]
    return np.block(blocks)


def pair_of(prior: FollowingPrior, size: int, rng: np.random.Generator) -> tuple[Target, FloatArray]:
    """Target of two parts, fitted to points, and these."""
    design = spectral_design.design_of(PAIR, prior, np.repeat(np.square(OF_OWN), 12))
    count = np.full((2, 12), 9.0)
    target = Target.around(design, Counts(count, 3 * count), np.zeros((2, 12)))
    return fitted(target, rng.standard_normal((size, target.dimension)))


def test_lattices_of_two_parts_have_the_density_of_both(monkeypatch: pytest.MonkeyPatch) -> None:
    """That of the prior, times that of the predictors of both with their dense covariance; and these stay."""
    monkeypatch.setattr(spectral_design, "SMALL_TABLE", 11)
    rng, seen = np.random.default_rng(6), []
    target, points = pair_of(LEARNED, 6, rng)
    learned, before = target.learned, target.values(points)
    after = target.values(redrawn(target, points, rng))
    np.testing.assert_allclose(after.eta, before.eta, atol=1e-9)
    assert (after.scaled.values != before.scaled.values).any(axis=0).all()

    def moved(value: FloatArray, log_density: Callable[[FloatArray], FloatArray], size: int, *_: object) -> FloatArray:
        at = value[:, None] + np.linspace(-0.5, 1.5, size)
        seen.append((at, log_density(at)))
        return value

    monkeypatch.setattr("bayesgroups.inference.lattices.moved", moved)
    redrawn(target, points, rng)
    numbers, eta = learned.numbers(points[:, : learned.dimension]), before.eta.reshape(len(points), -1)
    own = np.diag(np.repeat(np.square(OF_OWN), 12))
    for column, (at, density) in enumerate(seen):
        for draw in range(len(points)):
            candidates = np.repeat(numbers[[draw]], at.shape[1], axis=0)
            candidates[:, column] = at[draw]
            scaled = learned.at(learned.points(candidates))
            laws = [stats.multivariate_normal(cov=both_shared(values) + own) for values in scaled.values]
            gap = density[draw] - scaled.log_density() - [law.logpdf(eta[draw]) for law in laws]
            np.testing.assert_allclose(gap, gap[0], atol=1e-6)
    assert len(seen) == learned.dimension == 5


def test_what_both_parts_share_is_drawn_from_its_dense_law_given_predictors(monkeypatch: pytest.MonkeyPatch) -> None:
    """At known standard deviations and a coefficient that is as good as known: mean and covariance."""
    monkeypatch.setattr(spectral_design, "SMALL_TABLE", 11)
    scales = (0.8, 1.1, 0.5, 0.7)
    prior = FollowingPrior(Prior("known", scales[:2]), Prior("known", scales[2:]), 0.6, 1e-9)
    rng = np.random.default_rng(3)
    target, points = pair_of(prior, 4, rng)
    points = np.repeat(points[:1], 20_000, axis=0)
    before = target.values(points)
    after = target.values(redrawn(target, points, rng))
    np.testing.assert_allclose(after.eta, before.eta, atol=1e-9)
    shared = (after.eta - np.stack([each.values for each in after.residuals], axis=1)).reshape(len(points), -1)
    prior_covariance, own = both_shared(np.array([*scales, 0.6])), np.diag(np.repeat(np.square(OF_OWN), 12))
    gain = prior_covariance @ np.linalg.inv(prior_covariance + own)
    mean, covariance = gain @ before.eta[0].ravel(), prior_covariance - gain @ prior_covariance
    error = np.sqrt(np.diag(covariance) / len(points))
    assert np.abs((shared.mean(axis=0) - mean) / error).max() < 4.5
    scale = np.sqrt(np.outer(np.diag(covariance), np.diag(covariance)))
    assert np.abs((np.cov(shared.T) - covariance) / scale).max() < 6 / np.sqrt(len(points))


def test_learned_values_leave_other_kinds_of_directions_alone() -> None:
    """Standard deviations of components and shares of an order; that of residual effects counts for all directions."""
    ordered = OrderedBlocks(("a",), (OrderedBlock(0, 0, walk_root(4)[LEVELS[:, 0]]),))
    predictor = Predictor(CELLS, np.empty((12, 0)), OVERALL, 1.0)
    design = spectral_design.design_of(predictor, Prior("half_t", SCALES), np.zeros(12), ordered)
    rng = np.random.default_rng(3)
    values = rng.uniform(0.2, 0.8, (5, 4))
    before = design.kind_variance(values, 0)
    for column in range(4):
        moved = values.copy()
        moved[:, column] *= 0.9
        changed = (design.kind_variance(moved, 0) != before).any(axis=0)
        kinds = design.kinds_of(slice(column, column + 1))
        assert kinds.tolist() == np.flatnonzero(changed | (column == 2)).tolist()
        np.testing.assert_array_equal(design.kind_variance(values, 0, kinds), before[:, kinds])


def test_what_is_not_independent_along_directions_stays() -> None:
    rng = np.random.default_rng(1)
    cells, none = np.vstack([LEVELS.T, np.arange(12)]), np.empty((12, 0))
    single, scales = Predictor(cells, none, OVERALL, 1.0), Prior("half_t", SCALES)
    two = FollowingPredictor(cells, none, OVERALL, 1.0)
    far = Predictor(np.vstack([np.arange(12) // 2, (np.arange(12) + 1) // 2, np.arange(12)]), none, OVERALL, 1.0)
    following = FollowingPrior(scales, scales, 0.0, 1.0)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(spectrum, "MAX_DIRECTIONS", 1)
        unfactored = spectral_design.design_of(far, scales, np.zeros(12))
    assert not unfactored.level
    for design in (
        spectral_design.design_of(two, following, np.full(24, 0.1)),  # of few subgroups
        spectral_design.design_of(single, scales, rng.random(12)),
        unfactored,
        spectral_design.design_of(single, Prior("half_t", SCALES, residual_sd=0.0), np.zeros(12)),
    ):
        count = np.ones((design.parts, 12))
        target = Target.around(design, Counts(count, 2 * count), np.zeros((design.parts, 12)))
        points = rng.standard_normal((8, target.dimension))
        assert redrawn(target, points, rng) is points


def test_what_follows_effects_of_blocks_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    """So does a second part without residual effects, of however many subgroups."""
    monkeypatch.setattr(spectral_design, "SMALL_TABLE", 0)
    rng, ordered = np.random.default_rng(1), OrderedBlocks(("a",), (OrderedBlock(0, 0, ALONE[LEVELS[:, 0]]),))
    for known, along in ((0.1, ordered), (0.0, NOTHING)):
        design = spectral_design.design_of(PAIR, LEARNED, np.full(24, known), along)
        count = np.ones((2, 12))
        target = Target.around(design, Counts(count, 2 * count), np.zeros((2, 12)))
        points = rng.standard_normal((8, target.dimension))
        assert redrawn(target, points, rng) is points


@pytest.mark.parametrize("rows", [1000, 10_000])
@pytest.mark.parametrize("seed", [1, 2])
def test_a_level_without_failures_among_many_rows_mixes(rows: int, seed: int) -> None:
    """Its three subgroups are alike, not each far out on its own: chains that start there find their way."""
    rng = np.random.default_rng(seed)
    n = np.maximum(rng.lognormal(np.log(rows) - 0.5, 1, 12).astype(int), 1)
    k = np.where(LEVELS[:, 0] == 0, n, rng.binomial(n, 0.3))
    tally = bg.tally_from_counts(k, n, pd.DataFrame(LEVELS.astype(str), columns=["a", "b"]), metric="sel")
    posterior = bg.CrossedEffects().collapsed(tally, seed=1)
    assert all(check.passed for check in posterior.checks), posterior.checks
    rate = posterior.draws["mu"].isel(metric=0).mean(("chain", "draw")).values
    assert (rate[k == n] > 0.99).all()
    assert np.abs(rate - k / n)[k < n].max() < 0.05


@pytest.mark.slow
@pytest.mark.parametrize("seed", [0, 2, 9])
def test_sparse_tables_of_five_attributes_are_answered(seed: int) -> None:
    """Two fifths of the subgroups have no rows, others a handful or a hundred thousand, and rates differ without bound."""
    rng, levels = np.random.default_rng(seed), np.array(list(itertools.product(range(2), repeat=5)))
    n = np.where(rng.random(32) < 0.4, 0.0, np.round(np.exp(rng.normal(3, 3, 32))))
    k = rng.binomial(n.astype(int), 1 / (1 + np.exp(-rng.normal(0, 2) - rng.normal(0, 3, 32))))
    tally = bg.tally_from_counts(k, n, pd.DataFrame(levels.astype(str), columns=list("abcde")))
    posterior = bg.CrossedEffects(own_effects="learned").collapsed(tally, seed=1)
    assert posterior.engine == "hamiltonian"
    assert all(check.passed for check in posterior.checks), posterior.checks
