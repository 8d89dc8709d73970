"""From a tally to a report: arguments, determinism, the gate and its fallback."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, Literal, cast

import numpy as np
import pandas as pd
import pytest
import xarray as xr

import bayesgroups as bg
from bayesgroups.estimators import PartialPooling, sampled_fits
from bayesgroups.report.diagnostics import at_least, at_most
from bayesgroups.report.posterior import Posterior


def counts(metric: str = "fnr") -> xr.Dataset:
    return bg.tally_from_counts([1, 30, 9, 0], [2, 100, 60, 0], pd.DataFrame({"site": list("abcd")}), metric=metric)


def draws(report: xr.DataTree) -> xr.DataArray:
    return report["posterior"].to_dataset()["mu"]


def test_draws_of_a_metric_do_not_depend_on_the_others() -> None:
    both = bg.tally_from_counts(
        {"fnr": [1, 30], "fpr": [3, 3]}, {"fnr": [2, 100], "fpr": [5, 9]}, pd.DataFrame({"s": ["a", "b"]})
    )
    alone = both.isel(metric=[1])
    one, two = bg.estimate(both, bg.PartialPooling(), seed=1), bg.estimate(alone, bg.PartialPooling(), seed=1)
    xr.testing.assert_equal(one["posterior"].to_dataset().sel(metric=["fpr"]), two["posterior"].to_dataset())


def test_one_value_that_is_not_that_of_everybody_says_so() -> None:
    """Weights that differ between subgroups alone leave the effective numbers what the numbers of rows are."""
    rows = pd.DataFrame({"site": ["a"] * 50 + ["b"] * 50, "right": [1] * 45 + [0] * 5 + [1] * 25 + [0] * 25})
    rows["weight"] = [10.0] * 50 + [1.0] * 50

    def notes(**columns: str) -> str:
        tally = bg.tally(rows, ["site"], "correct", correct="right", **columns)  # type: ignore[arg-type]
        return str(bg.estimate(tally, bg.CompletePooling(), seed=1).attrs["notes"])

    assert notes() == "[]"
    assert "correct: subgroups count by their effective numbers of rows" in notes(weights="weight")
    empty = bg.tally_from_counts([0], [0], pd.DataFrame({"site": ["a"]}))
    published = bg.tally_from_estimates([0.2, 0.3], [0.1, 0.2], pd.DataFrame({"site": ["a", "b"]}))
    for tally in (empty, published):
        assert "effective" not in bg.estimate(tally, bg.CompletePooling(), seed=1).attrs["notes"]


def test_subgroups_without_rows_are_imputed_and_say_so() -> None:
    report = bg.estimate(counts(), bg.PartialPooling(), seed=1)
    table = report["estimates"].to_dataset().sel(metric="fnr", subgroup="d")
    assert table["status"].values.tolist() == ["imputed", "imputed"]
    assert np.isfinite(table["estimate"].values).all()
    assert str(table["reason"].values) == "no rows"
    width = (table["upper"] - table["lower"]).sel(approach="bayesian", level=0.95)
    assert float(width) > 0.2


def test_a_metric_that_is_undefined_everywhere_is_nan_with_a_reason() -> None:
    frame = pd.DataFrame({"g": ["a", "b"], "y": [0, 0], "p": [0, 1]})
    report = bg.estimate(bg.tally(frame, ["g"], ["fnr", "fpr"], y_true="y", y_pred="p"), bg.PartialPooling(), seed=1)
    table = report["estimates"].to_dataset().sel(metric="fnr")
    assert np.isnan(table["estimate"].values).all()
    assert (table["status"].values == "undefined").all()
    assert (table["reason"].values == "no positives").all()
    assert "fnr: undefined in every subgroup" in report.attrs["notes"]


def test_one_group_and_equal_groups() -> None:
    one = bg.estimate(bg.tally_from_counts([3], [4], pd.DataFrame({"g": ["a"]})), bg.PartialPooling(), seed=1)
    assert one.attrs["usable"] == 1
    equal = bg.estimate(
        bg.tally_from_counts([2] * 5, [8] * 5, pd.DataFrame({"g": list("abcde")})), bg.PartialPooling(), seed=1
    )
    assert float(np.ptp(equal["estimates"].to_dataset()["estimate"].sel(approach="frequentist").values)) < 1e-12


def test_intervals_are_clipped_to_the_range_and_kept_unclipped() -> None:
    report = bg.estimate(counts(), bg.NoPooling(interval="pooled_normal"), seed=1)
    table = report["estimates"].to_dataset().sel(approach="frequentist", level=0.95, subgroup="a")
    assert float(table["lower_unclipped"].item()) < 0 == float(table["lower"].item())
    assert table["interval_kind"].values.tolist() == ["confidence"]


def test_the_gaussian_likelihood_is_a_choice_for_rates_and_the_rule_elsewhere() -> None:
    binomial, normal = (
        bg.estimate(counts(), bg.PartialPooling(likelihood=kind), seed=1) for kind in ("auto", "normal")
    )
    assert not np.array_equal(draws(binomial).values, draws(normal).values)
    assert bool((draws(binomial) >= 0).all())
    assert bool((draws(normal) < 0).any())
    losses = pd.DataFrame({"g": list("aabb"), "v": [0.1, 0.4, 2.0, 1.0]})
    with pytest.raises(
        bg.InputError, match=r"metric 'mean' is not a rate \(kind 'mean'\), so it has no binomial likelihood"
    ):
        bg.estimate(bg.tally(losses, ["g"], ["mean"], loss="v"), bg.PartialPooling(likelihood="binomial"), seed=1)


def test_clusters_that_are_not_modelled_are_noted() -> None:
    frame = pd.DataFrame({"g": list("aabb"), "p": [0, 1, 1, 0], "patient": [1, 1, 2, 3]})
    frame["y"], frame["s"] = frame["p"], [0.3, 0.6, 0.2, 0.1]

    def notes(metrics: list[str], analysis: Literal["ignore", "robust", "mean"]) -> str:
        tally = bg.tally(
            frame, ["g"], metrics, y_true="y", y_pred="p", y_score="s", cluster="patient", cluster_analysis=analysis
        )
        return str(bg.estimate(tally, bg.NoPooling(), seed=1).attrs["notes"])

    assert "sel: rows come in clusters and are treated as independent" in notes(["sel"], "ignore")
    assert "clusters" not in notes(["sel"], "robust") + notes(["sel"], "mean")
    assert "auc: rows come in clusters" in notes(["sel", "auc"], "robust")


def test_progress_is_told_of_every_metric() -> None:
    told: list[tuple[str, int, int]] = []
    bg.estimate(counts(), bg.NoPooling(), seed=1, progress=lambda *step: told.append(step))
    assert told == [("fnr", 0, 1)]


def test_bootstrap_replicates_are_kept_when_asked_for() -> None:
    report = bg.estimate(counts(), bg.NoPooling(bootstrap=50), seed=1)
    assert dict(report["bootstrap"]["mu"].sizes) == {"chain": 1, "draw": 50, "metric": 1, "subgroup": 4}
    assert "bootstrap" not in bg.estimate(counts(), bg.NoPooling(), seed=1).children


@dataclass(frozen=True)
class Broken(PartialPooling):
    """An exact engine that never passes its checks."""

    def collapsed(self, tally: xr.Dataset, *, seed: int) -> Posterior:
        found = super().collapsed(tally, seed=seed)
        assert found is not None
        return Posterior(found.draws, (at_most("grid error", "fnr", 0.5, 1e-3, "the error"),), "collapsed")


def test_a_failed_check_makes_a_report_unusable_and_strict_raises() -> None:
    report = bg.estimate(counts(), Broken(), seed=1, inference="collapsed")
    assert report.attrs["usable"] == 0
    assert report["diagnostics"].to_dataset()["passed"].sel(check="fnr: grid error").item() == 0
    with pytest.raises(bg.NotUsableError, match="the fit is not usable: fnr: the error is 0.5"):
        bg.estimate(counts(), Broken(), seed=1, inference="collapsed", strict=True)


def test_auto_falls_back_to_nuts_and_says_so(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    asked: list[float] = []

    def nuts(
        _: Any, tally: xr.Dataset, estimator: Any, seed: int, backend: str, *, target_accept: float, tune: int = 1000
    ) -> Posterior:
        asked.append(target_accept)
        value = 1.5 if target_accept < 0.95 else 1.0
        exact = PartialPooling.collapsed(estimator, tally, seed=seed)
        assert exact is not None
        return Posterior(exact.draws, (at_most("R-hat", "fnr", value, 1.01, "the largest R-hat"),), "nuts")

    monkeypatch.setattr(sampled_fits, "_nuts", nuts)
    with caplog.at_level("INFO", logger="bayesgroups"):
        report = bg.estimate(counts(), Broken(), seed=1)
    assert [(record.levelname, record.getMessage()) for record in caplog.records] == [
        (
            "WARNING",
            "fnr: the exact engine did not pass its checks, so it is sampled by NUTS, which takes about half a minute",
        )
    ]
    assert asked == [0.9, 0.99]
    assert (report.attrs["inference"], report.attrs["usable"]) == ("nuts", 1)
    assert "the exact engine did not pass its checks, so NUTS was run" in report.attrs["notes"]
    assert "NUTS was repeated with smaller steps" in report.attrs["notes"]


def sampled(**values: float) -> Posterior:
    """A fit of NUTS with these R-hat, bulk ESS and divergences."""
    exact = PartialPooling().collapsed(counts(), seed=1)
    assert exact is not None
    checks = (
        at_most("R-hat", "fnr", values.get("r_hat", 1.0), 1.01, "the largest R-hat"),
        at_least("bulk ESS", "fnr", values.get("ess", 900.0), 400, "the smallest bulk ESS"),
        at_most("divergences", "fnr", values.get("divergences", 0), 0, "the number of divergent transitions"),
    )
    return Posterior(exact.draws, checks, "nuts")


@pytest.mark.parametrize(
    ("fits", "asked", "said", "usable"),
    [
        # Too few effective draws alone: longer at once, twice at most, and no smaller steps.
        ([{"ess": 390}, {}], [(0.9, 1), (0.9, 2)], ["NUTS drew 2000 per chain, of which one in 2 was kept"], 1),
        ([{"ess": 90}, {"ess": 190}, {}], [(0.9, 1), (0.9, 2), (0.9, 4)], ["NUTS drew 4000 per chain, of which one in 4"], 1),
        ([{"ess": 9}, {"ess": 19}, {"ess": 39}], [(0.9, 1), (0.9, 2), (0.9, 4)], ["NUTS drew 4000 per chain"], 0),
        # Something else as well: smaller steps, and then longer.
        ([{"ess": 390, "divergences": 3}, {}], [(0.9, 1), (0.99, 1)], ["repeated with smaller steps"], 1),
        ([{"ess": 390, "r_hat": 1.02}, {"ess": 390}, {}], [(0.9, 1), (0.99, 1), (0.99, 2)],
         ["repeated with smaller steps", "NUTS drew 2000 per chain"], 1),
        ([{"ess": 390}, {"divergences": 1}, {}], [(0.9, 1), (0.9, 2), (0.99, 1)], ["repeated with smaller steps"], 1),
        # What cannot be computed is not short of draws.
        ([{"ess": np.nan}, {}], [(0.9, 1), (0.99, 1)], ["repeated with smaller steps"], 1),
    ],
)  # fmt: skip
def test_nuts_samples_longer_where_only_effective_draws_are_missing(
    fits: list[dict[str, float]],
    asked: list[tuple[float, int]],
    said: list[str],
    usable: int,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    calls: list[tuple[float, int]] = []

    def nuts(*_: Any, target_accept: float, tune: int = 1000, thin: int = 1) -> Posterior:
        calls.append((target_accept, thin))
        return sampled(**fits[len(calls) - 1])

    monkeypatch.setattr(sampled_fits, "_nuts", nuts)
    with caplog.at_level("INFO", logger="bayesgroups"):
        report = bg.estimate(counts(), PartialPooling(), seed=1, inference="nuts")
    assert [(record.levelname, record.getMessage()) for record in caplog.records] == [
        ("INFO", "fnr: it is sampled by NUTS, which takes about half a minute")
    ]
    assert calls == asked
    assert report.attrs["usable"] == usable
    notes = json.loads(report.attrs["notes"])
    assert len(notes) == len(said)
    assert all(part in note for part, note in zip(said, notes, strict=True))


def test_a_longer_run_keeps_the_size_of_the_report_and_its_divergences(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of every 3 draws one is kept, with a divergence at any of them; checks are of what is kept and of all statistics."""
    rng = np.random.default_rng(1)

    def sample(_: object, *, seed: int, draws: int, thin: int, **settings: object) -> xr.DataTree:
        mu = xr.DataArray(rng.random((4, draws, 1, 4)), dims=("chain", "draw", "metric", "subgroup"))
        mu = mu.assign_coords(metric=["fnr"], subgroup=counts()["subgroup"].values, draw=range(draws))
        diverging = np.zeros((4, draws * thin), dtype=bool)
        diverging[0, 4] = True
        stats = {"diverging": diverging, "energy": rng.standard_normal((4, draws * thin))}
        return xr.DataTree.from_dict(
            {
                "posterior": mu.to_dataset(name="mu"),
                "sample_stats": xr.Dataset({k: (("chain", "draw"), v) for k, v in stats.items()}),
            }
        )

    monkeypatch.setattr("bayesgroups.inference.nuts.sample", sample)
    fit = sampled_fits._nuts(
        PartialPooling().model(counts()), counts(), PartialPooling(), 1, "default", target_accept=0.9, thin=3
    )
    stats = fit.sample_stats
    assert stats is not None
    assert stats.sizes["draw"] == fit.draws.sizes["draw"] == sampled_fits.DRAWS
    assert stats["thinning"].values.tolist() == [3]
    assert np.argwhere(stats["diverging"].values[:, :, 0]).tolist() == [[0, 1]]
    assert next(check for check in fit.checks if check.name == "divergences").value == 1


