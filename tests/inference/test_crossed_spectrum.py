"""Directions of crossed effects, the density along them and its gradient, against dense formulas."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest
from scipy import stats

from bayesgroups.data.arrays import FloatArray
from bayesgroups.inference.collapsed.crossed import fitted_target
from bayesgroups.inference.collapsed.crossed.data_likelihoods import Counts, Estimates
from bayesgroups.inference.collapsed.crossed.following import FollowingPredictor, FollowingPrior, Predictors, Priors
from bayesgroups.inference.collapsed.crossed.learned_coordinates import Learned
from bayesgroups.inference.collapsed.crossed.learned_turns import LearnedTurn
from bayesgroups.inference.collapsed.crossed.predictor import Predictor
from bayesgroups.inference.collapsed.crossed.prior import Prior
from bayesgroups.inference.collapsed.crossed.scale_coordinates import coordinates_of
from bayesgroups.inference.collapsed.crossed.spectral_design import Design, design_of
from bayesgroups.inference.collapsed.crossed.spectral_target import Target
from bayesgroups.inference.single_precision import in_single
from bayesgroups.models.shared.ordered_levels import NOTHING, OrderedBlock, OrderedBlocks, walk_root
from bayesgroups.models.shared.spectrum import Spectrum, spectrum

GRID = np.array([*itertools.product(range(4), range(3))]).T
CELLS = np.concatenate([GRID, np.arange(12)[None]])
WALK = walk_root(4)[GRID[0]]
ALONG = OrderedBlocks(
    ("a",),
    (OrderedBlock(0, 0, WALK), OrderedBlock(2, 0, (WALK[:, :, None] * np.eye(3)[GRID[1]][:, None]).reshape(12, -1))),
)
ALONE = np.zeros((4, 3))
ALONE[:3, :2], ALONE[3, 2] = walk_root(3), 1.0
WITH_ONE_ALONE = OrderedBlocks(("a",), (OrderedBlock(0, 0, ALONE[GRID[0]]),))
X = np.random.default_rng(1).standard_normal((12, 1))
NONE = np.empty((12, 0))
HALVES = Prior("half_normal", (0.3, 0.4))


@dataclass(frozen=True)
class Case:
    predictor: Predictors
    prior: Priors
    known: FloatArray
    ordered: OrderedBlocks = NOTHING
    one_sided: bool = False

    @property
    def design(self) -> Design:
        return design_of(self.predictor, self.prior, self.known, self.ordered)


FOLLOWING, SLOPES = FollowingPredictor(GRID, X, 1.5, 0.4), FollowingPrior(HALVES, HALVES, 0.3, 0.3)
ALIKE = np.repeat([0.02, 0.03], 12)
THREE = Prior("half_t", (0.3, 0.2, 0.4))
CASES = {
    "crossed": Case(Predictor(CELLS, NONE, 1.5, 0.4), THREE, ALIKE[:12]),
    "half-normal": Case(Predictor(CELLS, X, 1.5, 0.4), Prior("half_normal", (0.3, 0.2, 0.4), 0.1), ALIKE[:12]),
    "r2d2": Case(Predictor(CELLS, NONE, 1.5, 0.4), Prior("r2d2", (0.3, 0.2, 0.4)), ALIKE[:12]),
    "known": Case(Predictor(CELLS, X, 1.5, 0.4), Prior("known", (0.3, 0.2, 0.4)), 0 * ALIKE[:12]),
    "some": Case(Predictor(CELLS[:, :9], X[:9], 1.5, 0.4), THREE, ALIKE[:9]),
    "ordered": Case(Predictor(CELLS, X, 1.5, 0.4), THREE, ALIKE[:12], ALONG),
    "one level alone": Case(Predictor(CELLS, NONE, 1.5, 0.4), THREE, ALIKE[:12], WITH_ONE_ALONE),
    "unlike": Case(Predictor(CELLS, X, 1.5, 0.4), THREE, np.linspace(0.01, 0.03, 12), ALONG),
    "following": Case(FOLLOWING, SLOPES, ALIKE),
    "following, ordered": Case(FOLLOWING, SLOPES, ALIKE, OrderedBlocks(("a",), ALONG.blocks[:1])),
    "following, one level alone": Case(FOLLOWING, SLOPES, ALIKE, WITH_ONE_ALONE),
    "following, unlike": Case(FOLLOWING, SLOPES, np.linspace(0.01, 0.03, 24)),
    "one-sided": Case(Predictor(CELLS, X, 1.5, 0.4), THREE, ALIKE[:12], one_sided=True),
    "one-sided, unlike": Case(Predictor(CELLS, NONE, 1.5, 0.4), THREE, np.linspace(0.01, 0.03, 12), one_sided=True),
}


@pytest.fixture(params=CASES)
def case(request: pytest.FixtureRequest) -> Case:
    return CASES[request.param]


@pytest.fixture(params=[False, True], ids=["few subgroups", "many subgroups"])
def large(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> bool:
    """Where subgroups are many all coordinates are turned, by variances that are learned."""
    if request.param:
        monkeypatch.setattr("bayesgroups.inference.collapsed.crossed.spectral_design.SMALL_TABLE", 0)
        monkeypatch.setattr("bayesgroups.inference.collapsed.crossed.learned_turns.STRETCHED", (1.0, 1.0))
    return bool(request.param)


def with_learned_turns(case: Case, large: bool) -> bool:
    """True where residual effects have a learned variance."""
    return large and case.design.parts == 1


def target_of(case: Case, seed: int = 0) -> Target:
    rng, design = np.random.default_rng(seed), case.design
    shape = design.parts, case.predictor.cells.shape[1]
    n = rng.integers(0, 20, shape).astype(np.float64)
    k = rng.binomial(n.astype(int), 0.3).astype(np.float64)
    if case.one_sided:
        k = n * (k > 5)
    return Target.around(design, Counts(k, n), 0.5 * rng.standard_normal(shape))


def at_precision(target: Target, precision: float) -> Target:
    """Target whose transport takes data to say so little or so much of everything."""
    residuals = tuple(each._replace(precision=0 * each.precision + precision) for each in target.residuals)
    blocks = tuple(each._replace(precision=0 * each.precision + precision) for each in target.blocks)
    directions = tuple(each._replace(precision=0 * each.precision + precision) for each in target.directions)
    return replace(target, directions=directions, residuals=residuals, blocks=blocks)


def prior_covariance(case: Case, learned: FloatArray) -> FloatArray:
    """Covariance of the predictors of all rows, from the effects one by one."""
    predictor, design = case.predictor, case.design
    number = predictor.cells.shape[1]
    follow = learned[design.coefficient] if design.parts > 1 else 0.0
    within, residual = [], []
    for part in range(design.parts):
        tau, share = learned[design.spreads(part)], learned[design.shares_of(part)]
        of_share = {block.component: share[block.share] for block in case.ordered.blocks}
        total = np.zeros((number, number))
        residual.append(np.diag(case.known.reshape(design.parts, number)[part]))
        for component, cells in enumerate(predictor.cells):
            rest = 1 - of_share.get(component, 0.0)
            total = total + tau[component] ** 2 * rest * (cells[:, None] == cells)
        for block in case.ordered.blocks:
            total = total + tau[block.component] ** 2 * of_share[block.component] * block.root @ block.root.T
        within.append(total)
    level = predictor.overall_scale**2 * np.ones((number, number))
    slopes = predictor.coefficient_scale**2 * predictor.covariates @ predictor.covariates.T
    if design.parts == 1:
        return np.asarray(within[0] + residual[0] + level + slopes)
    across = follow * within[0]
    second = follow**2 * within[0] + within[1] + residual[1] + level + slopes
    return np.block([[within[0] + residual[0] + level, across], [across, second]])


def test_directions_make_every_component_diagonal() -> None:
    order = np.random.default_rng(3).permutation(60)
    codes = np.array([*itertools.product(range(5), range(4), range(3))])[order].T
    subsets = [each for size in (1, 2, 3) for each in itertools.combinations(range(3), size)]
    cells = np.array([np.unique(codes[list(each)], axis=1, return_inverse=True)[1].ravel() for each in subsets])
    walk = walk_root(5)[codes[0]]
    found = spectrum(cells, [walk])
    assert found is not None
    basis, diagonal = found
    assert diagonal == [True]
    matrix = basis.values(np.eye(60)).T
    np.testing.assert_allclose(matrix @ matrix.T, np.eye(60), atol=1e-12)
    kernels = [*(cell[:, None] == cell for cell in cells), walk @ walk.T]
    for position, kernel in enumerate(kernels):
        expected = np.diag(basis.power[basis.kind, position])
        np.testing.assert_allclose(matrix.T @ kernel @ matrix, expected, atol=1e-9)
    values, weight = np.random.default_rng(1).standard_normal((3, 60)), np.arange(60.0)
    np.testing.assert_allclose(basis.along(basis.values(values)), values, atol=1e-12)
    np.testing.assert_allclose(basis.squared(weight), np.diag(matrix.T @ np.diag(weight) @ matrix), atol=1e-9)


def test_factor_by_factor_is_the_whole_basis(monkeypatch: pytest.MonkeyPatch) -> None:
    def basis() -> Spectrum:
        found = spectrum(CELLS[:, :9], [])
        assert found is not None
        return found[0]

    whole = basis()
    monkeypatch.setattr("bayesgroups.models.shared.spectrum.MAX_DENSE", 0)
    parts = basis()
    assert whole.dense is not None
    assert parts.dense is None
    values, along = np.random.default_rng(1).standard_normal((3, 9)), np.random.default_rng(2).standard_normal((3, 9))
    np.testing.assert_allclose(parts.values(along), whole.values(along), atol=1e-12)
    np.testing.assert_allclose(parts.along(values), whole.along(values), atol=1e-12)


def test_what_has_too_many_levels_or_combinations_has_no_such_directions() -> None:
    many, own = np.arange(2001), np.arange(30)
    assert spectrum(many[None], []) is None
    assert spectrum(np.stack([own, (own + 1) % 30]), []) is None
    halves = np.stack([own // 15, own % 2])
    assert spectrum(halves, []) is None  # they do not tell subgroups apart


def test_gradients_are_differences(case: Case, large: bool) -> None:
    target = target_of(case)
    points = np.random.default_rng(2).standard_normal((3, target.dimension))
    for _ in range(2):
        gradient = target(points)[1]
        step = 1e-6 * np.eye(target.dimension)
        differences = np.stack([(target(points + e)[0] - target(points - e)[0]) / 2e-6 for e in step], axis=1)
        np.testing.assert_allclose(gradient, differences, atol=1e-5, rtol=1e-5)
        target, points = fitted_target.fitted(target, points)
        assert all(isinstance(turn, LearnedTurn) == with_learned_turns(case, large) for turn in target.turns)
        assert all((data.bend is not None) == case.one_sided for data in target.residuals)


def test_gradients_in_single_precision_are_those_in_double(case: Case, large: bool) -> None:
    target = target_of(case)
    points = np.random.default_rng(2).standard_normal((5, target.dimension))
    if large:
        target, points = fitted_target.fitted(target, points)
        assert all(isinstance(turn, LearnedTurn) == with_learned_turns(case, large) for turn in target.turns)
    single = in_single(target, but=Learned).slope(in_single(points))
    double = target.slope(points)
    np.testing.assert_allclose(single, double, rtol=1e-3, atol=2e-4)
    assert (single != double).any()


def test_fitted_coordinates_have_the_same_predictors(case: Case, large: bool) -> None:
    target = target_of(case)
    points = np.random.default_rng(3).standard_normal((6, target.dimension))
    fitted, moved = fitted_target.fitted(target, points)
    assert all(isinstance(turn, LearnedTurn) == with_learned_turns(case, large) for turn in fitted.turns)
    first, second = target.values(points), fitted.values(moved)
    np.testing.assert_allclose(first.eta, second.eta, atol=1e-9)
    np.testing.assert_allclose(first.scaled.values, second.scaled.values, atol=1e-9)


def test_predictors_have_the_prior_of_the_model_whatever_the_transport(case: Case) -> None:
    """Given what is learned, normal numbers weighed by the density are draws of the prior: their mean square is its variance."""
    design, rng = case.design, np.random.default_rng(4)
    target = target_of(case)
    points = np.zeros((20_000, target.dimension))
    learned = rng.standard_normal(design.coordinates.dimension)
    points[:, : len(learned)] = learned
    points[:, len(learned) :] = rng.standard_normal((len(points), target.dimension - len(learned)))
    none = np.zeros((design.parts, case.predictor.cells.shape[1]))
    nothing = replace(at_precision(target, 1e-12), likelihood=Counts(none, none))
    point = nothing.values(points)
    flat = point.eta.reshape(len(points), -1)
    expected = prior_covariance(case, point.scaled.values[0])
    scale = np.sqrt(np.outer(np.diag(expected), np.diag(expected)))
    assert np.abs((flat.T @ flat / len(flat) - expected) / scale).max() < 6 / np.sqrt(len(flat))


def test_the_density_is_that_of_the_dense_model_whatever_the_transport(large: bool) -> None:
    """Normal data: the log density of all coordinates less that of xi given the rest is the marginal likelihood."""
    case = CASES["crossed"]
    rng, design = np.random.default_rng(5), case.design
    y, v = rng.standard_normal(12), rng.uniform(0.1, 0.5, 12)
    likelihood, rows = Estimates(y, 1 / v), []
    start = Target.around(design, likelihood, y[None])
    turned, _ = fitted_target.fitted(start, rng.standard_normal((5, start.dimension)))
    assert isinstance(turned.turns[0], LearnedTurn) == large
    for target in (at_precision(start, 1e-9), at_precision(start, 3.0), replace(turned, learned=start.learned)):
        for a in rng.standard_normal((3, 3)):
            rest = target.dimension - 3
            point = np.concatenate([a, np.zeros(rest)])[None]
            value, slope = target(point)
            hessian = np.stack(
                [
                    (target(point + step)[1] - target(point - step)[1])[0, 3:] / 2e-4
                    for step in 1e-4 * np.eye(3 + rest)[3:]
                ]
            )
            newton = np.linalg.solve(-hessian, slope[0, 3:])
            marginal = value[0] + 0.5 * slope[0, 3:] @ newton - 0.5 * np.linalg.slogdet(-hessian)[1]
            learned = target.values(point).scaled.values[0]
            dense = stats.multivariate_normal(cov=prior_covariance(case, learned) + np.diag(v)).logpdf(y)
            rows.append(marginal - dense - target.learned.at(a[None]).log_density()[0])
    assert np.ptp(rows) < 1e-5


def drawn_from(prior: Priors, rng: np.random.Generator) -> tuple[FloatArray, int]:
    """Draws (draw, column) of what a prior is of, and the column that has a sign, -1 for none."""
    if isinstance(prior, Prior):
        return prior.scales(rng.standard_normal((50_000, prior.dimension))), -1
    both = [drawn_from(each, rng)[0] for each in (prior.first, prior.second)]
    slope = rng.normal(prior.follow_mean, prior.follow_sd, 50_000)
    return np.column_stack([*both, slope]), sum(each.shape[1] for each in both)


@pytest.mark.parametrize(
    ("prior", "shares"),
    [
        (THREE, 2),
        (Prior("half_normal", (0.3, 0.2, 0.5), 0.1), 0),
        (Prior("r2d2", (0.3, 0.2, 0.5, 0.1)), 1),
        (Prior("known", (0.3, 0.2)), 0),
        (SLOPES, 1),
    ],
    ids=lambda each: getattr(each, "family", None),
)
def test_coordinates_have_the_law_of_the_prior(prior: Any, shares: int) -> None:
    """Draws weighed by the density of the coordinates have the quantiles of the prior's own draws; slopes are differences."""
    coordinates = coordinates_of(prior, shares)
    assert len(coordinates.positive) == coordinates.dimension
    rng = np.random.default_rng(6)
    a = 3 * rng.standard_t(5, (50_000, coordinates.dimension))
    scaled = coordinates.at(a)
    log_weight = scaled.log_density() - stats.t(5).logpdf(a / 3).sum(axis=1)
    weight = np.exp(log_weight - log_weight.max())
    weight /= weight.sum()
    own, signed = drawn_from(prior, rng)
    error = 5 / np.sqrt(1 / (weight**2).sum())
    for column in range(own.shape[1]):
        if np.ptp(own[:, column]) == 0:
            np.testing.assert_allclose(scaled.values[:, column], own[0, column])
            continue
        values = scaled.values[:, column]
        values = values if column == signed else np.abs(values)
        for share in (0.1, 0.5, 0.9):
            assert weight[values < np.quantile(own[:, column], share)].sum() == pytest.approx(share, abs=error)
    for share in range(shares):
        below = weight[scaled.values[:, own.shape[1] + share] < 0.3].sum()
        assert below == pytest.approx(0.3, abs=error)
    a, w = a[:4] / 3, rng.standard_normal(scaled.values.shape[1])

    def total(at: FloatArray) -> FloatArray:
        each = coordinates.at(at)
        return np.asarray(each.log_density() + each.values @ w)

    step = 1e-6 * np.eye(coordinates.dimension)
    differences = [(total(a + e) - total(a - e)) / 2e-6 for e in step]
    slope = coordinates.at(a).pull(np.tile(w, (4, 1)))
    np.testing.assert_allclose(slope, np.reshape(differences, slope.T.shape).T, rtol=1e-4, atol=1e-5)
