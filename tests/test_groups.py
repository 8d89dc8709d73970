"""Groups of a report in the schema of ArviZ: those of the PyMC model, made from the report alone, or a reason."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from scipy.special import expit
from scipy.stats import binom, norm

import bayesgroups as bg
from bayesgroups.estimators import ESTIMATORS, likelihood_groups, sampled_fits
from bayesgroups.estimators.base import Estimator
from bayesgroups.estimators.groups import Group
from bayesgroups.inference import nuts
from bayesgroups.inference.prior_draws import is_flat
from bayesgroups.report.posterior import Posterior
from tests.test_conformance import _tally

SAMPLED = ("structured_regression", "model_based_metrics")
"""Estimators whose chains take seconds."""
WORDS = [estimator.word for estimator in ESTIMATORS]
SITES = pd.DataFrame({"site": list("abcde")})
COUNTS = bg.tally_from_counts(
    {"fnr": [2, 30, 9, 0, 3], "sel": [5, 60, 30, 4, 0]},
    {"fnr": [20, 100, 60, 0, 9], "sel": [30, 160, 90, 12, 0]},
    SITES,
)
MEANS = bg.tally_from_estimates([0.2, 0.4, 0.3, 0.35, np.nan], [0.01, 0.002, 0.004, 0.003, np.nan], SITES, metric="wer")
FAST: dict[str, Any] = {"compile_kwargs": {"mode": "FAST_COMPILE"}}
EVERY: list[Group] = [
    "observed_data",
    "log_likelihood",
    "posterior_predictive",
    "prior",
    "prior_predictive",
    "log_prior",
]


@pytest.fixture(scope="module")
def report() -> xr.DataTree:
    return bg.estimate(COUNTS, bg.PartialPooling(), seed=1)


def group(report: xr.DataTree, name: str) -> xr.Dataset:
    return report[name].to_dataset()


# --- the likelihood of the model --------------------------------------------------------------------------------------


def drawn(model: Any, draws: int = 40) -> xr.Dataset:
    """Parameters of a model and what follows from them: from the prior, or near 0 where priors are flat."""
    import pymc as pm

    names = [variable.name for variable in (*model.free_RVs, *model.deterministics)]
    rng = np.random.default_rng(1)
    if not is_flat(model):
        prior: xr.Dataset = pm.sample_prior_predictive(draws, model=model, var_names=names, random_seed=1, **FAST)[
            "prior"
        ].to_dataset()
        return prior
    sizes = {name: [len(model.coords[dim]) for dim in model.named_vars_to_dims[name]] for name in names}
    free = {
        v.name: (
            ("chain", "draw", *model.named_vars_to_dims[v.name]),
            0.1 * abs(rng.normal(size=(1, draws, *sizes[v.name]))),
        )
        for v in model.free_RVs
    }
    parameters = xr.Dataset(free)
    return parameters.merge(pm.compute_deterministics(parameters, model=model, progressbar=False, **FAST))


def latent(values: xr.Dataset) -> xr.Dataset:
    """Parameters under the names that the exact engines give them."""
    if "z_share" in values:
        spread = values["z_tau"] * values["z"]
        return xr.Dataset({"disagreement_rate": expit(values["z_overall"] + spread), "label_share": values["z_share"]})
    if "z_variance" in values:
        laws = {"score_cell_mean": values["z_mean"], "score_cell_sd": np.sqrt(values["z_variance"])}
        return xr.Dataset({**laws, "outcome_share": xr.full_like(values["mu"].isel(metric=0, drop=True), 0.5)})
    return xr.Dataset()


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=WORDS)
def test_nodes_and_densities_are_those_of_the_model(estimator: type[Estimator]) -> None:
    """At the same parameters: names, dims, labels, data, and the log density with its constants."""
    import pymc as pm

    tally, settings = _tally(estimator.word), estimator()
    model = settings.model(tally)
    values = drawn(model)
    inside = ((values["mu"] > 0) & (values["mu"] < 1)).all(("chain", "metric", "subgroup"))
    values = values.isel(draw=inside.values).assign_coords(draw=np.arange(int(inside.sum())))
    assert values.sizes["draw"] >= 3
    kept = values[[name for name in ("mu", "overall", "cell_share") if name in values]].merge(latent(values))
    kept = kept.assign_coords(metric=tally["metric"].values, subgroup=tally["subgroup"].values)
    parts = likelihood_groups.parts_of(tally, settings)
    fits = [Posterior(kept.sel(metric=part["metric"].values), (), "test") for part in parts]
    wanted = ["observed_data", "log_likelihood"]
    made = likelihood_groups.joined(
        [likelihood_groups.likelihood_groups(f, p, settings, wanted, seed=1) for f, p in zip(fits, parts, strict=True)]
    )
    assert made.reasons == {}
    free = values[[variable.name for variable in model.free_RVs]]
    with model:
        whole = pm.compute_log_likelihood(xr.DataTree.from_dict({"posterior": free}), progressbar=False, **FAST)
    expected = whole["log_likelihood"].to_dataset()
    assert set(made.groups["log_likelihood"]) == set(expected) == {node.name for node in model.observed_RVs}
    for node in model.observed_RVs:
        data, density = made.groups["observed_data"][node.name], made.groups["log_likelihood"][node.name]
        assert data.dims == model.named_vars_to_dims[node.name]
        np.testing.assert_allclose(data.values, model.rvs_to_values[node].eval())
        assert data[data.dims[0]].values.tolist() == list(model.coords[data.dims[0]])
        assert density.dims == expected[node.name].dims
        if estimator.word == "model_based_metrics" and node.name == "successes":
            continue  # the prevalence is no variable of the model
        np.testing.assert_allclose(density.values, expected[node.name].values, rtol=1e-6, atol=1e-8)


def test_tasks_are_labelled_as_in_the_model() -> None:
    settings = bg.CrossedEffects(tasks=True)
    counts = bg.tally_from_counts({"x": [2, 9, 0], "y": [5, 3, 2]}, {"x": [9, 30, 0], "y": [9, 8, 7]}, SITES[:3])
    data = group(bg.estimate(counts, settings, seed=1), "observed_data")
    assert data["binomial_cell"].values.tolist() == list(settings.model(counts).coords["binomial_cell"])


@pytest.mark.parametrize(
    "settings", [bg.JamesStein(), pytest.param(bg.StructuredRegression(), marks=pytest.mark.slow)], ids=lambda s: s.word
)
def test_normal_densities_are_of_values_beyond_the_range_too(settings: Estimator) -> None:
    """Near 0 the values behind ``mu`` go below it; ``mu`` alone would overstate the likelihood."""
    rates = bg.tally_from_counts([0, 1, 2, 0, 3], [20, 30, 60, 9, 50], SITES)
    report = bg.estimate(rates, settings, seed=1)
    mu = group(report, "posterior")["mu"].isel(metric=0)
    assert float(mu.min()) == 0
    fit = settings.collapsed(rates, seed=1)
    assert fit is not None
    assert fit.latent is not None
    theta = fit.latent["theta"].isel(metric=0).values
    np.testing.assert_allclose(np.clip(theta, 0, 1), mu.values)
    error = np.sqrt(rates["sampling_variance"].values[0])
    expected = norm(theta, error).logpdf(rates["estimate"].values[0])
    np.testing.assert_allclose(group(report, "log_likelihood")["estimate"].values, expected, rtol=1e-9)


def test_cells_without_rows_are_no_observations(report: xr.DataTree) -> None:
    import arviz as az

    assert group(report, "observed_data")["binomial_cell"].values.tolist() == [
        "fnr | a", "fnr | b", "fnr | c", "fnr | e", "sel | a", "sel | b", "sel | c", "sel | d",
    ]  # fmt: skip
    density = group(report, "log_likelihood")["successes"]
    assert np.isfinite(density).all()
    with pytest.warns(UserWarning, match="Pareto"):
        assert az.loo(report).n_data_points == 8


def test_metrics_of_two_likelihoods_are_two_variables() -> None:
    rng = np.random.default_rng(1)
    rows = pd.DataFrame({"g": list("abc") * 60, "y": rng.integers(0, 2, 180), "s": rng.random(180)})
    both = bg.tally(rows, ["g"], ["fnr", "auc"], y_true="y", y_score="s", threshold=0.5)
    density = group(bg.estimate(both, bg.PartialPooling(), seed=1), "log_likelihood")
    assert {name: values.dims[2] for name, values in density.items()} == {
        "successes": "binomial_cell", "estimate": "normal_cell",
    }  # fmt: skip


def test_metrics_that_were_not_fitted_have_no_cells() -> None:
    none = bg.tally_from_counts({"x": [1, 2], "y": [0, 0]}, {"x": [3, 4], "y": [0, 0]}, pd.DataFrame({"g": ["a", "b"]}))
    report = bg.add_groups(bg.estimate(none, bg.PartialPooling(), seed=1), ["log_prior", "posterior_predictive"])
    assert group(report, "observed_data")["binomial_cell"].values.tolist() == ["x | a", "x | b"]
    assert group(report, "log_prior")["metric"].values.tolist() == ["x"]


# --- predictive distributions and priors ------------------------------------------------------------------------------


def test_replicates_have_the_law_of_the_data(report: xr.DataTree) -> None:
    both = bg.add_groups(report, EVERY)
    for parameters, replicates in (("posterior", "posterior_predictive"), ("prior", "prior_predictive")):
        mu, data = group(both, parameters)["mu"], group(both, replicates)["successes"]
        assert data.dtype.kind == "i"
        for cell in data["binomial_cell"].values:
            metric, site = str(cell).split(" | ")
            p = mu.sel(metric=metric, subgroup=site).values.ravel()
            n = int(COUNTS["count"].sel(metric=metric, subgroup=site))
            # Transforms through the law of each draw are uniform between their two ends.
            k = data.sel(binomial_cell=cell).values.ravel()
            middle = (binom.cdf(k, n, p) + binom.cdf(k - 1, n, p)) / 2
            assert abs(middle.mean() - 0.5) < 4 * np.sqrt(1 / 12 / len(k))
    assert not np.array_equal(group(both, "prior")["tau"], group(both, "posterior")["tau"].isel(chain=[0]))


def test_replicates_of_weighted_rows_keep_the_scale_of_their_counts() -> None:
    rows = pd.DataFrame({"g": ["a"] * 40 + ["b"] * 40, "y": [0, 1] * 40, "w": np.linspace(0.5, 1.5, 80)})
    tally = bg.tally(rows, ["g"], ["sel"], y_pred="y", weights="w")
    report = bg.estimate(tally, bg.PartialPooling(), seed=1, groups=["posterior_predictive", "prior_predictive"])
    for name in ("posterior_predictive", "prior_predictive"):
        replicates = group(report, name)["successes"]
        count = tally["count"].values[0]
        assert ((replicates >= 0) & (replicates <= count)).all()
    share = group(report, "posterior_predictive")["successes"].mean(("chain", "draw")).values / count
    np.testing.assert_allclose(share, group(report, "posterior")["mu"].mean(("chain", "draw")).values[0], atol=0.01)


def test_normal_replicates_have_the_standard_errors() -> None:
    report = bg.estimate(MEANS, bg.NoPooling(), seed=1, groups=["posterior_predictive"])
    replicates, mu = group(report, "posterior_predictive")["estimate"], group(report, "posterior")["mu"].isel(metric=0)
    away = replicates.values - mu.sel(subgroup=list("abcd")).values
    np.testing.assert_allclose(away.std((0, 1)), np.sqrt(MEANS["sampling_variance"].values[0, :4]), rtol=0.05)


@pytest.mark.parametrize("estimator", [
    pytest.param(leaf, id=leaf.word, marks=[pytest.mark.slow] if leaf.word in SAMPLED else []) for leaf in ESTIMATORS
])  # fmt: skip
def test_every_group_is_there_or_says_why_not(estimator: type[Estimator]) -> None:
    tally = _tally(estimator.word)
    report = bg.estimate(tally, estimator(), seed=1, groups=EVERY)
    reasons = json.loads(report.attrs.get("without_groups", "{}"))
    assert {name for name in EVERY if name not in report.children} == set(reasons)
    assert all(reasons.values())
    posterior = group(report, "posterior")
    for name in set(EVERY) & set(report.children):
        assert all(np.isfinite(values).all() for values in group(report, name).values())
        assert report[name].attrs["created_at"] == report["posterior"].attrs["created_at"]
    if "prior" in report.children:
        prior = group(report, "prior")
        assert set(prior) == set(posterior)
        for label in prior:
            assert prior[label].dims == posterior[label].dims
            assert prior[label].shape[2:] == posterior[label].shape[2:]
    if "posterior_predictive" in report.children:
        for label, values in group(report, "posterior_predictive").items():
            assert values.dims[2:] == group(report, "observed_data")[label].dims
    for name, reason in reasons.items():
        with pytest.raises(
            bg.InputError, match=f"{name} cannot be added to this report of {estimator.word}: "
        ) as error:
            bg.add_groups(report, [name])
        assert reason in str(error.value)


def test_the_density_of_priors_is_that_of_the_estimator(report: xr.DataTree) -> None:
    density = group(bg.add_groups(report, ["log_prior"]), "log_prior")["hyper_parameters"].sel(metric="sel")
    draws = group(report, "posterior").sel(metric="sel").isel(chain=0).rename(draw="sample")
    expected = bg.PartialPooling().log_prior(draws, COUNTS.sel(metric=["sel"])).value
    np.testing.assert_array_equal(density.isel(chain=0).values, expected)
    alone = bg.add_groups(bg.estimate(COUNTS, bg.NoPooling(), seed=1), ["log_prior"])
    assert group(alone, "log_prior")["mu"].dims == ("chain", "draw", "metric", "subgroup")


# --- from the report alone --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("settings", [bg.PartialPooling(), bg.JamesStein()], ids=["partial_pooling", "james_stein"])
def test_groups_are_the_same_whenever_they_are_made(
    settings: Estimator, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    at_once = bg.estimate(COUNTS, settings, seed=1, groups=["posterior_predictive"])
    monkeypatch.setattr(likelihood_groups, "MAX_NUMBERS", 10)
    small = bg.estimate(COUNTS, settings, seed=1)
    assert "log_likelihood" not in small.children
    assert "add_groups" in json.loads(small.attrs["without_groups"])["log_likelihood"]
    xr.testing.assert_identical(
        group(small, "observed_data").drop_attrs(), group(at_once, "observed_data").drop_attrs()
    )
    asked = bg.estimate(COUNTS, settings, seed=1, groups=["log_likelihood"])
    opened = bg.open_report(bg.save_report(small, tmp_path / "r.nc"))
    later = bg.add_groups(opened, ["log_likelihood", "posterior_predictive"])
    assert "without_groups" not in later.attrs
    for name in ("log_likelihood", "posterior_predictive"):
        xr.testing.assert_equal(group(later, name), group(at_once, name))
    xr.testing.assert_equal(group(asked, "log_likelihood"), group(later, "log_likelihood"))
    again = bg.open_report(bg.save_report(later, tmp_path / "r.nc"))
    xr.testing.assert_identical(again, later)
    assert "log_likelihood" not in small.children  # the report that was given stays as it was


def test_reports_of_older_versions_open_and_take_groups(report: xr.DataTree, tmp_path: Path) -> None:
    older = xr.DataTree.from_dict(
        {name: report[name].to_dataset() for name in ("posterior", "estimates", "diagnostics", "constant_data")}
    )
    older.attrs = dict(report.attrs)
    opened = bg.open_report(bg.save_report(older, tmp_path / "r.nc"))
    assert bg.compare({"older": opened, "newer": report}).sizes["estimator"] == 2
    both = bg.add_groups(opened, ["observed_data", "log_likelihood"])
    for name in ("observed_data", "log_likelihood"):
        xr.testing.assert_equal(group(both, name), group(report, name))


def test_groups_can_be_left_out_of_a_file(report: xr.DataTree, tmp_path: Path) -> None:
    opened = bg.open_report(bg.save_report(report, tmp_path / "r.nc", include=["posterior", "log_likelihood"]))
    assert "observed_data" not in opened.children
    assert "log_likelihood" in opened.children


def test_parts_that_the_report_lacks_are_asked_for() -> None:
    tally = _tally("confusion")
    report = bg.estimate(tally, bg.ConfusionModel(), seed=1)
    lost = xr.DataTree.from_dict({name: report[name].to_dataset() for name in report.children})
    lost["constant_data"] = xr.DataTree(group(report, "constant_data").drop_vars("cell_count"))
    lost.attrs = dict(report.attrs)
    with pytest.raises(
        bg.InputError, match=r"the tally in the report does not suffice .*the one it was made from, as tally="
    ):
        bg.add_groups(lost, ["log_likelihood"])
    both = bg.add_groups(lost, ["log_likelihood"], tally=tally)
    xr.testing.assert_equal(group(both, "log_likelihood"), group(report, "log_likelihood"))
    with pytest.raises(bg.InputError, match="tally= is not what the report was made from: its metrics differ"):
        bg.add_groups(lost, ["log_likelihood"], tally=COUNTS)


def test_groups_that_do_not_exist_are_refused(report: xr.DataTree) -> None:
    with pytest.raises(bg.InputError, match="groups= names 'priors', which is not one of 'observed_data'"):
        bg.add_groups(report, ["priors"])  # type: ignore[list-item]
    with pytest.raises(bg.InputError, match=r"groups='prior' must be a list of names, as groups=\['prior'\]"):
        bg.estimate(COUNTS, bg.NoPooling(), seed=1, groups="prior")  # type: ignore[arg-type]
    for lacking, message in (("posterior", "saved without its draws"), (None, "has no draws 'mu'")):
        tree = xr.DataTree.from_dict({
            name: report[name].to_dataset() if name != "posterior" else xr.Dataset() for name in report.children if name != lacking
        })  # fmt: skip
        tree.attrs = dict(report.attrs)
        with pytest.raises(bg.InputError, match=message):
            bg.add_groups(tree, ["log_prior"])
    with pytest.raises(bg.SchemaError, match="expected a report"):
        bg.add_groups(xr.Dataset(), ["prior"])  # type: ignore[arg-type]


def test_draws_of_another_model_have_no_likelihood_here() -> None:
    mu = xr.DataArray(np.full((4, 100, 2, 5), 0.5), dims=("chain", "draw", "metric", "subgroup"))
    mu = mu + 0.01 * xr.DataArray(np.random.default_rng(1).normal(size=mu.shape), dims=mu.dims)
    report = bg.report_from_draws(COUNTS, mu)
    with pytest.raises(bg.InputError, match="own_model"):
        bg.add_groups(report, ["log_likelihood"])


# --- NUTS -------------------------------------------------------------------------------------------------------------


def test_a_likelihood_with_hidden_parameters_is_that_of_the_sampler(monkeypatch: pytest.MonkeyPatch) -> None:
    """The sampler is replaced by one that answers at once; what it says of its likelihood is kept, or a reason is."""
    settings = bg.JamesStein()
    exact = settings.collapsed(MEANS.assign(range_lower=("metric", [0.1])), seed=1)
    assert exact is not None
    asked = []

    def sample(model: Any, *, log_likelihood: bool, **_: object) -> xr.DataTree:
        asked.append(log_likelihood)
        stats = xr.Dataset({
            "diverging": (("chain", "draw"), np.zeros((4, 1000), dtype=bool)),
            "energy": (("chain", "draw"), np.random.default_rng(1).normal(size=(4, 1000))),
        }, {"chain": np.arange(4), "draw": np.arange(1000)})  # fmt: skip
        cells = {"normal_cell": list(model.coords["normal_cell"])}
        density = xr.Dataset({"estimate": (("chain", "draw", "normal_cell"), np.full((4, 1000, 4), -1.5))}, cells)
        data = xr.Dataset({"estimate": ("normal_cell", model.rvs_to_values[model.observed_RVs[0]].eval())}, cells)
        tree = {"posterior": exact.draws, "sample_stats": stats}
        return xr.DataTree.from_dict(
            {**tree, "log_likelihood": density, "observed_data": data} if log_likelihood else tree
        )

    monkeypatch.setattr(nuts, "sample", sample)
    tally = MEANS.assign(range_lower=("metric", [float(exact.draws["mu"].min()) + 1e-9]))
    report = bg.estimate(tally, settings, seed=1, inference="nuts", groups=["posterior_predictive"])
    assert (group(report, "log_likelihood")["estimate"] == -1.5).all()
    assert "not kept" in json.loads(report.attrs["without_groups"])["posterior_predictive"]
    monkeypatch.setattr(likelihood_groups, "MAX_NUMBERS", 10)
    assert "log_likelihood" not in bg.estimate(tally, settings, seed=1, inference="nuts").children
    assert asked == [True, False]


@pytest.mark.slow
@pytest.mark.parametrize("word", ["james_stein", "disagreement", "partial_pooling"])
def test_nuts_and_the_exact_engine_have_the_same_log_likelihood(word: str) -> None:
    settings = next(estimator for estimator in ESTIMATORS if estimator.word == word)()
    exact, sampled = (bg.estimate(_tally(word), settings, seed=1, inference=engine) for engine in ("collapsed", "nuts"))
    for name, values in group(exact, "log_likelihood").items():
        other = group(sampled, "log_likelihood")[name]
        assert other.dims == values.dims
        error = np.sqrt(values.var(("chain", "draw")) / 400)
        assert (abs(values.mean(("chain", "draw")) - other.mean(("chain", "draw"))) < 5 * error).all()


def test_the_engine_is_asked_for_no_more_than_a_report_can_hold() -> None:
    assert sampled_fits._numbers(bg.PartialPooling().model(COUNTS)) == 4000 * 8


@pytest.mark.slow
def test_priors_of_rates_and_means_with_effects_of_clusters() -> None:
    """Means alone have a standard deviation of rows."""
    rng = np.random.default_rng(1)
    rows = pd.DataFrame(
        {"g": ["a", "b"] * 40, "y": [0, 1, 1, 0] * 20, "loss": rng.gamma(2, 1, 80), "patient": [*range(40)] * 2}
    )
    tally = bg.tally(rows, ["g"], ["sel", "mean"], y_pred="y", loss="loss", cluster="patient")
    report = bg.estimate(
        tally, bg.PartialPooling(clusters="random_effects"), seed=1, groups=["prior", "prior_predictive"]
    )
    for name in ("posterior", "prior"):
        assert group(report, name)["row_sd"].dims == ("chain", "draw", "metric")
        assert np.isfinite(group(report, name)["row_sd"].sel(metric="mean")).all()
    assert set(report["prior_predictive"].data_vars) == {"successes", "cluster_mean", "within"}
