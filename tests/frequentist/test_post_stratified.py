"""Worked numbers of rates that few gold labels correct: post-stratification, prediction-powered inference, Rogan and Gladen."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import stats

from bayesgroups.frequentist.intervals import post_stratified as limits
from bayesgroups.frequentist.intervals.interval import normal_quantile
from bayesgroups.frequentist.intervals.prediction_powered import of_columns, of_counts, prediction_powered, tuned_weight
from bayesgroups.frequentist.intervals.rogan_gladen import Calibration, rogan_gladen, rogan_gladen_interval
from bayesgroups.tallies.post_stratified import needs_labels, post_stratified, smoothed

GOLDEN = json.loads((Path(__file__).parents[1] / "golden" / "labels" / "q_labels.json").read_text("utf-8"))
PREV = np.array([[0.0, 0.0], [1.0, 1.0]]), np.ones((2, 2))
TPR = np.array([[0.0, 0.0], [0.0, 1.0]]), np.array([[0.0, 0.0], [1.0, 1.0]])
TNR = np.array([[1.0, 0.0], [0.0, 0.0]]), np.array([[1.0, 1.0], [0.0, 0.0]])
ACC = np.eye(2), np.ones((2, 2))
PPV = np.array([[0.0, 0.0], [0.0, 1.0]]), np.array([[0.0, 1.0], [0.0, 1.0]])
SEL = np.array([[0.0, 1.0], [0.0, 1.0]]), np.ones((2, 2))
BIAS = np.array([[0.0, 1.0], [-1.0, 0.0]]), np.ones((2, 2))


def counts(case: str) -> tuple[np.ndarray, np.ndarray]:
    c = GOLDEN[case]["counts"]
    decisions = np.array([[c["n"] - c["sel"], c["sel"]]], dtype=float)
    return decisions, np.array([[[c["m0"] - c["y0"], c["m1"] - c["y1"]], [c["y0"], c["y1"]]]], dtype=float)


@pytest.mark.parametrize("case", ["begg_greenes_hepatic", "small_cell"])
def test_rates_and_their_limits_are_those_of_the_literature(case: str) -> None:
    decisions, cells = counts(case)
    wanted = GOLDEN[case]
    rate = post_stratified(decisions, cells, *PREV)
    np.testing.assert_allclose(rate.estimate, wanted["rate"], rtol=1e-12)
    np.testing.assert_allclose(np.sqrt(rate.variance), wanted["rate_se"], rtol=1e-10)
    for found, key in (
        (limits.delta(decisions, cells, *PREV, 0.95), "rate_wald"),
        (limits.mover(decisions, cells, PREV[0], 0.95), "rate_mover"),
        (limits.logit_delta(decisions, cells, *PREV, 0.95), "rate_logit"),
        (limits.logit_delta(decisions, cells, *TPR, 0.95), "sens_interval"),
        (limits.logit_delta(decisions, cells, *TNR, 0.95), "spec_interval"),
    ):
        np.testing.assert_allclose([found.lower[0], found.upper[0]], wanted[key], atol=1e-8)
    for form, key in ((TPR, "sens"), (TNR, "spec")):
        value = post_stratified(decisions, cells, *form)
        np.testing.assert_allclose(value.estimate, wanted[key], rtol=1e-12)
        logit_error = np.sqrt(value.variance) / (value.estimate * (1 - value.estimate))
        np.testing.assert_allclose(logit_error, wanted[f"{key}_logit_se"], rtol=1e-10)
    naive = cells[:, 1, 1] / cells[:, 1].sum(axis=1)
    np.testing.assert_allclose(naive, wanted["complete_case_sens"])  # verification bias: not what is answered
    assert abs(post_stratified(decisions, cells, *TPR).estimate - naive)[0] > 0.04


def test_with_all_labels_it_is_the_plug_in_and_its_variance() -> None:
    rng = np.random.default_rng(2)
    cells = rng.integers(1, 9, (5, 3, 3)).astype(float)
    n = cells.sum(axis=(1, 2))
    share = np.eye(3)[0][:, None] * np.ones((1, 3))
    rate = post_stratified(cells.sum(axis=1), cells, share, np.ones((3, 3)))
    k = cells[:, 0].sum(axis=1)
    np.testing.assert_allclose(rate.estimate, k / n)
    np.testing.assert_allclose(rate.variance, k / n * (1 - k / n) / n)
    ratio = post_stratified(cells.sum(axis=1), cells, np.eye(3) * share, share)
    m = cells[:, 0].sum(axis=1)
    np.testing.assert_allclose(ratio.variance, (cells[:, 0, 0] / m) * (1 - cells[:, 0, 0] / m) / m)


def test_the_variance_is_that_of_simulated_tables() -> None:
    rng, draws = np.random.default_rng(5), 40_000
    n, s, m, q = 200, np.array([0.6, 0.4]), np.array([30, 20]), np.array([0.2, 0.7])
    decided = rng.multinomial(n, s, draws).astype(float)
    positive = np.stack([rng.binomial(m[d], q[d], draws) for d in (0, 1)], axis=1).astype(float)
    cells = np.stack([m - positive, positive], axis=1)
    exact = np.array([[[24.0, 6.0], [6.0, 14.0]]])
    for form in (PREV, TPR, TNR, ACC, BIAS):
        drawn = post_stratified(decided, cells, *form).estimate.var()
        law = post_stratified(n * s[None], exact, *form).variance[0]
        assert drawn == pytest.approx(law, rel=0.06)


def test_decisions_that_a_metric_does_not_read_need_no_label() -> None:
    assert needs_labels(*SEL).tolist() == [False, False]
    assert needs_labels(*TPR).tolist() == [True, True]
    decisions, cells = np.array([[30.0, 10.0]]), np.array([[[4.0, 0.0], [2.0, 0.0]]])
    assert post_stratified(decisions, cells, *SEL).estimate[0] == 0.25
    assert np.isnan(post_stratified(decisions, cells, *PPV).estimate[0])
    assert np.isnan(post_stratified(decisions, cells, *PREV).variance[0])
    nobody = np.array([[30.0, 0.0]])
    assert post_stratified(nobody, cells, *PREV).estimate[0] == pytest.approx(1 / 3)


def test_limits_do_not_collapse_where_labels_agree_and_are_mirrored() -> None:
    decisions, cells = np.array([[50.0, 40.0]]), np.array([[[6.0, 0.0], [0.0, 6.0]]])
    for found in (
        limits.mover(decisions, cells, PREV[0], 0.95),
        limits.logit_delta(decisions, cells, *TPR, 0.95),
        limits.delta(decisions, cells, *PREV, 0.95),
    ):
        assert (found.upper - found.lower)[0] > 0.2
    small = counts("small_cell")
    found = limits.mover(*small, PREV[0], 0.9)
    turned = limits.mover(small[0][:, ::-1], small[1][:, ::-1, ::-1], PREV[0], 0.9)
    np.testing.assert_allclose([turned.lower, turned.upper], [1 - found.upper, 1 - found.lower])


def test_a_decision_without_a_label_leaves_limits_only_if_asked() -> None:
    decisions, cells = np.array([[60.0, 40.0]]), np.array([[[6.0, 0.0], [2.0, 0.0]]])
    assert np.isnan(limits.mover(decisions, cells, PREV[0], 0.95).lower[0])
    free = limits.mover(decisions, cells, PREV[0], 0.95, unlabelled=True)
    alone = stats.norm.ppf(0.975)
    assert free.lower[0] < 0.6 * 0.25 < 0.6 * 0.25 + 0.4 < free.upper[0]
    assert normal_quantile(0.95) == pytest.approx(alone)


def test_three_decisions_have_limits_as_wide_as_their_delta_method_says() -> None:
    decisions = np.array([[300.0, 400.0, 300.0]])
    cells = np.array([[[80.0, 50.0, 20.0], [10.0, 40.0, 10.0], [10.0, 10.0, 70.0]]])
    form = np.array([[1.0] * 3, [0.0] * 3, [0.0] * 3])
    mover, delta = (
        limits.mover(decisions, cells, form, 0.95),
        limits.delta(decisions, cells, form, np.ones((3, 3)), 0.95),
    )
    assert (mover.upper - mover.lower)[0] == pytest.approx((delta.upper - delta.lower)[0], rel=0.02)


def test_more_rows_smooth_a_table_evenly() -> None:
    assert smoothed(np.zeros((1, 2, 2))).sum(axis=1).tolist() == [[1.0, 1.0]]


def test_prediction_powered_means_are_those_of_ppi_python() -> None:
    decisions, cells = counts("small_cell")
    wanted = GOLDEN["small_cell"]
    moments = of_counts(cells[:, 1], cells.sum(axis=1), decisions)
    z = normal_quantile(0.95)
    for lam, key in (
        (1.0, "ppi_lambda_1"),
        (0.0, "gold_only_lambda_0"),
        (wanted["lambda_identity"], "ppi_at_identity"),
    ):
        estimate, error = prediction_powered(*moments, lam)
        np.testing.assert_allclose([estimate[0], error[0]], [wanted[key]["estimate"], wanted[key]["se"]], rtol=1e-9)
        np.testing.assert_allclose(
            [estimate[0] - z * error[0], estimate[0] + z * error[0]], wanted[key]["interval"], atol=1e-8
        )
    lam = tuned_weight(*moments)
    assert lam[0] == pytest.approx(wanted["lambda_tuned_formula"], rel=1e-10)
    estimate, error = prediction_powered(*moments, lam)
    np.testing.assert_allclose(
        [estimate[0] - z * error[0], estimate[0] + z * error[0]], wanted["ppi_tuned_by_ppi_py"]["interval"], atol=1e-8
    )


def test_at_one_weight_prediction_powered_inference_is_post_stratification() -> None:
    rng = np.random.default_rng(8)
    for _ in range(50):
        labelled = rng.integers(1, 30, (1, 2)).astype(float)
        judged = labelled + rng.integers(1, 200, (1, 2)).astype(np.float64)
        positive = np.floor(labelled * rng.random((1, 2)))
        cells = np.stack([labelled - positive, positive], axis=1)
        ppv = positive / labelled
        m, rest = labelled.sum(), (judged - labelled).sum()
        lam = (ppv[:, 1] - ppv[:, 0]) * rest / (m + rest)
        estimate, _ = prediction_powered(*of_counts(positive, labelled, judged), lam)
        np.testing.assert_allclose(estimate, post_stratified(judged, cells, *PREV).estimate, rtol=1e-12)


def test_a_continuous_judge_has_the_numbers_of_ppi_python() -> None:
    wanted = GOLDEN["continuous_judge"]
    y, i = np.array(wanted["Y"]), np.arange(1, 13)
    moments = of_columns(y, (i * 7 % 13) / 13, ((np.arange(60) * 17 + 5) % 61) / 61)
    z = normal_quantile(0.95)
    assert tuned_weight(*moments)[0] == pytest.approx(wanted["lambda_tuned_formula"], rel=1e-10)
    for lam, key in ((0.0, "lambda_0"), (1.0, "lambda_1"), (tuned_weight(*moments), "tuned")):
        estimate, error = prediction_powered(*moments, lam)
        assert estimate[0] == pytest.approx(wanted[key]["estimate"], abs=1e-10)
        np.testing.assert_allclose(
            [estimate[0] - z * error[0], estimate[0] + z * error[0]], wanted[key]["interval"], atol=1e-8
        )


def test_judgements_that_are_all_alike_have_no_weight() -> None:
    moments = of_counts(np.array([[3.0, 0.0]]), np.array([[8.0, 0.0]]), np.array([[50.0, 0.0]]))
    assert tuned_weight(*moments)[0] == 0.0
    assert prediction_powered(*moments, 0.0)[0][0] == 0.375


@pytest.mark.parametrize("case", GOLDEN["rogan_gladen"], ids=lambda case: str(case["args"][0]))
def test_rogan_gladen_has_the_digits_of_its_authors(case: dict[str, Any]) -> None:
    judged, specificity, sensitivity, *sizes = (np.array([float(value)]) for value in case["args"])
    given = Calibration(judged, specificity, sensitivity, *sizes)
    estimate, error = rogan_gladen(given)
    assert [estimate[0], error[0]] == pytest.approx([case["theta"], case["delta_se"]], rel=1e-12)
    found = rogan_gladen_interval(given, 0.95)
    np.testing.assert_allclose([found.lower[0], found.upper[0]], case["interval"], atol=1e-8)


def test_a_judge_that_tells_nothing_has_no_answer() -> None:
    given = Calibration(*(np.array([value]) for value in (0.4, 0.4, 0.6, 100.0, 20.0, 20.0)))
    assert np.isnan(rogan_gladen(given)[0][0])
    assert np.isnan(rogan_gladen_interval(given, 0.95).lower[0])


def test_a_pooled_sensitivity_invents_a_gap() -> None:
    wanted = GOLDEN["spurious_gap"]
    judged, sizes = np.array(wanted["judged"]), np.full(2, 1e9)
    pooled = Calibration(judged, np.full(2, 0.9), np.full(2, 0.8), sizes, sizes, sizes)
    np.testing.assert_allclose(rogan_gladen(pooled)[0], wanted["corrected_with_pooled_sensitivity"])
    apart = Calibration(judged, np.full(2, 0.9), np.array([0.9, 0.7]), sizes, sizes, sizes)
    np.testing.assert_allclose(rogan_gladen(apart)[0], wanted["truth"])
