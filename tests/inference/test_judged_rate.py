"""The confusion model where few rows have an outcome: limits that are known, mirrored classes, and what a report says of it."""

from __future__ import annotations

import itertools
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from scipy import stats

import bayesgroups as bg
from bayesgroups.estimators.confusion import ConfusionModel
from bayesgroups.frequentist.judged_confusion import replicates
from bayesgroups.inference.collapsed.confusion import sample
from bayesgroups.inference.collapsed.confusion_factors import decided
from bayesgroups.inference.value_likelihoods import cell_likelihood
from bayesgroups.models.shared.confusion_tree import factor_scales, own_spreads, tree
from bayesgroups.models.shared.judged_rate import judged_rates, shares_of_counts

METRICS = ["prev", "sel", "tpr", "tnr", "ppv", "acc", "judge_bias"]
WHO = pd.DataFrame(list(itertools.product("ab", "xyz")), columns=["race", "age"])


def counts(seed: int = 3, labels: tuple[int, int] = (3, 12)) -> tuple[np.ndarray, np.ndarray]:
    """Judged rows and labelled cells of six subgroups; the last one has no label, the one before none where judged 1."""
    rng = np.random.default_rng(seed)
    judged, cells = np.zeros((6, 2)), np.zeros((6, 2, 2))
    for g in range(6):
        prev = rng.uniform(0.2, 0.5)
        every = rng.multinomial(rng.integers(60, 200), [(1 - prev) * 0.85, (1 - prev) * 0.15, prev * 0.2, prev * 0.8])
        judged[g] = every.reshape(2, 2).sum(axis=0)
        cells[g] = rng.multivariate_hypergeometric(every, int(rng.integers(*labels))).reshape(2, 2)
    cells[5], cells[4, :, 1] = 0, 0
    return judged, cells


@pytest.fixture(scope="module")
def tally() -> xr.Dataset:
    return bg.tally_from_cells(*counts(), WHO, METRICS)


@pytest.fixture(scope="module")
def report(tally: xr.Dataset) -> xr.DataTree:
    return bg.estimate(tally, bg.ConfusionModel(bootstrap=20), seed=1)


def test_metrics_agree_in_every_draw_and_every_subgroup_has_an_answer(report: xr.DataTree) -> None:
    posterior = report["posterior"].to_dataset()
    mu = posterior["mu"]
    assert report.attrs["usable"] == 1
    assert posterior["judged_rate_slope"].sizes["judged_factor"] == 2
    assert "selection_slope" not in posterior
    cells = posterior["cell_share"]
    np.testing.assert_allclose(mu.sel(metric="prev"), cells.sel(outcome="1").sum("decision"))
    np.testing.assert_allclose(mu.sel(metric="judge_bias"), mu.sel(metric="sel") - mu.sel(metric="prev"), atol=1e-12)
    selected = mu.sel(metric="prev") * mu.sel(metric="tpr") + (1 - mu.sel(metric="prev")) * (1 - mu.sel(metric="tnr"))
    np.testing.assert_allclose(mu.sel(metric="sel"), selected, atol=1e-12)
    status = report["estimates"].to_dataset()["status"].sel(approach="bayesian")
    assert status.sel(metric="prev").values.tolist() == ["ok"] * 5 + ["imputed"]
    assert status.sel(metric="ppv").values.tolist()[4:] == ["imputed", "imputed"]
    assert status.sel(metric="sel").values.tolist() == ["ok"] * 6


def test_the_judged_rate_is_that_of_all_rows(report: xr.DataTree, tally: xr.Dataset) -> None:
    judged = tally["decision_count"]
    share = (judged.sel(decision="1") / judged.sum("decision")).values
    found = report["estimates"].to_dataset()["estimate"].sel(approach="bayesian", metric="sel").values
    assert np.abs(found - share).max() < 0.06
    assert np.abs(found - share.mean()).mean() < np.abs(share - share.mean()).mean()  # shrunken


def test_the_reference_is_post_stratified(report: xr.DataTree, tally: xr.Dataset) -> None:
    estimates = report["estimates"].to_dataset().sel(approach="frequentist")
    closed = bg.judge_corrected(tally)
    defined = np.isfinite(closed["estimate"])
    np.testing.assert_array_equal(estimates["estimate"], closed["estimate"])
    for side in ("lower", "upper"):
        np.testing.assert_allclose(estimates[side].where(defined), closed[side].where(defined))
    assert np.isnan(estimates["lower"].sel(metric="prev").values[4:]).all()
    methods = estimates["interval_method"].isel(subgroup=0, level=0).to_series().to_dict()
    assert methods == {"prev": "mover", "sel": "wilson", "tpr": "logit_delta", "tnr": "logit_delta", "ppv": "wilson",
                       "acc": "mover", "judge_bias": "mover"}  # fmt: skip


