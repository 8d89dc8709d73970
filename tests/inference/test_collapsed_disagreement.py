"""The exact engine of disagreement feedback: its factors, its metrics, and what it may never claim."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from scipy.stats import beta, kstest

import bayesgroups as bg
from bayesgroups.inference.collapsed.disagreement import destinations, metrics, sample

CELL = ("label", "subgroup")
AGREE = np.array([[40.0, 8.0], [18.0, 12.0], [10.0, 3.0]])
DISAGREE = np.array([[10.0, 4.0], [12.0, 2.0], [10.0, 5.0]])
BOUNDED = {"tpr": "equal_opportunity", "fpr": "predictive_equality", "fnr": "overall_misclassification"}


def tally(labels: int = 3, *, times: float = 1.0) -> xr.Dataset:
    names = list("abc")[:labels]
    rows = pd.DataFrame(
        [(sex, name, s) for sex in "fm" for name in names for s in (0, 1)], columns=["sex", "said", "no"]
    )
    found = bg.disagreement_tally(rows, ["sex"], "said", "no")
    return found.assign(agreements=(CELL, times * AGREE[:labels]), disagreements=(CELL, times * DISAGREE[:labels]))


def _draws(given: xr.Dataset, **settings: Any) -> xr.DataArray:
    mu = sample(given, seed=1, **settings).draws["mu"]
    dims = ("sample", "metric", "subgroup")
    values = mu.values.reshape(-1, *mu.shape[2:])
    return xr.DataArray(values, {name: mu[name].values for name in dims[1:]}, dims)


def test_metrics_are_those_of_the_joint_law() -> None:
    random = np.random.default_rng(1)
    rate, shares = random.random((2, 3, 2)), random.dirichlet(np.ones(3), (2, 2)).transpose(0, 2, 1)
    sent = destinations(3, 2, 1.0, random, 2)
    found = metrics(tally(), rate, shares, sent)
    for i in range(2):
        for g in range(2):
            joint = sent[i, :, :, g].T * (rate[i, :, g] * shares[i, :, g])  # in mind, given
            joint += np.diag((1 - rate[i, :, g]) * shares[i, :, g])
            right, meant, said = np.diag(joint), joint.sum(axis=1), joint.sum(axis=0)
            columns = [right / said, right / meant, (said - right) / (1 - meant), (meant - right) / meant]
            np.testing.assert_allclose(found[i, :, g], np.concatenate([[right.sum()], *columns]), rtol=1e-9)


@pytest.mark.parametrize("size", [2, 3, 5])
def test_destinations_are_laws_over_the_other_labels(size: int) -> None:
    found = destinations(size, 3, 2.0, np.random.default_rng(1), 4000)
    np.testing.assert_allclose(found.sum(axis=2), 1.0)
    assert (found[:, range(size), range(size)] == 0).all()
    np.testing.assert_allclose(found[:, 0, 1:].mean(axis=0), 1 / (size - 1), atol=0.03)


def test_disagreement_rates_are_pooled_between_subgroups() -> None:
    alone = AGREE[2] / (AGREE + DISAGREE)[2]
    mean = _draws(tally()).mean("sample").sel(metric="ppv[c]")
    assert 0 < float(mean[0] - mean[1]) < 0.8 * (alone[0] - alone[1])


def test_shares_are_dirichlet() -> None:
    """P(y = k) is what calibration and the joint law leave: here accuracy against its parts."""
    found = _draws(tally(times=1000.0))
    truth = AGREE.sum(axis=0) / (AGREE + DISAGREE).sum(axis=0)
    np.testing.assert_allclose(found.sel(metric="acc").mean("sample"), truth, atol=2e-3)


def test_shares_have_the_prior_of_jeffreys() -> None:
    """Accuracy is a mixture of the two labels' calibrations, so each draw of the three gives the share back."""
    few = tally(2).assign(
        agreements=(CELL, np.array([[1.0, 2.0], [3.0, 0.0]])), disagreements=(CELL, np.array([[0.0, 1.0], [2.0, 0.0]]))
    )
    draws = _draws(few)
    first, second = draws.sel(metric="ppv[a]"), draws.sel(metric="ppv[b]")
    share = ((draws.sel(metric="acc") - second) / (first - second)).values
    for subgroup, (a, b) in enumerate([(1.5, 5.5), (3.5, 0.5)]):
        assert kstest(share[:, subgroup], beta(a, b).cdf).pvalue > 1e-3


@pytest.mark.parametrize("destination", [0.2, 1.0, 20.0])
def test_more_data_never_claim_more_than_the_sharp_bounds_allow(destination: float) -> None:
    # What the prior of destinations leaves open when shares and rates are known: the limit of ever more data.
    total = AGREE + DISAGREE
    rate, share = (np.broadcast_to(part, (4000, 3, 2)) for part in (DISAGREE / total, total / total.sum(axis=0)))
    limit = metrics(tally(), rate, share, destinations(3, 2, destination, np.random.default_rng(3), 4000))
    for times in (1.0, 100.0, 100_000.0):
        given = tally(times=times)
        draws = _draws(given, destination=destination)
        width = draws.quantile(0.975, "sample") - draws.quantile(0.025, "sample")
        least = np.ptp(np.quantile(limit, [0.025, 0.975], axis=0), axis=0)
        open_still = np.array([str(name)[:3] in BOUNDED for name in given["metric"].values])
        assert (width.values[open_still] > 0.9 * least[open_still]).all()
    for name, notion in BOUNDED.items():
        exact = bg.disagreement_bounds(given, notion)  # type: ignore[arg-type]
        for label in "abc":
            own, ends = draws.sel(metric=f"{name}[{label}]"), exact.sel(label=label)
            # The draws fill the bounds and never leave them.
            assert (own >= ends["lower"] - 5e-3).all()
            assert (own <= ends["upper"] + 5e-3).all()
    # What is known exactly becomes certain.
    assert float(draws.sel(metric=["acc", "ppv[a]"]).std("sample").max()) < 1e-2


def test_a_wider_prior_fills_more_of_the_bounds() -> None:
    width = {}
    for destination in (0.05, 1.0, 50.0):
        draws = _draws(tally(times=1000.0), destination=destination).sel(metric="tpr[a]")
        width[destination] = draws.quantile(0.975, "sample") - draws.quantile(0.025, "sample")
    assert (width[0.05] > width[1.0]).all()
    assert (width[1.0] > width[50.0]).all()
    ends = bg.disagreement_bounds(tally(times=1000.0), "equal_opportunity").sel(label="a")
    assert (width[0.05] > 0.9 * (ends["upper"] - ends["lower"])).all()


def test_two_labels_are_identified() -> None:
    given = tally(2, times=10_000.0)
    exact = bg.disagreement_bounds(given, "predictive_equality")
    found = _draws(given, destination=3.0).sel(metric=["fpr[a]", "fpr[b]"])
    np.testing.assert_allclose(found.mean("sample"), exact["lower"], atol=2e-3)
    assert float(found.std("sample").max()) < 5e-3


def test_an_empty_label_and_an_empty_subgroup() -> None:
    given = tally()
    for name in ("agreements", "disagreements"):
        given[name][2, :] = 0.0
        given[name][:, 1] = 0.0
    found = sample(given, seed=1)
    assert np.isfinite(found.draws["mu"].values).all()
    assert all(check.passed for check in found.checks)
    spread = found.draws["mu"].sel(metric="acc").std(("chain", "draw"))
    assert float(spread[1]) > 2 * float(spread[0])
