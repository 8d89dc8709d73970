"""Crossed effects by their effects and in blocks of levels: the same numbers as from matrices of groups, on less."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
import pytest

import bayesgroups as bg
from bayesgroups.frequentist import crossed_effects
from bayesgroups.frequentist.crossed import components, joint_fit, marginal_likelihood, mixture, sure
from bayesgroups.frequentist.crossed.components import components_of
from bayesgroups.frequentist.crossed.effect_space import EffectSpace
from bayesgroups.frequentist.crossed.families import Family, family
from bayesgroups.frequentist.crossed.joint_fit import Choice, Method
from bayesgroups.frequentist.crossed.level_blocks import LevelBlocks
from bayesgroups.frequentist.crossed.level_layout import layout_of
from bayesgroups.frequentist.crossed.restricted import Restricted
from bayesgroups.models.shared.ordered_levels import walk_root

LEVELS = list(itertools.product(range(3), range(2), range(4)))
FAMILY = family(LEVELS, ["a", "b", "c"], order=2)
SOME_LEVELS = [LEVELS[place] for place in (7, 2, 3, 23, 11, 0, 4, 9, 18, 13, 14)]
SOME = family(SOME_LEVELS, ["a", "b", "c"])
"""Groups in any order, with few at each level."""
RNG = np.random.default_rng(4)


def in_blocks(groups: Family) -> LevelBlocks:
    layout = layout_of(groups)
    assert layout is not None
    return LevelBlocks.of(groups, layout)


def data(components: Family) -> tuple[np.ndarray, np.ndarray]:
    """Estimates and precisions, of which every seventh is 0."""
    groups = components.cells.shape[1]
    rng = np.random.default_rng(groups)
    z, u = rng.normal(0.3, 1, (groups,)), rng.gamma(2, 2, (groups,))
    return z, np.where(np.arange(groups) % 7 == 3, 0.0, u)


POINTS = [RNG.gamma(0.7, 0.5, len(FAMILY.names)), np.where(np.arange(len(FAMILY.names)) % 2, 0.0, 0.4), np.zeros(8)]
FORMS = [EffectSpace.of, in_blocks]


@pytest.mark.parametrize("variances", POINTS, ids=["all", "some", "none"])
@pytest.mark.parametrize("groups", [FAMILY, SOME], ids=["every", "some"])
@pytest.mark.parametrize("form", FORMS, ids=["effects", "blocks"])
def test_objectives_are_those_of_the_matrices(form: Any, groups: Family, variances: np.ndarray) -> None:
    z, u = data(groups)
    full, dense, apart = form(groups), groups.agreement(), groups.without("shared").agreement()
    variances = variances[: len(dense)]
    for ours, theirs in (
        (sure.risk(z, u, full, variances, centre=0.1), sure.risk(z, u, dense, variances, centre=0.1)),
        (
            marginal_likelihood.deviance(z, u, full.without_shared(), variances[1:]),
            marginal_likelihood.deviance(z, u, apart, variances[1:]),
        ),
    ):
        assert ours[0] == pytest.approx(theirs[0], rel=1e-10)
        np.testing.assert_allclose(ours[1], theirs[1], rtol=1e-8, atol=1e-9)
    np.testing.assert_allclose(
        marginal_likelihood.information(u, full.without_shared(), variances[1:]),
        marginal_likelihood.information(u, apart, variances[1:]),
        rtol=1e-8,
        atol=1e-9,
    )
    np.testing.assert_allclose(mixture.typical_noise(u, full), mixture.typical_noise(u, dense), rtol=1e-12)


@pytest.mark.parametrize("groups", [FAMILY, SOME], ids=["every", "some"])
@pytest.mark.parametrize("form", FORMS, ids=["effects", "blocks"])
def test_matrices_of_a_form_are_those_of_the_family(form: Any, groups: Family) -> None:
    np.testing.assert_array_equal(form(groups).matrices(), groups.agreement())
    np.testing.assert_array_equal(form(groups).without_shared().matrices(), groups.without("shared").agreement())


@pytest.mark.parametrize("form", FORMS, ids=["effects", "blocks"])
def test_matrices_are_taken_where_estimates_are_thousands_of_errors_apart(
    form: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    z, u = data(FAMILY)
    z, v = z * 1e5, np.where(u > 0, 1 / np.where(u > 0, u, 1.0), np.nan)
    asked: Any = {"centre": 0.0, "method": "suremap", "tasks": None, "interval": "corrected", "seed": 1}
    theirs = joint_fit.fit(z[None], v[None], FAMILY.agreement(), **asked)
    ours = joint_fit.fit(z[None], v[None], form(FAMILY), **asked)
    assert ours is not None
    assert theirs is not None
    np.testing.assert_array_equal(ours.estimate, theirs.estimate)
    monkeypatch.setattr(joint_fit, "MAX_GROUPS_IN_MATRICES", 5)
    large = joint_fit.fit(z[None], v[None], form(FAMILY), **asked)
    assert large is not None
    assert not np.array_equal(large.estimate, theirs.estimate)


@pytest.mark.parametrize("groups", [FAMILY, SOME], ids=["every", "some"])
@pytest.mark.parametrize("form", FORMS, ids=["effects", "blocks"])
def test_likelihoods_and_posteriors_at_many_points_are_those_of_the_matrices(
    form: Any, groups: Family, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bayesgroups.frequentist.crossed.level_blocks.CHUNK", 300)
    (z, u), apart = data(groups), groups.without("shared")
    points = np.random.default_rng(1).lognormal(-1, 2, (9, len(apart.cells)))
    likelihood, posterior = form(groups).without_shared().law(z, u, points)
    dense = Restricted(z, u, apart.agreement())
    gap = likelihood - dense.log_likelihood(points)
    np.testing.assert_allclose(gap, gap[0], atol=1e-9)
    for name in ("estimate", "variance"):
        np.testing.assert_allclose(
            getattr(posterior(), name), getattr(dense.posterior(points), name), rtol=1e-8, atol=1e-9
        )


@pytest.mark.parametrize("form", ["effects", "blocks"])
@pytest.mark.parametrize("method", ["suremap", "marginal_likelihood"])
@pytest.mark.parametrize("interval", ["corrected", "plug_in"])
def test_answers_are_those_of_the_matrices(
    form: str, method: Method, interval: Choice, monkeypatch: pytest.MonkeyPatch
) -> None:
    z, u = data(FAMILY)
    variance = np.where(u > 0, 1 / np.where(u > 0, u, 1), np.nan)
    table = pd.DataFrame(LEVELS, columns=["a", "b", "c"]).astype(str)
    tally = bg.tally_from_estimates(np.where(u > 0, z, np.nan), variance, table)
    order = 1 if form == "effects" else None
    theirs = crossed_effects.estimate(tally, method=method, interval=interval, order=order)
    monkeypatch.setattr(components, "MIN_GROUPS", 8)
    used = components_of(family(LEVELS, ["a", "b", "c"], order), joint=False)
    assert isinstance(used, EffectSpace if form == "effects" else LevelBlocks)
    ours = crossed_effects.estimate(tally, method=method, interval=interval, order=order)
    for name in ("estimate", "std_error", "lower", "upper", "overall", "tau", "risk", "component_sd"):
        np.testing.assert_allclose(ours[name], theirs[name], rtol=2e-3, atol=2e-4, err_msg=name)


def walks(levels: Sequence[tuple[int, ...]]) -> list[np.ndarray]:
    """Roots of kernels along the last of three attributes, beside none of the others, the first, the second and both."""
    a, b, c = np.array(levels).T
    along = walk_root(4)[c]
    rests = (np.zeros_like(a), a, b, 2 * a + b)
    return [
        np.where((rest[:, None] == np.unique(rest))[:, :, None], along[:, None], 0.0).reshape(len(a), -1)
        for rest in rests
    ]


@pytest.mark.parametrize("levels", [LEVELS, SOME_LEVELS], ids=["every", "some"])
def test_kernels_of_an_order_are_those_of_the_matrices(
    levels: list[tuple[int, ...]], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Groups are laid out by an attribute without an order, of which the kernels are blocks or the same at every level."""
    monkeypatch.setattr(components, "MIN_GROUPS", 2)
    groups, kernels = family(levels, ["a", "b", "c"], order=2), walks(levels)
    (z, u), dense = data(groups), components_of(groups, joint=True, kernels=kernels)
    layout = layout_of(groups, kernels)
    assert isinstance(dense, np.ndarray)
    assert layout is not None
    assert 0 < layout.kernels_cross.sum() < 4
    blocks = LevelBlocks.of(groups, layout, kernels)
    variances = np.random.default_rng(3).lognormal(-1, 2, (5, len(dense)))
    for each in variances:
        value, slope = sure.risk(z, u, dense, each)
        ours = sure.risk(z, u, blocks, each)
        assert ours[0] == pytest.approx(value, rel=1e-10)
        np.testing.assert_allclose(ours[1], slope, rtol=1e-8, atol=1e-9)
    np.testing.assert_allclose(
        marginal_likelihood.information(u, blocks.without_shared(), variances[0, 1:]),
        marginal_likelihood.information(u, dense[1:], variances[0, 1:]),
        rtol=1e-8,
    )
    np.testing.assert_allclose(mixture.typical_noise(u, blocks), mixture.typical_noise(u, dense), rtol=1e-12)
    np.testing.assert_allclose(blocks.matrices(), dense, atol=1e-15)
    law = blocks.without_shared().law(z, u, variances[:, 1:])[1]()
    expected = Restricted(z, u, dense[1:]).posterior(variances[:, 1:])
    np.testing.assert_allclose(law.estimate, expected.estimate, rtol=1e-8, atol=1e-9)
    np.testing.assert_allclose(law.variance, expected.variance, rtol=1e-8)