def test_with_many_labels_in_one_subgroup_the_posterior_is_the_likelihood() -> None:
    """Begg and Greenes (1983): an interval of Jeffreys factors is (.6448, .7396)."""
    one = bg.tally_from_cells([[221, 429]], [[[54, 32], [27, 231]]], pd.DataFrame({"hospital": ["a"]}))
    at = (
        bg.estimate(one, bg.ConfusionModel(), seed=1)["estimates"]
        .to_dataset()
        .sel(approach="bayesian")
        .isel(subgroup=0)
    )
    prev, tpr = (at.sel(metric=name, level=0.95) for name in ("prev", "tpr"))
    assert float(prev["estimate"]) == pytest.approx(0.6926, abs=0.004)
    assert [float(prev["lower"]), float(prev["upper"])] == pytest.approx([0.6448, 0.7396], abs=0.006)
    assert [float(tpr["lower"]), float(tpr["upper"])] == pytest.approx([0.7865, 0.8814], abs=0.01)
    rng = np.random.default_rng(1)
    s, p, f = (rng.beta(a + 0.5, b + 0.5, 200_000) for a, b in ((429, 221), (231, 32), (27, 54)))
    assert float((s * p + (1 - s) * f).mean()) == pytest.approx(0.69264130, abs=3e-4)


def test_other_classes_give_the_mirrored_answer(report: xr.DataTree) -> None:
    judged, cells = counts()
    turned = bg.tally_from_cells(judged[:, ::-1], cells[:, ::-1, ::-1], WHO, METRICS)
    other = bg.estimate(turned, bg.ConfusionModel(), seed=1)["estimates"].to_dataset()
    mine = report["estimates"].to_dataset()
    first, second = (each.sel(approach="bayesian", level=0.95) for each in (mine, other))
    np.testing.assert_allclose(
        first["estimate"].sel(metric="prev"), 1 - second["estimate"].sel(metric="prev"), atol=0.02
    )
    np.testing.assert_allclose(first["lower"].sel(metric="prev"), 1 - second["upper"].sel(metric="prev"), atol=0.04)
    for name, image in (("tpr", "tnr"), ("tnr", "tpr")):
        np.testing.assert_allclose(first["estimate"].sel(metric=name), second["estimate"].sel(metric=image), atol=0.02)
        np.testing.assert_allclose(first["lower"].sel(metric=name), second["lower"].sel(metric=image), atol=0.04)


def test_all_labels_and_the_setting_decide_which_model_it_is(tally: xr.Dataset) -> None:
    rng = np.random.default_rng(2)
    cells = rng.integers(3, 40, (6, 2, 2)).astype(float)
    whole = bg.tally_from_cells(cells.sum(axis=1), cells, WHO, ["tpr"])
    rows = pd.DataFrame([
        (*WHO.iloc[g], y, d) for g, y, d in itertools.product(range(6), (0, 1), (0, 1)) for _ in range(int(cells[g, y, d]))
    ], columns=["race", "age", "y", "d"])  # fmt: skip
    full = bg.tally(rows, ["race", "age"], ["tpr"], y_true="y", y_pred="d", confusion=True)
    for setting in (None, True):
        first, second = (sample(each, seed=1, draws=200, judged_rate=setting).draws for each in (whole, full))
        np.testing.assert_array_equal(first["mu"], second["mu"])
        assert ("judged_rate_slope" in first) == (setting is True)
    forced = sample(tally, seed=1, draws=200, judged_rate=False).draws
    assert "selection_slope" in forced
    assert "judged_rate_slope" not in forced


def test_three_classes_have_a_judged_rate_and_four_have_none() -> None:
    rng = np.random.default_rng(6)
    for classes, wanted in ((3, 6), (4, 0)):
        names = [f"c{i}" for i in range(classes)]
        cells = rng.integers(0, 4, (6, classes, classes)).astype(float)
        judged = cells.sum(axis=1) + rng.integers(5, 30, (6, classes))
        found = bg.tally_from_cells(judged, cells, WHO, ["prev[c0]", "prev[c1]", "acc"], classes=names)
        x = judged_rates(shares_of_counts(tree(found)), tree(found))
        assert len(x) == wanted
        assert all(abs(float(column.mean())) < 1e-12 for column in x.values())
        if wanted:
            draws = sample(found, seed=1, draws=400).draws
            assert np.isfinite(draws["mu"].values).all()
            assert draws.sizes["judged_factor"] == wanted
            share = judged[:, 0] / judged.sum(axis=1)
            drawn = draws["cell_share"].sum("outcome").sel(decision="c0").mean(("chain", "draw"))
            assert np.abs(drawn - share).max() < 0.1


