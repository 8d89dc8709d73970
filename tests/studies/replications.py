"""Replications of a conjugate model, right and wrong, as functions of a module that processes can import."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

ROWS = 12
Parts = tuple[dict[str, float], dict[str, NDArray[np.float64]]]


def conjugate(rng: np.random.Generator, draws: int = 99, counted: int = 1) -> Parts:
    """A rate with a uniform prior and the posterior of its rows, which are counted so many times."""
    rate = rng.uniform()
    hits = rng.binomial(ROWS, rate)
    drawn = rng.beta(1 + counted * hits, 1 + counted * (ROWS - hits), size=draws)
    truth = {"rate": rate, "log_likelihood": float(log_likelihood(np.array(rate), hits))}
    return truth, {"rate": drawn, "log_likelihood": log_likelihood(drawn, hits)}


def with_fit(rng: np.random.Generator) -> tuple[dict[str, float], dict[str, NDArray[np.float64]], dict[str, float]]:
    """The same, with a number of the fit."""
    truth, draws = conjugate(rng)
    return truth, draws, {"k_hat": float(draws["rate"].mean())}


def log_likelihood(rate: NDArray[np.float64], hits: int) -> NDArray[np.float64]:
    """Of rates, given successes."""
    return np.asarray(hits * np.log(rate) + (ROWS - hits) * np.log1p(-rate), dtype=np.float64)