@dataclass(frozen=True)
class NoEngine(PartialPooling):
    """A word without an exact engine."""

    def collapsed(self, tally: xr.Dataset, *, seed: int) -> None:
        return None


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (
            lambda: bg.estimate(pd.DataFrame(), bg.NoPooling(), seed=1),
            bg.SchemaError,
            r"tally must come from bg.tally\(\)",
        ),
        (lambda: bg.estimate(counts(), bg.NoPooling, seed=1), bg.InputError, r"write NoPooling\(\) with brackets"),  # type: ignore[arg-type]
        (lambda: bg.estimate(counts(), "eb", seed=1), bg.InputError, "estimator must be an instance, not a text"),  # type: ignore[arg-type]
        (lambda: bg.estimate(counts(), bg.NoPooling(), seed=-1), bg.InputError, "seed must be a whole number"),
        (lambda: bg.estimate(counts(), bg.NoPooling(), seed=True), bg.InputError, "seed must be a whole number"),
        (
            lambda: bg.estimate(counts(), bg.NoPooling(), seed=1, inference=cast("Any", "hmc")),
            bg.InputError,
            "inference='hmc' is not one of",
        ),
        (
            lambda: bg.estimate(counts(), NoEngine(), seed=1, inference="collapsed"),
            bg.InputError,
            "has no exact engine for metric '[a-z]+'; use",
        ),
        (lambda: bg.NoPooling(interval="wilsn"), bg.InputError, "NoPooling: interval='wilsn' is not one of"),  # type: ignore[arg-type]
        (lambda: bg.NoPooling(bootstrap=-1), bg.InputError, "bootstrap=-1 must be 0 or larger"),
        (lambda: bg.NoPooling(likelihood="poisson"), bg.InputError, "NoPooling: likelihood='poisson'"),  # type: ignore[arg-type]
        (lambda: bg.CompletePooling(likelihood="poisson"), bg.InputError, "CompletePooling: likelihood='poisson'"),  # type: ignore[arg-type]
        (lambda: bg.PartialPooling(interval="wilson"), bg.InputError, "PartialPooling: interval='wilson'"),  # type: ignore[arg-type]
        (lambda: bg.PartialPooling(tau_scale=0.0), bg.InputError, "tau_scale=0.0 must be a positive number"),
        (lambda: bg.PartialPooling(tau_scale=1e-320), bg.InputError, "is so near 0 that its inverse is infinite"),
        (lambda: bg.PartialPooling(overall_scale=float("inf")), bg.InputError, "overall_scale=inf must be a positive"),
    ],
)
def test_bad_arguments_are_refused(call: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        call()


def test_the_report_has_posterior_medians_beside_means() -> None:
    counts = bg.tally_from_counts([0, 30, 9], [3, 100, 60], pd.DataFrame({"site": ["a", "b", "c"]}))
    report = bg.estimate(counts, bg.PartialPooling(), seed=1)
    table, mu = report["estimates"].to_dataset(), report["posterior"].to_dataset()["mu"]
    assert table["median"].dims == ("metric", "subgroup")
    np.testing.assert_allclose(table["median"], mu.median(("chain", "draw")), rtol=1e-12)
    skewed = table.sel(approach="bayesian", subgroup="a", metric=table["metric"].values[0])
    assert float(skewed["median"]) < float(skewed["estimate"])
