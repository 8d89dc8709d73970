"""The tree of binomials is the multinomial; builders state what they should and refuse what they cannot."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from pytensor.compile.mode import Mode
from scipy import special, stats

import bayesgroups as bg
from bayesgroups.inference.collapsed.crossed import positive_numbers
from bayesgroups.models import confusion
from bayesgroups.models.crossed_latents import shared_columns
from bayesgroups.models.latent_effects import pseudo_data
from bayesgroups.models.shared.cells import BinomialCells
from bayesgroups.models.shared.confusion_offsets import offsets
from bayesgroups.models.shared.confusion_tree import factor_scales, follower, own_spreads, shares, tree
from bayesgroups.models.shared.subsets import subsets


def tally(classes: int = 2, metrics: Any = ("acc",), *, score: bool = False) -> xr.Dataset:
    rng = np.random.default_rng(2)
    frame = pd.DataFrame({"race": rng.choice(list("ab"), 300), "sex": rng.choice(list("fm"), 300)})
    frame["y"] = rng.integers(0, classes, 300)
    frame["d"] = np.where(rng.random(300) < 0.5, frame["y"], rng.integers(0, classes, 300))
    frame["score"] = np.round(frame["y"] + rng.normal(size=300), 2)
    if score:
        return bg.tally(frame, ["race", "sex"], metrics, y_true="y", y_score="score", threshold=0.5, confusion=True)
    return bg.tally(frame, ["race", "sex"], metrics, y_true="y", y_pred="d", confusion=True)


@pytest.mark.parametrize("classes", [2, 3, 4])
def test_the_factors_multiply_to_the_multinomial(classes: int) -> None:
    given = tally(classes)
    found = tree(given)
    assert len(found.names) == classes**2 - 1 == len(set(found.names))
    p = np.random.default_rng(1).uniform(0.1, 0.9, (len(found.names), given.sizes["subgroup"]))
    cells = shares(p, found.paths)
    np.testing.assert_allclose(cells.sum(axis=(1, 2)), 1, atol=1e-12)
    counts = given["cell_count"].values
    by_factors = stats.binom.logpmf(found.successes, found.count, p).sum()
    at_once = sum(
        stats.multinomial.logpmf(own.ravel(), int(own.sum()), share.ravel())
        for own, share in zip(counts, cells, strict=True)
    )
    np.testing.assert_allclose(by_factors, at_once, rtol=1e-10)


def test_two_classes_are_cut_by_the_decision() -> None:
    given = tally()
    found, cells = tree(given), given["cell_count"]
    assert (found.names, found.decides) == (("sel", "ppv", "for"), (True, False, False))
    np.testing.assert_array_equal(found.successes[1], cells.sel(outcome="1", decision="1").values)
    np.testing.assert_array_equal(found.count[2], cells.sel(decision="0").sum("outcome").values)


@pytest.mark.parametrize("follow_selection", [True, False])
def test_the_model_is_what_its_docstring_says(
    *, follow_selection: bool, latent_form: Callable[..., Any], joint_form: Callable[..., Any]
) -> None:
    given = tally(metrics=("sel", "ppv"))
    model = confusion.build(given, follow_selection=follow_selection)
    found = tree(given)
    assert [variable.name for variable in model.free_RVs] == [
        "alpha",
        "factor_sd",
        "z",
        "z_residual",
        *["selection_slope", "z_follower", "z_follower_residual"] * follow_selection,
    ]
    rng = np.random.default_rng(4)
    components = subsets(given)
    x, power = shared_columns(components)
    columns = x.shape[1]
    alpha, sd, z = rng.normal(size=3), rng.uniform(0.1, 0.5, (3, 2)), rng.normal(size=(3, columns + 4))
    followed = follower(found, own_fixed=True) if follow_selection else None
    every = np.column_stack([sd, own_spreads(found, followed=followed)])
    of_columns = np.sqrt(sd**2 @ power.T)
    parts, own = (of_columns * z[:, :columns]) @ x.T, every[:, 2:] * z[:, columns:]
    scale = factor_scales(found, followed=followed)[:, None]
    u = positive_numbers.numbers(sd / scale)
    location, expected, at = np.tile(alpha[:, None], (1, 4)), 0.0, {"alpha": alpha, "factor_sd_nearlynormal__": u}
    if followed is not None:
        at["selection_slope"] = np.array([0.7])
        location[followed] += 0.7 * parts[0]
        expected = stats.norm.logpdf(0.7, 0.3, 0.3)
    eta = location + parts + own
    # The same numbers in the form of the data.
    factor, subgroup = np.nonzero(found.count > 0)
    counts = BinomialCells(factor, subgroup, ["x"] * len(factor), found.successes[found.count > 0],
                           found.count[found.count > 0])  # fmt: skip
    data = pseudo_data((3, 4), counts, confusion.NONE, factor_scales(found, followed=followed))
    noisy = data.precision / (1 + every[:, 2:] ** 2 * data.precision)
    shared, change = joint_form(z[:, :columns], x, noisy * (data.estimate - location), noisy, of_columns)
    single, besides = latent_form(z[:, columns:], location + parts, every[:, 2:], data.estimate, data.precision)
    expected += change + besides
    leading = [f for f in range(3) if f != followed]
    at |= {"z": shared[leading], "z_residual": single[leading]}
    if followed is not None:
        at |= {"z_follower": shared[[followed]], "z_follower_residual": single[[followed]]}
    expected += (
        stats.norm.logpdf(alpha, 0, 1.5).sum()
        + stats.norm.logpdf(z).sum()
        + (stats.halfnorm.logpdf(sd, scale=scale) + np.log(scale) + stats.norm.logcdf(u)).sum()
        + stats.binom.logpmf(found.successes, found.count, special.expit(eta)).sum()
    )
    density = model.compile_logp(mode=Mode(linker="py", optimizer="fast_compile"))
    assert float(density(at)) == pytest.approx(expected)


def test_outcomes_given_the_more_frequent_decision_follow() -> None:
    """The same outcomes are asked for whichever class is called positive."""
    given = tally()
    flipped = given.assign(cell_count=given["cell_count"][:, ::-1, ::-1].assign_coords(given["cell_count"].coords))
    names = [tree(one).names[follower(tree(one), own_fixed=True) or 0] for one in (given, flipped)]
    often = float(given["cell_count"].sel(decision="1").sum()) > float(given["cell_count"].sel(decision="0").sum())
    assert names == (["ppv", "for"] if often else ["for", "ppv"])
    assert follower(tree(tally(3)), own_fixed=True) is None
    assert follower(tree(given), own_fixed=False) is None
    free = {variable.name for variable in confusion.build(given, correlated=True).free_RVs}
    assert {"z_partial"} <= free
    assert "selection_slope" not in free
    assert "selection_slope" not in {
        variable.name for variable in confusion.build(given, own_effects="learned").free_RVs
    }


@pytest.mark.parametrize(
    "settings",
    [
        {"correlated": True},
        pytest.param({"score_offsets": True}, marks=pytest.mark.slow),
        pytest.param({"own_effects": "learned"}, marks=pytest.mark.slow),
    ],
)
def test_every_variant_has_a_finite_gradient(settings: dict[str, Any]) -> None:
    model = confusion.build(tally(score=True), **settings)
    gradient = model.compile_dlogp(mode=Mode(linker="py", optimizer="fast_compile"))(model.initial_point())
    assert np.isfinite(gradient).all()
    assert all(model.named_vars_to_dims[variable.name] for variable in model.basic_RVs)


def test_offsets_follow_the_scores() -> None:
    cells = ("subgroup", "outcome", "decision")
    count = np.full((2, 2, 2), 1000.0)
    mean = np.array([[[0.2, 0.7], [0.2, 0.7]], [[0.3, 0.7], [0.3, 0.7]]]) + np.array([0.0, 0.05])[None, :, None]
    given = xr.Dataset(
        {
            "cell_count": (cells, count),
            "cell_score": (cells, count * mean),
            "cell_score_squares": (cells, count * (mean**2 + 0.01)),
        },
        coords={"subgroup": ["f", "m"], "outcome": ["0", "1"], "decision": ["0", "1"], "sex": ("subgroup", ["f", "m"])},
        attrs={"by": '{"by": ["sex"]}'},
    )
    found = offsets(given, subsets(given))
    np.testing.assert_allclose(found["ppv"], 0, atol=1e-12)
    within = 0.01 + np.mean((mean[:, 0] - mean[:, 0].mean()) ** 2)
    # A thousand rows are hardly shrunk, so the gap is that of the scores times the slope of the discriminant.
    assert found["for"][1] - found["for"][0] == pytest.approx(0.1 * 0.05 / within, rel=0.1)
    same = given.assign(cell_score=given["cell_count"], cell_score_squares=given["cell_count"])
    assert offsets(same, subsets(given)) == {}
    assert offsets(tally(), subsets(tally())) == {}


def test_what_cannot_be_modelled_is_refused() -> None:
    with pytest.raises(ValueError, match="no confusion cells"):
        tree(tally().drop_vars("cell_count"))
    with pytest.raises(ValueError, match="metric 'auc' is no function of outcome and decision"):
        tree(tally(metrics=("acc", "auc"), score=True))
    with pytest.raises(ValueError, match="own_effects must be one of floored, fixed, learned"):
        confusion.build(tally(), own_effects="free")
    with pytest.raises(ValueError, match="tau_scale must be a positive number"):
        confusion.build(tally(), tau_scale=-1.0)