def test_the_likelihood_is_that_of_decisions_and_of_labelled_outcomes(report: xr.DataTree, tally: xr.Dataset) -> None:
    posterior = report["posterior"].to_dataset()
    draws = posterior.isel(chain=0, draw=slice(5)).rename(draw="sample")
    density = cell_likelihood(draws, tally)
    share = draws["cell_share"].transpose("sample", "subgroup", "outcome", "decision").values
    judged, cells = tally["judged"].values, tally["cell_count"].values
    s = share[:, :, :, 1].sum(axis=2)
    given = share[:, :, 1] / share.sum(axis=2)
    wanted = stats.binom.logpmf(judged[:, 1], judged.sum(axis=1), s)
    for d in (0, 1):
        wanted = wanted + stats.binom.logpmf(cells[:, 1, d], cells[:, :, d].sum(axis=1), given[:, :, d])
    np.testing.assert_allclose(density - density[0], wanted - wanted[0], atol=1e-8)


def test_scales_and_words_are_those_of_few_labels(tally: xr.Dataset) -> None:
    factors = tree(tally)
    assert factors.count[0].tolist() == tally["judged"].sum("decision").values.tolist()
    assert factor_scales(factors, judged=True).tolist() == [0.5, 0.4, 0.4]
    assert own_spreads(factors, judged=True).tolist() == [0.25, 0.2, 0.2]
    assert factor_scales(factors, 1.0, judged=True).tolist() == [1.0, 1.0, 1.0]
    words = bg.ConfusionModel().describe_priors(tally)
    assert "0.5 for decisions and 0.4 for outcomes given them on the standard deviations" in words
    assert words.endswith("outcomes depend on the judged rate of the subgroup, slopes ~ Normal(0, 1)")
    counted = shares_of_counts(factors)
    drawn = decided(tally, order=None, tau_scale=None, own_effects=None, ordered={}, cyclic=())
    assert np.abs(counted - drawn.mean(axis=0)).max() < 0.08


def test_questions_of_the_fit_have_answers(report: xr.DataTree, tally: xr.Dataset) -> None:
    found = bg.loo(report)
    assert np.isfinite(found["elpd_i"].sel(metric="prev").values).all()
    draws = report["posterior"].to_dataset().isel(chain=0).rename(draw="sample")
    prior = ConfusionModel().log_prior(draws, tally).value
    assert prior is not None
    wider = ConfusionModel(tau_scale=3.0).log_prior(draws, tally).value
    assert wider is not None
    assert wider.std() < prior.std()
    assert report["bootstrap"]["mu"].sizes["draw"] == 20


def test_the_bootstrap_has_the_spread_of_the_delta_method() -> None:
    small = bg.tally_from_cells([[1300, 700]], [[[90, 20], [30, 60]]], pd.DataFrame({"g": ["a"]}), METRICS)
    drawn = replicates(small, seed=1, draws=4000)["mu"].isel(chain=0, subgroup=0)
    spread = np.sqrt(small["sampling_variance"].isel(subgroup=0))
    np.testing.assert_allclose(drawn.std("draw"), spread, rtol=0.06)
    reference = ConfusionModel(interval="multinomial_bootstrap").reference(small, seed=1)
    delta = ConfusionModel(interval="delta").reference(small, seed=1)
    first, second = ((each["upper"] - each["lower"]).sel(level=0.95).values for each in (reference, delta))
    np.testing.assert_allclose(first, second, rtol=0.12)
    one_arm = bg.tally_from_cells([[30, 10]], [[[4, 0], [2, 0]]], pd.DataFrame({"g": ["a"]}), ["prev", "sel", "for"])
    drawn = replicates(one_arm, seed=1, draws=50)["mu"].isel(chain=0, subgroup=0)
    assert np.isnan(drawn.sel(metric="prev")).mean() > 0.9  # but for draws in which nothing is judged 1
    assert float(drawn.sel(metric="sel").std()) > 0.02


def test_no_row_decides_a_value_that_mixes_decisions() -> None:
    """Labelled rows without a positive outcome leave equal tails: other rows may have some."""
    nothing = bg.tally_from_cells([[90, 30]] * 6, [[[6, 3], [0, 0]]] * 6, WHO, ["prev", "ppv"])
    methods = bg.estimate(nothing, bg.ConfusionModel(), seed=1)["estimates"].to_dataset()["interval_method"]
    assert set(methods.sel(approach="bayesian", metric="prev").values.ravel()) == {"equal_tailed"}


