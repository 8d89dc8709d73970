"""Metrics of a law of scores: closed forms, identities, quadrature, and rows."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import expit

from bayesgroups.datasets import Binormal, binormal_metrics
from bayesgroups.errors import InputError
from bayesgroups.scores.laws import DECISIONS, ScoreLaw, metric_of
from tests.frequentist.metrics_of_rows import rows_metric


def _laws(size: int = 200) -> ScoreLaw:
    rng = np.random.default_rng(1)
    return ScoreLaw(
        rng.uniform(0.05, 0.95, size), rng.normal(-1, 1, size), rng.normal(0.5, 1, size), rng.uniform(0.5, 1.5, size),
        rng.uniform(0.5, 1.5, size),
    )  # fmt: skip


@pytest.mark.parametrize("name", [*DECISIONS, "auc"])
def test_closed_forms_of_the_binormal_law(name: str) -> None:
    law = _laws()
    known = binormal_metrics(Binormal(*vars(law).values()), threshold=0.4)
    found = metric_of(name, law, float(np.log(0.4 / 0.6)))
    np.testing.assert_allclose(found, known[name], rtol=1e-10, atol=1e-13)


def test_identities_hold_draw_by_draw() -> None:
    law = _laws()
    of = {name: metric_of(name, law, 0.2) for name in DECISIONS}
    p = law.prevalence
    np.testing.assert_allclose(of["fnr"] + of["tpr"], 1, rtol=0, atol=1e-12)
    np.testing.assert_allclose(of["fpr"] + of["tnr"], 1, rtol=0, atol=1e-12)
    np.testing.assert_allclose(of["ppv"] + of["fdr"], 1, rtol=0, atol=1e-12)
    np.testing.assert_allclose(of["npv"] + of["for"], 1, rtol=0, atol=1e-12)
    np.testing.assert_allclose(of["sel"], p * of["tpr"] + (1 - p) * of["fpr"], rtol=0, atol=1e-12)
    np.testing.assert_allclose(of["acc"], p * of["tpr"] + (1 - p) * of["tnr"], rtol=0, atol=1e-12)
    np.testing.assert_allclose(of["ppv"] * of["sel"], p * of["tpr"], rtol=0, atol=1e-12)
    np.testing.assert_allclose(of["f1"], 2 * of["ppv"] * of["tpr"] / (of["ppv"] + of["tpr"]), rtol=0, atol=1e-12)


def test_analytic_area_and_selection() -> None:
    law = ScoreLaw(*(np.array([value]) for value in (0.3, 0.0, 1.0, 1.0, 2.0)))
    # Phi(1 / sqrt(5)), and .3 Phi(.25) + .7 Phi(-.5), from a table of the normal distribution.
    assert metric_of("auc", law)[0] == pytest.approx(0.672640, abs=1e-6)
    assert metric_of("sel", law, 0.5)[0] == pytest.approx(0.3 * 0.598706 + 0.7 * 0.308538, abs=1e-6)


def test_brier_and_calibration_agree_with_simulation() -> None:
    law = ScoreLaw(*(np.array([value]) for value in (0.3, -1.5, 0.2, 1.2, 0.9)))
    rng = np.random.default_rng(1)
    y = rng.random(1_000_000) < 0.3
    score = expit(np.where(y, 0.2 + 0.9 * rng.standard_normal(len(y)), -1.5 + 1.2 * rng.standard_normal(len(y))))
    assert metric_of("brier", law, link=expit)[0] == pytest.approx(((score - y) ** 2).mean(), abs=1e-3)
    assert metric_of("calibration", law, link=expit)[0] == pytest.approx((y - score).mean(), abs=1.5e-3)


def test_one_class_alone() -> None:
    law = ScoreLaw(*(np.array([value]) for value in (0.0, -1.0, 1.0, 1.0, 1.0)))
    assert np.isfinite(metric_of("fnr", law, 0.0)).all()
    assert metric_of("ppv", law, 0.0)[0] == 0.0
    assert metric_of("sel", law, -np.inf)[0] == 1.0
    assert np.isnan(metric_of("npv", law, -np.inf)[0])


@pytest.mark.parametrize("name", ["sel", "fnr", "fpr", "acc", "ppv", "npv", "f1", "auc"])
def test_rows_of_one_law_give_the_law(name: str) -> None:
    y = np.array([1.0, 0, 0, 1, 0])
    mean, sd = np.where(y == 1, 0.5, -0.5), np.where(y == 1, 1.2, 0.8)
    law = ScoreLaw(np.array(0.4), np.array(-0.5), np.array(0.5), np.array(0.8), np.array(1.2))
    assert rows_metric(name, y, mean, sd, 0.1) == pytest.approx(float(metric_of(name, law, 0.1)), rel=1e-12)


def test_rows_with_laws_of_their_own() -> None:
    y, mean, sd = np.array([1.0, 1, 0, 0, 0]), np.array([0.8, -0.2, -1, -0.4, -2]), np.array([1, 1, 0.8, 0.8, 0.8])
    values = [float(rows_metric(name, y, mean, sd, 0.0)) for name in ("sel", "fnr", "fpr", "acc", "ppv", "auc")]
    assert values == pytest.approx([0.325856, 0.395558, 0.140132, 0.757698, 0.741974, 0.824559], abs=6e-7)


def test_rows_can_be_weighted() -> None:
    y, mean, sd = np.array([1.0, 0.0, 0.0]), np.array([1.0, 0.0, -1.0]), np.ones(3)
    twice = rows_metric("auc", y, mean, sd, weight=np.array([[1.0, 1.0, 0.0], [2.0, 1.0, 1.0]]))
    assert twice.shape == (2,)
    assert twice[0] == pytest.approx(rows_metric("auc", y[:2], mean[:2], sd[:2]))


def test_what_cannot_be_asked() -> None:
    law = _laws(1)
    with pytest.raises(InputError, match="'mean' is no functional"):
        metric_of("mean", law)
    with pytest.raises(InputError, match="needs a threshold"):
        metric_of("fnr", law)
    with pytest.raises(InputError, match="needs the score as a probability"):
        metric_of("brier", law)


@pytest.mark.parametrize("name", [*DECISIONS, "auc"])
def test_parts_of_a_law_broadcast(name: str) -> None:
    prevalence, sd = np.array([[0.2], [0.4]]), np.array([0.5, 1.0, 2.0])
    means = np.array([-0.5]), np.array([0.7])
    together = metric_of(name, ScoreLaw(prevalence, *means, sd, 2 * sd), 0.2)
    alone = metric_of(name, ScoreLaw(*np.broadcast_arrays(prevalence, *means, sd, 2 * sd)), 0.2)
    assert np.array_equal(np.broadcast_to(together, alone.shape), alone)
