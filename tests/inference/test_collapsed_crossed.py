"""The engine of crossed effects: its two spaces, dense formulas, limits, and the engine of partial pooling."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from numpy.typing import NDArray

from bayesgroups.data.arrays import FloatArray, IntArray
from bayesgroups.inference.collapsed import binomial as binomial_pooling
from bayesgroups.inference.collapsed import gaussian as gaussian_pooling
from bayesgroups.inference.collapsed import logit_normal
from bayesgroups.inference.collapsed.crossed import engine, sites, spaces, surrogate, trajectories
from bayesgroups.inference.collapsed.crossed.effect_space import EffectSpace
from bayesgroups.inference.collapsed.crossed.predictor import Predictor
from bayesgroups.inference.collapsed.crossed.prior import Family, Prior
from bayesgroups.inference.collapsed.crossed.subgroup_space import SubgroupSpace

SPACES = ["subgroup", "effect", "effect, own known"]


def crossed(*levels: int) -> IntArray:
    grid = np.array(list(itertools.product(*map(range, levels)))).T
    found = []
    for size in range(1, len(levels)):
        for chosen in itertools.combinations(range(len(levels)), size):
            found.append(np.unique(grid[list(chosen)], axis=1, return_inverse=True)[1].ravel())
    return np.stack([*found, np.arange(grid.shape[1])]).astype(np.int64)


OWN = 0.21


class Case:
    """24 subgroups, two of them unseen, with two covariates."""

    def __init__(self) -> None:
        rng = np.random.default_rng(11)
        self.predictor = Predictor(crossed(4, 3, 2), rng.standard_normal((24, 2)), 0.5, 0.3)
        self.v = rng.uniform(0.001, 0.1, 24)
        self.v[[3, 7]] = np.inf
        self.y = np.where(np.isfinite(self.v), rng.normal(0.3, 0.2, 24), 0.0)
        self.tau = np.abs(rng.normal(0, 0.15, (40, 7)))
        self.tau[0] = 0

    def scales(self, name: str) -> FloatArray:
        """Standard deviations that the space can have."""
        return np.column_stack([self.tau[:, :-1], np.full(40, OWN)]) if "known" in name else self.tau

    @property
    def seen(self) -> NDArray[np.bool_]:
        return np.isfinite(self.v)

    def space(self, name: str) -> SubgroupSpace | EffectSpace:
        if name == "subgroup":
            return SubgroupSpace(self.predictor, self.y, self.v)
        if name == "effect":
            return EffectSpace(self.predictor, self.y, self.v, 3.0)
        return EffectSpace(self.predictor, self.y, self.v, 3.0, OWN)

    def prior_covariance(self, tau: FloatArray) -> FloatArray:
        predictor = self.predictor
        fixed = (
            predictor.overall_scale**2 + predictor.coefficient_scale**2 * predictor.covariates @ predictor.covariates.T
        )
        return np.asarray(
            fixed + sum(t**2 * (cell[:, None] == cell) for t, cell in zip(tau, predictor.cells, strict=True))
        )

    def posterior(self, tau: FloatArray) -> tuple[FloatArray, FloatArray]:
        prior, seen = self.prior_covariance(tau), self.seen
        gain = prior[:, seen] @ np.linalg.inv(prior[np.ix_(seen, seen)] + np.diag(self.v[seen]))
        return gain @ self.y[seen], prior - gain @ prior[seen]


@pytest.fixture
def case() -> Case:
    return Case()


@pytest.mark.parametrize("name", SPACES)
def test_the_marginal_likelihood_is_the_dense_normal_one(case: Case, name: str) -> None:
    from scipy.stats import multivariate_normal

    seen = case.seen
    expected = [
        multivariate_normal(
            np.zeros(seen.sum()), case.prior_covariance(tau)[np.ix_(seen, seen)] + np.diag(case.v[seen])
        ).logpdf(case.y[seen])
        for tau in case.scales(name)
    ]
    assert case.space(name).log_marginal(case.scales(name)) == pytest.approx(expected, abs=1e-8)


@pytest.mark.parametrize("name", SPACES)
def test_moments_are_those_of_the_posterior(case: Case, name: str) -> None:
    tau = case.scales(name)[5]
    mean, variance = case.space(name).moments(tau)
    expected_mean, expected_covariance = case.posterior(tau)
    assert mean == pytest.approx(expected_mean, abs=1e-9)
    assert variance == pytest.approx(np.diag(expected_covariance), abs=1e-9)


@pytest.mark.parametrize("name", SPACES)
def test_draws_are_from_the_posterior(case: Case, name: str) -> None:
    tau, number = case.scales(name)[5], 20_000
    drawn = case.space(name).draw(np.repeat(tau[None], number, axis=0), np.random.default_rng(1))
    prior, seen = case.prior_covariance(tau), case.seen
    shared = prior - tau[-1] ** 2 * np.eye(24)  # all but the subgroup's own effect
    gain = shared[:, seen] @ np.linalg.inv(prior[np.ix_(seen, seen)] + np.diag(case.v[seen]))
    mean, covariance = gain @ case.y[seen], shared - gain @ shared[seen]
    z = (drawn.shared().mean(axis=0) - mean) / np.sqrt(np.diag(covariance) / number)
    assert np.abs(z).max() < 4
    assert np.cov(drawn.shared().T) == pytest.approx(covariance, abs=0.003)
    assert drawn.overall.shape == (number,)
    assert drawn.beta.shape == (number, 2)


def test_both_spaces_draw_the_same_overall_and_coefficients(case: Case) -> None:
    tau = np.repeat(case.tau[9:10], 20_000, axis=0)
    one, two = (case.space(name).draw(tau, np.random.default_rng(2)) for name in SPACES[:2])
    for first, second in ((one.overall[:, None], two.overall[:, None]), (one.beta, two.beta)):
        error = np.sqrt(first.var(axis=0) / len(first) * 2)
        assert (np.abs(first.mean(axis=0) - second.mean(axis=0)) / error).max() < 4
        assert first.std(axis=0) == pytest.approx(second.std(axis=0), rel=0.03)


def test_slopes_are_those_of_the_marginal_likelihood(case: Case) -> None:
    space, tau, step = SubgroupSpace(case.predictor, case.y, case.v), case.tau[5], 1e-5 * np.eye(7)
    expected = (space.log_marginal(tau + step) - space.log_marginal(tau - step)) / 2e-5
    assert space.slope(tau) == pytest.approx(expected, rel=1e-5, abs=1e-5)


def test_draws_at_equal_standard_deviations_have_one_law_in_both_spaces(case: Case) -> None:
    many = np.repeat(case.tau[[9, 5]], 10_000, axis=0)
    found = case.space("effect").draw(many, np.random.default_rng(4)).shared()[10_000:]
    expected = case.space("subgroup").draw(many, np.random.default_rng(5)).shared()[10_000:]
    assert np.abs((found.mean(axis=0) - expected.mean(axis=0)) / found.std(axis=0)).max() < 4 * np.sqrt(2 / 10_000)
    assert np.cov(found.T) == pytest.approx(np.cov(expected.T), abs=0.004)


def test_many_components_have_patterns_of_agreement() -> None:
    """Six attributes of two levels have 63 components, more than the bits of a number."""
    cells = crossed(2, 2, 2, 2, 2, 2)
    space = SubgroupSpace(Predictor(cells, np.empty((64, 0)), 1.0, 1.0), np.zeros(64), np.ones(64))
    assert space.agreement.shape == (62, 64)
    agree = cells[:-1, :, None] == cells[:-1, None, :]
    assert (space.agreement[:, space.pattern] == agree).all()


def test_the_gaussian_posterior_mean_is_suremap(case: Case) -> None:
    """At fixed variances SureMap, the posterior of the engine and a dense solve are one formula."""
    from bayesgroups.frequentist.crossed import sure

    seen, tau = case.seen, case.tau[4]
    bare = Predictor(case.predictor.cells, np.empty((24, 0)), 0.5, 0.3)
    mean = SubgroupSpace(bare, case.y, case.v).moments(tau)[0]
    prior = 0.25 + sum(t**2 * (cell[:, None] == cell) for t, cell in zip(tau, bare.cells, strict=True))
    u = np.where(seen, 1 / np.where(seen, case.v, 1.0), 0.0)
    assert sure.posterior_mean(case.y, u, np.asarray(prior)) == pytest.approx(mean, abs=1e-12)


@pytest.mark.parametrize("family", ["half_normal", "half_t", "r2d2"])
def test_priors_have_their_law(family: Family) -> None:
    from scipy import stats

    prior = Prior(family, (0.3,) * 5)
    tau = prior.scales(np.random.default_rng(1).standard_normal((20_000, prior.dimension)))
    if family == "r2d2":
        total = np.sqrt((tau**2).sum(axis=1))
        assert stats.kstest(total, lambda x: 2 * stats.t(3).cdf(x / (0.3 * np.sqrt(5))) - 1).pvalue > 1e-3
        share = (tau / total[:, None]) ** 2
        assert all(stats.kstest(share[:, k], stats.beta(1, 4).cdf).pvalue > 1e-3 for k in range(5))
    else:
        law = stats.halfnorm(scale=0.3).cdf if family == "half_normal" else (lambda x: 2 * stats.t(3).cdf(x / 0.3) - 1)
        assert all(stats.kstest(tau[:, k], law).pvalue > 1e-3 for k in range(5))
    assert prior.largest >= tau.max()


def test_sites_reproduce_the_moments_of_single_counts() -> None:
    """With independent subgroups a site is exact: site times prior has the moments of count times prior."""
    k, n = np.array([0.0, 2.0, 40.0, 0.0]), np.array([3.0, 5.0, 100.0, 0.0])
    mean, sd = np.full(4, -0.5), np.full(4, 0.8)

    def moments(y: FloatArray, v: FloatArray) -> tuple[FloatArray, FloatArray]:
        precision = 1 / sd**2 + 1 / v
        return (mean / sd**2 + np.where(np.isfinite(v), y / v, 0.0)) / precision, 1 / precision

    y, v = sites.start(k, n)
    for _ in range(3):
        y, v = sites.refine(k, n, y, v, moments)
    expected_mean, expected_variance = logit_normal.moments(k, n, mean, sd, nodes=41)
    found_mean, found_variance = moments(y, v)
    assert found_mean == pytest.approx(expected_mean, abs=1e-6)
    assert found_variance == pytest.approx(expected_variance, rel=1e-5)
    assert np.isinf(v[3])


COUNT = np.array([2, 3, 5, 9, 20, 30, 66, 94, 200, 400, 0, 0], dtype=np.float64)


def z_of_means(first: FloatArray, second: FloatArray, ess: float) -> FloatArray:
    error = second.std(axis=0) * np.sqrt(1 / len(second) + 1 / min(len(first), ess))
    return np.asarray((first.mean(axis=0) - second.mean(axis=0)) / error)


def test_one_attribute_is_partial_pooling_of_rates() -> None:
    rng = np.random.default_rng(3)
    k = rng.binomial(COUNT.astype(np.int64), 0.2).astype(np.float64)
    predictor = Predictor(np.arange(12)[None], np.empty((12, 0)), 1.5, 1.0)
    found = engine.binomial(predictor, k, COUNT, Prior("half_normal", (0.5,) * 1), rng, draws=20_000)
    other = binomial_pooling.sample(k, COUNT, rng, draws=20_000, overall_scale=1.5, tau_scale=0.5)
    mu = 1 / (1 + np.exp(-found.eta))
    assert np.abs(z_of_means(mu, other.mu, found.ess)).max() < 4
    assert mu.std(axis=0) == pytest.approx(other.mu.std(axis=0), rel=0.05)
    assert found.tau.mean() == pytest.approx(other.tau.mean(), abs=0.01)


def test_many_subgroups_are_partial_pooling_of_rates() -> None:
    """So many that only the sites themselves are drawn from, and weights are interpolated."""
    rng = np.random.default_rng(8)
    n = rng.integers(0, 40, 300).astype(np.float64)
    k = rng.binomial(n.astype(np.int64), 1 / (1 + np.exp(1 - 0.4 * rng.standard_normal(300)))).astype(np.float64)
    predictor = Predictor(np.arange(300)[None], np.empty((300, 0)), 1.5, 1.0)
    assert isinstance(
        spaces.space(predictor, k, np.where(n > 0, 1.0, np.inf), Prior("half_normal", (0.5,) * 1)), EffectSpace
    )
    found = engine.binomial(predictor, k, n, Prior("half_normal", (0.5,) * 1), rng, draws=4000)
    other = binomial_pooling.sample(k, n, rng, draws=4000, overall_scale=1.5, tau_scale=0.5)
    mu = 1 / (1 + np.exp(-found.eta))
    assert found.k_hat < 0.7
    assert np.abs(z_of_means(mu, other.mu, found.ess)).max() < 4.5
    assert mu.std(axis=0).mean() == pytest.approx(other.mu.std(axis=0).mean(), rel=0.02)
    assert found.tau.mean() == pytest.approx(other.tau.mean(), abs=0.01)


@pytest.mark.parametrize("subgroups", [30, 10])
def test_chains_take_the_place_of_weights_that_are_not_good_or_slow(
    monkeypatch: pytest.MonkeyPatch, subgroups: int
) -> None:
    rng = np.random.default_rng(12)
    cells, n = crossed(5, 6)[[0, 1, -1]], np.full(30, 30.0)
    k = rng.binomial(30, 0.3, 30).astype(np.float64)
    monkeypatch.setattr(engine, "MAX_SUBGROUPS_IN_OWN_SPACE", subgroups)
    predictor, prior = Predictor(cells, np.empty((30, 0)), 1.5, 1.0), Prior("half_normal", (0.4,) * 3, residual_sd=0.3)
    engines = []
    for usable in (0.7, -1.0):
        monkeypatch.setattr("bayesgroups.inference.importance.USABLE", usable)
        for answer in (
            engine.binomial(predictor, k, n, prior, rng, draws=1000),
            engine.gaussian(predictor, k / 30, 0.01 * np.ones(30), prior, rng, draws=1000),
        ):
            engines.append(answer.engine)
            assert answer.eta.shape == (1000, 30)
    assert engines == ["hamiltonian", "collapsed" if subgroups == 30 else "hamiltonian", "hamiltonian", "hamiltonian"]


@pytest.mark.parametrize(
    ("subgroups", "trusted", "then"), [(30, 0.7, "collapsed"), (30, -1.0, "hamiltonian"), (29, 0.7, "hamiltonian")]
)
def test_weights_take_the_place_of_chains_of_few_counts_that_fail(
    monkeypatch: pytest.MonkeyPatch, subgroups: int, trusted: float, then: str
) -> None:
    """They are asked for before chains go on; without good ones chains do, and are left with what they failed."""
    rng, again, attempts = np.random.default_rng(12), trajectories.Run.again, []

    def counted(run: trajectories.Run) -> trajectories.Run:
        attempts.append(run)
        return again(run)

    monkeypatch.setattr(trajectories.Run, "again", counted)
    k, n = rng.binomial(30, 0.3, 30).astype(np.float64), np.full(30, 30.0)
    monkeypatch.setattr(engine, "MAX_SUBGROUPS_IN_OWN_SPACE", subgroups)
    monkeypatch.setattr("bayesgroups.report.diagnostics.ESS", 1e9)
    monkeypatch.setattr("bayesgroups.inference.importance.USABLE", trusted)
    predictor = Predictor(crossed(5, 6)[[0, 1, -1]], np.empty((30, 0)), 1.5, 1.0)
    drawn = engine.binomial(predictor, k, n, Prior("half_normal", (0.4,) * 3), rng, draws=1000)
    assert drawn.engine == then
    assert bool(attempts) == (then == "hamiltonian")
    failed = [check.name for check in drawn.checks("rate") if not check.passed]
    assert bool(failed) == (then == "hamiltonian")


def test_a_known_own_effect_is_the_same_by_chains_and_in_both_spaces(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(9)
    cells, n = crossed(5, 6)[[0, 1, -1]], rng.integers(0, 60, 30).astype(np.float64)
    k = rng.binomial(n.astype(np.int64), 0.3).astype(np.float64)
    predictor, prior = Predictor(cells, np.empty((30, 0)), 1.5, 1.0), Prior("half_normal", (0.4,) * 3, residual_sd=0.3)
    by_chains = engine.binomial(predictor, k, n, prior, rng, draws=8000)
    one = engine.binomial_by_weights(predictor, k, n, prior, rng, draws=8000)
    monkeypatch.setattr(spaces, "MIN_SUBGROUPS_FOR_EFFECTS", 5)
    monkeypatch.setattr(engine, "MAX_SUBGROUPS_WITH_WIDE_SITES", 5)
    two = engine.binomial_by_weights(predictor, k, n, prior, rng, draws=8000)
    assert by_chains.mixing is not None
    assert one is not None
    assert two is not None
    assert (two.tau[:, -1] == 0.3).all()
    for other, ess in ((one, one.ess), (by_chains, by_chains.mixing.bulk)):
        assert np.abs(z_of_means(other.eta, two.eta, min(ess, two.ess) / 2)).max() < 4.5
        assert two.eta.std(axis=0) == pytest.approx(other.eta.std(axis=0), rel=0.06)


@pytest.mark.parametrize("fixed", [True, False])
def test_interpolated_weights_are_those_of_quadrature(fixed: bool) -> None:
    rng = np.random.default_rng(10)
    n = np.array([0.0, 1, 4, 30, 400])
    k, sites_of = (
        np.array([0.0, 0, 4, 9, 100]),
        (np.array([0.0, -0.5, 1.5, -0.8, -1.1]), np.array([np.inf, 5, 2, 0.2, 0.013])),
    )
    shared = rng.normal([0, -0.5, 0.5, -0.8, -1.1], [1, 0.6, 0.5, 0.3, 0.1], (2000, 5)).__getitem__
    own = np.full(2000, 0.3) if fixed else rng.uniform(0.05, 0.4, 2000)
    extra = np.array([0.0, 0.02, 0.0, 0.04, 0.01])
    for given in (None, sites_of):
        found = surrogate.log_likelihood(k, n, shared, own, extra, given)
        expected = surrogate.direct(k, n, shared, own, extra, given)
        assert np.abs(found - expected).max() < 0.02
        assert (found == expected).mean() < 0.5  # it was interpolated
    y, v = sites_of
    variance = v[1:] + own[:, None] ** 2 + extra[1:]
    density = -0.5 * np.log(variance) - 0.5 * (y - shared(slice(None)))[:, 1:] ** 2 / variance
    without, less = (surrogate.direct(k, n, shared, own, extra, given) for given in (None, sites_of))
    assert without - less == pytest.approx(density.sum(axis=1), abs=1e-9)


def test_weights_that_cannot_be_interpolated_are_computed() -> None:
    rng = np.random.default_rng(11)
    k, n = np.array([0.0, 5e5]), np.array([1e6, 1e6])
    shared, own = rng.normal(0, 4, (400, 2)).__getitem__, np.full(400, 0.05)
    assert (
        surrogate.log_likelihood(k, n, shared, own, np.zeros(2)) == surrogate.direct(k, n, shared, own, np.zeros(2))
    ).all()


def test_one_attribute_is_partial_pooling_of_means() -> None:
    rng = np.random.default_rng(4)
    v = np.where(COUNT > 0, 0.16 / np.maximum(COUNT, 1), np.inf)
    z = np.where(
        COUNT > 0, rng.normal(0.2, 0.1, 12) + np.sqrt(np.where(COUNT > 0, v, 0.0)) * rng.standard_normal(12), 0.0
    )
    predictor = Predictor(np.arange(12)[None], np.empty((12, 0)), 0.5, 1.0)
    found = engine.gaussian(predictor, z - 0.5, v, Prior("half_normal", (0.25,) * 1), rng, draws=20_000)
    other = gaussian_pooling.sample(
        np.where(COUNT > 0, z, np.nan), v, rng, draws=20_000, centre=0.5, overall_scale=0.5, tau_scale=0.25
    )
    assert np.abs(z_of_means(found.eta + 0.5, other.mu, found.ess)).max() < 4
    assert found.eta.std(axis=0) == pytest.approx(other.mu.std(axis=0), rel=0.05)


def test_tiny_scales_pool_completely_and_huge_scales_not_at_all(case: Case) -> None:
    bare = Predictor(case.predictor.cells, np.empty((24, 0)), 10.0, 1.0)
    rng, seen = np.random.default_rng(5), case.seen
    pooled = engine.gaussian(bare, case.y, case.v, Prior("half_normal", (1e-7,) * 7), rng, draws=2000).eta.mean(axis=0)
    weight = np.where(seen, 1 / case.v, 0.0)
    assert pooled == pytest.approx(np.full(24, (weight @ case.y) / weight.sum()), abs=0.01)
    # A wide prior still lets the data pool; a subgroup effect that is known to be huge does not.
    alone, variance = SubgroupSpace(bare, case.y, case.v).moments(np.array([0.1] * 6 + [1e4]))
    assert alone[seen] == pytest.approx(case.y[seen], abs=1e-6)
    assert variance[seen] == pytest.approx(case.v[seen], rel=1e-5)


def test_order_of_subgroups_does_not_matter() -> None:
    rng = np.random.default_rng(6)
    cells, n = crossed(3, 2, 2), rng.integers(0, 60, 12).astype(np.float64)
    k = rng.binomial(n.astype(np.int64), 0.3).astype(np.float64)
    order = rng.permutation(12)
    one = engine.binomial(
        Predictor(cells, np.empty((12, 0)), 1.5, 1.0), k, n, Prior("half_normal", (0.4,) * 7), rng, draws=8000
    )
    two = engine.binomial(
        Predictor(cells[:, order], np.empty((12, 0)), 1.5, 1.0),
        k[order],
        n[order],
        Prior("half_normal", (0.4,) * 7),
        rng,
        draws=8000,
    )
    assert np.abs(z_of_means(one.eta[:, order], two.eta, min(one.ess, two.ess) / 2)).max() < 4.5


@pytest.mark.parametrize(
    ("k", "n"),
    [
        ([0, 0, 0, 0], [1, 1, 1, 1]),
        ([1, 1, 1, 1], [1, 1, 1, 1]),
        ([0, 5e11, 3, 0], [0, 1e12, 3, 0]),
        ([0.2, 1.7, 2.25, 0], [0.5, 3.5, 4.75, 0.0]),
    ],
)
def test_extreme_counts_pass_the_gate(k: list[float], n: list[float]) -> None:
    predictor = Predictor(crossed(2, 2), np.empty((4, 0)), 1.5, 1.0)
    found = engine.binomial(
        predictor, np.array(k, dtype=float), np.array(n, dtype=float), Prior("half_normal", (0.5,) * 3), np.random.default_rng(7),
        draws=4000,
    )  # fmt: skip
    assert np.isfinite(found.eta).all()
    assert all(check.passed for check in found.checks("rate"))
