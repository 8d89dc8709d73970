"""Observed cells, and the likelihood of each."""

from __future__ import annotations

from typing import Any, cast

import numpy as np
import pymc as pm
import pytest
import xarray as xr
from pytensor.compile.mode import Mode

from bayesgroups.models.likelihoods import observe_successes
from bayesgroups.models.shared.cells import BinomialCells, Likelihood, binomial_cells, binomial_metrics, normal_cells

FAST = Mode(linker="py", optimizer="fast_compile")
ALL = np.array([True, True, True])


@pytest.mark.parametrize(("likelihood", "expected"), [("auto", [True, False, False]), ("normal", [False] * 3)])
def test_rates_are_binomial_unless_told(mixed: xr.Dataset, likelihood: Likelihood, expected: list[bool]) -> None:
    assert binomial_metrics(mixed, likelihood).tolist() == expected


def test_binomial_is_for_rates_only(mixed: xr.Dataset, rates: xr.Dataset) -> None:
    assert binomial_metrics(rates, "binomial").tolist() == [True]
    with pytest.raises(ValueError, match=r"needs rates; 'wer', 'auc' is none: use likelihood='auto'"):
        binomial_metrics(mixed, "binomial")


def test_an_unknown_likelihood_is_refused(rates: xr.Dataset) -> None:
    with pytest.raises(ValueError, match="must be one of auto, binomial, normal; got 'poisson'"):
        binomial_metrics(rates, cast("Any", "poisson"))


def test_empty_cells_are_left_out(mixed: xr.Dataset) -> None:
    counts = binomial_cells(mixed, ALL)
    assert counts.label == ["fnr | a", "fnr | b"]
    assert counts.successes.tolist() == [4.0, 6.0]
    estimates = normal_cells(mixed, np.array([False, True, True]), np.ones(3))
    assert estimates.label == ["wer | a", "wer | b", "auc | a", "auc | c"]
    assert estimates.metric.tolist() == [1, 1, 2, 2]
    assert estimates.subgroup.tolist() == [0, 1, 0, 2]
    np.testing.assert_allclose(estimates.std_error, np.sqrt(0.16 / np.array([30, 10, 9, 4])))


def test_dims_may_come_in_any_order(mixed: xr.Dataset) -> None:
    assert binomial_cells(mixed.transpose("subgroup", "metric"), ALL).label == ["fnr | a", "fnr | b"]


def test_an_estimate_known_exactly_keeps_a_width(means: xr.Dataset) -> None:
    exact = means.assign(sampling_variance=means["sampling_variance"] * 0)
    cells = normal_cells(exact, np.array([True]), np.array([0.4]))
    np.testing.assert_allclose(cells.std_error, 0.4e-6)


def test_counts_that_are_not_whole_are_drawn_on_their_scale() -> None:
    """Draws have the mean of the continued density and about its spread, and no more successes than there are rows."""
    cells = BinomialCells(
        np.arange(2), np.zeros(2, int), ["fnr | a", "fnr | b"], np.array([1.0, 9.3]), np.array([2.4, 30.6])
    )
    with pm.Model() as model:
        observe_successes(cells, np.array([0.3, 0.7]))
    drawn = np.asarray(pm.draw(model["successes"], draws=20_000, random_seed=1, mode=FAST))
    assert (drawn <= cells.count).all()
    assert drawn.mean(axis=0) == pytest.approx(cells.count * [0.3, 0.7], rel=0.02)
    assert drawn.var(axis=0) == pytest.approx(cells.count * 0.21, rel=0.25)