def test_populations_weigh_cells_of_few_labels(tally: xr.Dataset) -> None:
    judged, cells = counts(labels=(20, 40))
    whole = bg.tally_from_cells(judged[:4], cells[:4], WHO.iloc[:4], METRICS)
    people = np.array([100.0, 300.0, 200.0, 400.0])
    target = WHO.assign(count=[*people, 0, 0])
    answer = bg.poststratify(whole, target)["estimates"].to_dataset().sel(approach="frequentist", subgroup="all")
    used = whole.isel(subgroup=slice(4))
    prev, tpr = (used["estimate"].sel(metric=name).values for name in ("prev", "tpr"))
    share = people / people.sum()
    assert float(answer["estimate"].sel(metric="prev")) == pytest.approx(float(share @ prev))
    assert float(answer["estimate"].sel(metric="tpr")) == pytest.approx(float(share @ (prev * tpr) / (share @ prev)))
    spread = float(np.sqrt(share**2 @ used["sampling_variance"].sel(metric="prev").values))
    assert float(answer["std_error"].sel(metric="prev")) == pytest.approx(spread, rel=0.1)
    assert float(answer["std_error"].sel(metric="tpr")) > 0.7 * float(
        np.sqrt((share * prev) ** 2 @ used["sampling_variance"].sel(metric="tpr").values) / (share @ prev)
    )


def test_what_does_not_fit_is_refused(tally: xr.Dataset) -> None:
    with pytest.raises(bg.InputError, match="judged_rate='yes' must be True, False, or None"):
        bg.ConfusionModel(judged_rate="yes")  # type: ignore[arg-type]
    with pytest.raises(
        bg.InputError, match="correlated effects have no judged rate; leave correlated=True or judged_rate=True out"
    ):
        bg.ConfusionModel(judged_rate=True, correlated=True)
    with pytest.raises(
        bg.InputError, match="correlated=True is for tallies with all outcomes, and this one keeps rows without"
    ):
        bg.ConfusionModel(correlated=True).model(tally)
    full = bg.tally(pd.DataFrame({"g": ["a", "b"] * 4, "y": [0, 1] * 4, "d": [0, 1, 1, 0] * 2}), ["g"], ["acc"], y_true="y",
                    y_pred="d", confusion=True)  # fmt: skip
    with pytest.raises(bg.InputError, match="interval='mover' is for tallies that keep rows without an outcome"):
        bg.ConfusionModel(interval="mover").reference(full, seed=1)
    with pytest.raises(bg.InputError, match="interval='wilson' is for tallies whose rows all have an outcome"):
        bg.ConfusionModel(interval="wilson").reference(tally, seed=1)


@pytest.mark.slow
def test_the_model_refuses_what_it_does_not_have(tally: xr.Dataset) -> None:
    from bayesgroups.models import confusion

    with pytest.raises(ValueError, match="correlated effects have no judged rate"):
        confusion.build(tally, correlated=True)
    with pytest.raises(ValueError, match="own_effects must be one of floored, fixed, learned; got 'free'"):
        confusion.build(tally, own_effects="free")


@pytest.mark.slow
@pytest.mark.parametrize("own_effects", [None, "learned"])
def test_nuts_and_the_exact_engine_agree(tally: xr.Dataset, own_effects: str | None) -> None:
    import arviz as az

    word = bg.ConfusionModel(own_effects=own_effects)  # type: ignore[arg-type]
    exact, nuts = (bg.estimate(tally, word, seed=1, inference=engine) for engine in ("collapsed", "nuts"))
    one, two = exact["posterior"].to_dataset(), nuts["posterior"].to_dataset()
    assert set(one.data_vars) == set(two.data_vars) >= {"judged_rate_slope"}
    dims = ("chain", "draw")
    ess = xr.Dataset({name: az.ess(two[name]) for name in two.data_vars})
    for name in one.data_vars:
        error = np.sqrt(one[name].var(dims) / 2500 + two[name].var(dims) / np.minimum(ess[name], 4000))
        assert np.abs((one[name].mean(dims) - two[name].mean(dims)) / error).max() < 4.5, name
        assert np.abs(np.log(one[name].std(dims) / two[name].std(dims))).max() < 0.2, name


@pytest.mark.slow
def test_the_page_says_how_many_rows_are_labelled(report: xr.DataTree, tmp_path: Path) -> None:
    page = bg.write_html(report, tmp_path / "page.html").read_text(encoding="utf-8")
    assert "rows labelled" in page
    assert "outcomes depend on the judged rate of the subgroup" in page


@pytest.mark.slow
def test_the_prior_of_the_slope_is_part_of_the_sensitivity(report: xr.DataTree) -> None:
    answer = bg.prior_sensitivity(report)
    assert np.isfinite(
        answer["prior"].sel(metric="prev", subgroup=report["estimates"].to_dataset()["subgroup"].values[:4])
    ).all()