def test_groups_are_not_laid_out_by_an_attribute_with_an_order() -> None:
    """Its levels have no blocks, though it has the most of them."""
    layout = layout_of(family(LEVELS, ["a", "b", "c"]), walks(LEVELS))
    assert layout is not None
    assert layout.level.tolist() == [a for a, _, _ in LEVELS]


def test_levels_are_those_of_the_attribute_that_makes_the_least_work() -> None:
    levels = list(itertools.product(range(2), range(7), range(3)))
    layout = layout_of(family(levels, ["a", "b", "c"]))
    assert layout is not None
    assert layout.level.tolist() == [b for _, b, _ in levels]
    assert layout.cell.tolist() == [3 * a + c for a, _, c in levels]


def test_groups_without_levels_keep_their_matrices(monkeypatch: pytest.MonkeyPatch) -> None:
    """With one attribute, and where groups are alone at their levels, nothing falls apart that would be less work."""
    monkeypatch.setattr(components, "MIN_GROUPS", 2)
    assert layout_of(family([[0], [1], [2], [3]], ["a"])) is None
    pairs = family([[place, (place + step) % 12] for place in range(12) for step in (0, 1)], ["a", "b"])
    assert isinstance(components_of(pairs, joint=False), np.ndarray)


def test_tasks_and_few_groups_keep_their_matrices() -> None:
    assert isinstance(components_of(FAMILY, joint=False), np.ndarray)
    many = family(list(itertools.product(range(6), range(5), range(7))), ["a", "b", "c"])
    assert isinstance(components_of(many, joint=False), LevelBlocks)
    assert isinstance(components_of(many, joint=True), np.ndarray)
    wide = family(list(itertools.product(range(10), range(5), range(6))), ["a", "b", "c"], order=1)
    assert isinstance(components_of(wide, joint=False), EffectSpace)
    assert isinstance(components_of(wide, joint=True), np.ndarray)


def test_thousands_of_groups_need_no_matrix_of_groups() -> None:
    """A matrix of 8,000 groups alone would take .5 GB, and one factor of it minutes."""
    import tracemalloc

    who = pd.DataFrame(itertools.product(range(20), range(20), range(20)), columns=list("abc")).astype(str)
    rng = np.random.default_rng(2)
    effects = sum(rng.normal(0, 0.3, 20)[who[name].astype(int)] for name in who)
    tally = bg.tally_from_estimates(effects + rng.normal(0, 0.2, len(who)), np.full(len(who), 0.04), who)
    tracemalloc.start()
    answer = crossed_effects.estimate(tally, order=1, interval="plug_in").isel(metric=0)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 100e6
    components = answer["component_sd"].values
    assert components[1:4] == pytest.approx(np.full(3, 0.3), abs=0.12)
    assert float(np.sqrt(((answer["estimate"].values - effects) ** 2).mean())) < 0.03
