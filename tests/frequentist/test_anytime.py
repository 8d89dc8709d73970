"""Anytime-valid limits: worked numbers, quadrature, where they are refused, and what a report says of them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import integrate, stats

import bayesgroups as bg
from bayesgroups.frequentist import no_pooling
from bayesgroups.frequentist.intervals import anytime

GOLDEN = json.loads((Path(__file__).parents[1] / "golden" / "labels" / "s_anytime.json").read_text(encoding="utf-8"))
SITES = pd.DataFrame({"site": list("abc")})


@pytest.mark.parametrize(("name", "shape"), [("jeffreys", 0.5), ("uniform", 1.0), ("beta_5_5", 5.0)])
def test_worked_rates(name: str, shape: float) -> None:
    k, n = (np.array([float(row[part]) for row in GOLDEN["rates"]]) for part in ("k", "n"))
    limits = anytime.rate(k, n, 0.95, (shape, shape))
    expected = np.array([row[name] for row in GOLDEN["rates"]])
    np.testing.assert_allclose(np.stack([limits.lower, limits.upper], axis=1), expected, atol=1e-8)


def test_evidence_is_the_likelihood_ratio_averaged_over_the_prior() -> None:
    worked = GOLDEN["martingale"]
    p, k, n = (np.array(float(worked[name])) for name in ("p", "k", "n"))

    def ratio(t: float) -> float:
        return float(
            np.exp(stats.binom.logpmf(9, 20, t) - stats.binom.logpmf(9, 20, 0.2)) * stats.beta.pdf(t, 0.5, 0.5)
        )

    averaged = integrate.quad(ratio, 0, 1, limit=500)[0]
    assert np.exp(-anytime.log_ratio(p, k, n)) == pytest.approx(worked["e_value"], rel=1e-12)
    assert worked["e_value"] == pytest.approx(averaged, abs=1e-5)
    assert anytime.p_value(p, k, n) == pytest.approx(worked["anytime_p"], rel=1e-12)
    up, down = (np.exp(-anytime.log_ratio(np.array(0.3), np.array(x), np.array(12.0))) for x in (5.0, 4.0))
    before = np.exp(-anytime.log_ratio(np.array(0.3), np.array(4.0), np.array(11.0)))
    assert 0.3 * up + 0.7 * down == pytest.approx(before, abs=1e-12)  # fair at every step


def test_worked_means() -> None:
    worked = GOLDEN["normal_mixture"]
    for total in (10, 100, 1000):
        limits = anytime.mean(np.zeros(1), np.ones(1), np.array([float(total)]), 0.95, 100)
        assert limits.upper[0] * total == pytest.approx(worked[f"bound_v_{total}"], rel=1e-10)
    limits = anytime.mean(np.array([0.4]), np.array([0.25]), np.array([100.0]), 0.95, 200)
    np.testing.assert_allclose([limits.lower[0], limits.upper[0]], worked["interval"], atol=1e-8)
    longer = anytime.mean(np.array([0.4]), np.array([0.25]), np.array([100.0]), 0.95, 20_000)
    assert longer.upper[0] > limits.upper[0]


@pytest.mark.usefixtures("no_pictures")
def test_a_report_names_limits_prior_and_paper(tmp_path: Path) -> None:
    counts = bg.tally_from_counts([9, 50, 0], [10, 100, 0], SITES, metric="acc")
    report, plain = (
        bg.estimate(counts, bg.NoPooling(**chosen), seed=1)  # type: ignore[arg-type]
        for chosen in ({"interval": "anytime", "anytime_prior": (1.0, 1.0)}, {})
    )
    drawn, own = (report["estimates"].to_dataset().sel(approach=side) for side in ("bayesian", "frequentist"))
    at = own.sel(metric="acc", level=0.95)
    np.testing.assert_allclose(at["lower"].values[:2], [0.45488175, 0.34459027], atol=1e-8)
    np.testing.assert_allclose(at["upper"].values[:2], [0.99954358, 0.65540973], atol=1e-8)
    assert np.isnan(at["upper"].values[2])
    assert at["status"].values[2] == "undefined"
    assert np.unique(own["interval_method"]).tolist() == ["anytime_beta"]
    assert np.unique(own["interval_kind"]).tolist() == ["confidence"]
    assert (own["upper"].diff("level").isel(subgroup=slice(2)) > 0).all()
    settings = json.loads(report.attrs["settings"])
    assert settings["anytime_prior"] == [1.0, 1.0]
    assert "anytime_prior" not in json.loads(plain.attrs["settings"])
    others = plain["estimates"].to_dataset()
    np.testing.assert_array_equal(own["estimate"], others["estimate"].sel(approach="frequentist"))
    np.testing.assert_array_equal(drawn["upper"], others["upper"].sel(approach="bayesian"))
    bg.write_html(report, tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert "which hold at all looks together" in page
    assert "arXiv:2006.04347" in page


def test_days_add_up_and_means_have_their_own_variance() -> None:
    rng = np.random.default_rng(1)
    frame = pd.DataFrame({"site": ["a", "b"] * 60, "loss": rng.gamma(2.0, 0.1, 120)})
    days = [bg.tally(part, ["site"], ["mean"], loss="loss") for part in (frame[:50], frame[50:])]
    answer = no_pooling.estimate(bg.add_tallies(days), interval="anytime").isel(metric=0).sel(level=0.95)
    assert answer["interval_method"].item() == "anytime_normal"
    own = frame["loss"][frame["site"] == "a"]
    expected = anytime.mean(np.array([own.mean()]), np.array([own.var(ddof=1)]), np.array([60.0]), 0.95)
    assert answer["upper"].values[0] == pytest.approx(expected.upper[0], rel=1e-9)
    assert answer["lower"].values[0] == pytest.approx(expected.lower[0], rel=1e-9)
    flat = no_pooling.estimate(bg.tally(frame.assign(loss=0.5), ["site"], ["mean"], loss="loss"), interval="anytime")
    assert np.isnan(flat["upper"]).all()
    assert set(flat["status"].values.ravel()) == {"degenerate"}


def test_means_of_clusters() -> None:
    rng = np.random.default_rng(2)
    frame = pd.DataFrame({"site": "a", "who": np.repeat(np.arange(20), 3), "loss": rng.gamma(2.0, 0.1, 60), "y": 1})
    tally = bg.tally(frame, ["site"], ["mean"], loss="loss", cluster="who")
    answer = no_pooling.estimate(tally, interval="anytime").isel(metric=0, subgroup=0).sel(level=0.95)
    variance = 20 * tally["cluster_robust_variance"].values[0]
    expected = anytime.mean(tally["estimate"].values[0], variance, np.array([20.0]), 0.95)
    assert float(answer["upper"]) == pytest.approx(expected.upper[0])
    few = bg.tally(frame[:27], ["site"], ["mean"], loss="loss", cluster="who")
    with pytest.raises(
        bg.InputError, match="metric 'mean', subgroup 'a' has 9 clusters and interval='anytime' needs 10"
    ):
        no_pooling.estimate(few, interval="anytime")
    rates = bg.tally(frame, ["site"], ["sel"], y_pred="y", cluster="who")
    with pytest.raises(
        bg.InputError, match="'sel' has no interval 'anytime', because it needs independent unweighted rows"
    ):
        no_pooling.estimate(rates, interval="anytime")


def test_refused() -> None:
    frame = pd.DataFrame({"site": ["a"] * 31 + ["b"] * 29, "y": [0, 1] * 30, "w": [1.0] * 35 + [2.5] * 25, "p": 0.5})
    tally: Any = lambda metric, **more: bg.tally(frame, ["site"], [metric], **more)  # noqa: E731
    for source, message in (
        (tally("mean", loss="p"), "metric 'mean', subgroup 'b' has 29 rows and interval='anytime' needs 30"),
        (
            tally("f1", y_true="y", y_pred="y"),
            "'f1' has no interval 'anytime', because its kind is 'f1'; rates and means",
        ),
        (tally("auc", y_true="y", y_score="p"), "'auc' has no interval 'anytime', because its kind is 'auc'"),
        (
            tally("sel", y_pred="y", weights="w"),
            "subgroup 'b': .* independent unweighted rows, and its count is .* not a whole",
        ),
        (tally("mean", loss="p", weights="w"), "subgroup 'b': interval='anytime' needs independent unweighted rows"),
    ):
        with pytest.raises(bg.InputError, match=message):
            no_pooling.estimate(source, interval="anytime")
    for chosen, message in (
        ({"anytime_prior": (0.0, 1.0)}, r"anytime_prior=\(0.0, 1.0\) must be two positive numbers"),
        ({"anytime_prior": (1.0,)}, r"anytime_prior=\(1.0,\) must be two positive numbers"),
        ({"anytime_optimal_n": 0}, "anytime_optimal_n=0 must be a positive number of rows"),
    ):
        with pytest.raises(bg.InputError, match=message):
            bg.NoPooling(interval="anytime", **chosen)
    with pytest.raises(bg.InputError, match="anytime_prior= and anytime_optimal_n= are for interval='anytime'"):
        bg.NoPooling(anytime_prior=(1.0, 1.0))
