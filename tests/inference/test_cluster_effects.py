"""Effects of clusters, integrated out, against effective counts and against the model that has them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pymc as pm
import pytest
from pytensor.compile.mode import Mode
from scipy import special, stats

import bayesgroups as bg
from bayesgroups.inference import nuts
from bayesgroups.inference.cluster_effects import integrate_clusters
from bayesgroups.models.clustered import build_with_clusters

POINTS = (0.1, 0.4)
"""Two values of the subgroups."""


def balanced(size: int = 6, seed: int = 1) -> pd.DataFrame:
    """Eight subgroups of 25 clusters of one size: a decision ``v`` and a ``loss``."""
    rng = np.random.default_rng(seed)
    cluster = np.repeat(np.arange(200), size)
    group, number = cluster // 25, len(cluster)
    truth = np.linspace(-0.3, 0.3, 8)
    loss = truth[group] + 0.55 * rng.normal(size=200)[cluster] + 0.8 * rng.normal(size=number)
    centre = 0.3 + truth[group[::size]] / 3
    level = rng.beta(centre * 2.5, (1 - centre) * 2.5)
    chosen = (rng.random(number) < level[cluster]).astype(np.float64)
    return pd.DataFrame({"g": group.astype(str), "c": cluster, "v": chosen, "loss": loss, "w": 1.0})


def tallied(frame: pd.DataFrame, metrics: list[str], **more: Any) -> Any:
    return bg.tally(frame, ["g"], metrics, y_pred="v", loss="loss", cluster="c", **more)


def test_clusters_of_one_size_give_the_robust_answer() -> None:
    tally = tallied(balanced(), ["mean"]).isel(metric=0)
    found = integrate_clusters(tally)
    np.testing.assert_allclose(found["estimate"], tally["estimate"], rtol=1e-12)
    np.testing.assert_allclose(found["sampling_variance"], tally["sampling_variance"], rtol=1e-12)


def test_the_density_is_that_of_all_clusters() -> None:
    """With the clusters integrated out numerically, up to a constant."""
    frame = balanced().query("c < 30").assign(keep=lambda part: np.arange(len(part)) % 6 < 1 + part["c"] % 6)
    tally = tallied(frame[frame["keep"]], ["mean"]).isel(metric=0)
    across, within = 0.4, 0.9
    found = integrate_clusters(tally, cluster_sd=across, row_sd=within).isel(subgroup=0)
    mine = tally["cluster_subgroup"].values == 0
    n, total = tally["cluster_weight"].values[mine], tally["cluster_sum"].values[mine]
    effect, weight = np.polynomial.hermite_e.hermegauss(60)

    def density(mu: float) -> float:
        each = stats.norm.pdf(total[:, None] / n[:, None], mu + across * effect, within / np.sqrt(n[:, None])) @ weight
        return float(np.log(each).sum())

    points = [-0.5, 0.0, 0.4]
    exact = np.array([density(mu) for mu in points])
    short = stats.norm.logpdf(points, found["estimate"], np.sqrt(found["sampling_variance"]))
    np.testing.assert_allclose(np.diff(short), np.diff(exact), rtol=1e-6)


def test_what_cannot_be_integrated() -> None:
    tally = tallied(balanced(), ["mean"]).isel(metric=0)
    with pytest.raises(bg.InputError, match=r"cluster_sd=-1.0 and row_sd=1.0 must not be negative"):
        integrate_clusters(tally, cluster_sd=-1.0, row_sd=1.0)
    with pytest.raises(bg.InputError, match="metric 'mean' has no clusters to integrate out"):
        integrate_clusters(bg.tally(balanced(), ["g"], ["mean"], loss="v").isel(metric=0))
    f1 = bg.tally(balanced(), ["g"], ["f1"], y_true="v", y_pred="v", cluster="c").isel(metric=0)
    with pytest.raises(bg.InputError, match="metric 'f1' is neither rate nor mean"):
        integrate_clusters(f1)


def test_the_likelihood_of_means_is_that_of_effective_counts() -> None:
    """At the variances of the tally, with clusters of one size: exactly."""
    tally = tallied(balanced(), ["mean"])
    change = _change(tally, "cluster_mean", lambda mu: mu)
    values, variance = tally["estimate"].values[0], tally["sampling_variance"].values[0]
    expected = stats.norm.logpdf(values, POINTS[1], np.sqrt(variance)) - stats.norm.logpdf(
        values, POINTS[0], np.sqrt(variance)
    )
    assert change == pytest.approx(expected.sum(), rel=1e-9)


def test_the_likelihood_of_rates_is_beta_binomial_and_close_to_effective_counts() -> None:
    tally = tallied(balanced(), ["sel"])
    change = _change(tally, "successes", special.logit)
    rows, hits = tally["cluster_weight"].values[0], tally["cluster_sum"].values[0]
    size = 1 / float(tally["icc"][0]) - 1
    exact = [stats.betabinom.logpmf(hits, rows.astype(int), mu * size, (1 - mu) * size).sum() for mu in POINTS]
    assert change == pytest.approx(exact[1] - exact[0], rel=1e-7)
    k, n = tally["successes"].values[0].sum(), tally["count"].values[0].sum()
    short = [k * np.log(mu) + (n - k) * np.log1p(-mu) for mu in POINTS]
    assert change == pytest.approx(short[1] - short[0], rel=0.1)


def _change(tally: Any, node: str, link: Any) -> float:
    """Change of the log likelihood of one node when every subgroup goes from the first of `POINTS` to the second."""
    model = build_with_clusters(tally)
    density = model.compile_logp(vars=[model[node]], mode=Mode(linker="py", optimizer="fast_run"))
    given = {name: np.zeros_like(value) for name, value in model.initial_point().items()}
    given["icc_logodds__"] = special.logit(tally["icc"].values)
    if "row_sd_log__" in given:
        given["row_sd_log__"] = np.log(tally["pooled_variance"].values) / 2
    centre = "alpha" if "alpha" in given else "overall"
    first, second = (float(density({**given, centre: np.array([link(value)])})) for value in POINTS)
    return second - first


@pytest.mark.slow
def test_the_full_model_agrees_with_effective_counts_on_a_balanced_design() -> None:
    tally = tallied(balanced(), ["sel", "mean"])
    full = nuts.sample(build_with_clusters(tally), seed=1, draws=500, tune=500, chains=2)["posterior"].to_dataset()
    short = bg.estimate(tally, bg.PartialPooling(), seed=1)["posterior"].to_dataset()
    mean, sd = (getattr(full["mu"], name)(("chain", "draw")).values for name in ("mean", "std"))
    centre, spread = (getattr(short["mu"], name)(("chain", "draw")).values for name in ("mean", "std"))
    away = np.abs(mean - centre).max(axis=1) / spread.mean(axis=1)
    assert away[1] < 0.2  # the same likelihood but for what is known of the correlation
    assert away[0] < 0.5  # a beta-binomial is no binomial of fewer rows, if close to one
    np.testing.assert_allclose(sd, spread, rtol=0.2)
    np.testing.assert_allclose(full["icc"].mean(("chain", "draw")), tally["icc"], atol=0.06)
    rows = bg.estimate(tallied(balanced(), ["sel", "mean"], cluster_analysis="ignore"), bg.PartialPooling(), seed=1)
    assert (rows["posterior"]["mu"].std(("chain", "draw")).values < 0.9 * sd).all()


def test_rates_and_means_in_one_model() -> None:
    model = build_with_clusters(tallied(balanced(), ["sel", "mean"]))
    assert model.named_vars_to_dims["mu"] == ("metric", "subgroup")
    assert {variable.name for variable in model.observed_RVs} == {"successes", "cluster_mean", "within"}
    gradient = model.compile_dlogp(mode=Mode(linker="py", optimizer="fast_run"))(model.initial_point())
    assert np.isfinite(gradient).all()
    mu = np.asarray(pm.draw(model["mu"], draws=50, random_seed=1, mode=Mode(linker="py", optimizer="fast_compile")))
    assert ((mu[:, 0] >= 0) & (mu[:, 0] <= 1)).all()
    lone = build_with_clusters(tallied(balanced().drop_duplicates("c"), ["mean"]))
    assert {variable.name for variable in lone.observed_RVs} == {"cluster_mean"}


def test_what_has_no_model_of_clusters() -> None:
    frame = balanced()
    with pytest.raises(ValueError, match="the tally has no clusters"):
        build_with_clusters(bg.tally(frame, ["g"], ["sel"], y_pred="v"))
    with pytest.raises(ValueError, match="rows have weights"):
        build_with_clusters(tallied(frame, ["sel"], weights="w"))
    with pytest.raises(ValueError, match="metric 'f1' has no likelihood of clusters, because its kind is 'f1'"):
        build_with_clusters(bg.tally(frame, ["g"], ["f1"], y_true="v", y_pred="v", cluster="c"))
    with pytest.raises(ValueError, match="metric 'mean' is not a rate"):
        build_with_clusters(tallied(frame, ["mean"]), likelihood="binomial")
    with pytest.raises(ValueError, match="tau_scale must be a positive number"):
        build_with_clusters(tallied(frame, ["mean"]), tau_scale=0.0)
    with pytest.raises(bg.InputError, match="the tally has no clusters; name their column"):
        bg.estimate(bg.tally(frame, ["g"], ["sel"], y_pred="v"), bg.PartialPooling(clusters="random_effects"), seed=1)


def test_random_effects_in_a_report() -> None:
    """The frequentist side has effective counts; the two agree where clusters have one size."""
    rows = balanced(size=4).query("c % 5 == 0")
    report = bg.estimate(tallied(rows, ["mean"]), bg.PartialPooling(clusters="random_effects"), seed=1)
    assert report.attrs["usable"] == 1
    assert report.attrs["inference"] == "nuts"
    assert "no exact engine" in report.attrs["notes"]
    assert 0 < float(report["posterior"]["icc"].mean()) < 1
    table = report["estimates"]["estimate"].sel(metric="mean")
    gap = table.sel(approach="bayesian") - table.sel(approach="frequentist")
    assert float(abs(gap).max()) < float(report["estimates"]["std_error"].sel(approach="frequentist").mean())
