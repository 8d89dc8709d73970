"""Small tallies, and a log density that compiles in a moment."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
import xarray as xr

CELLS = ("metric", "subgroup")


@pytest.fixture
def make_tally() -> Callable[..., xr.Dataset]:
    """Assemble a tally; without ``estimate`` the metrics are rates of ``successes``."""

    def make(
        count: Sequence[Sequence[float]],
        *,
        successes: Sequence[Sequence[float]] | None = None,
        estimate: Sequence[Sequence[float]] | None = None,
        kind: Sequence[str] = ("rate",),
        row_variance: float = 0.16,
        upper: Sequence[float] = (1.0,),
    ) -> xr.Dataset:
        n = np.asarray(count, dtype=np.float64)
        with np.errstate(all="ignore"):
            k = np.full(n.shape, np.nan) if successes is None else np.asarray(successes, dtype=np.float64)
            z = k / n if estimate is None else np.asarray(estimate, dtype=np.float64)
            variance = np.where(np.isfinite(z), row_variance / n, np.nan)
        return xr.Dataset(
            {
                "count": (CELLS, n),
                "successes": (CELLS, k),
                "estimate": (CELLS, z),
                "sampling_variance": (CELLS, variance),
                "pooled_variance": ("metric", np.full(n.shape[0], row_variance)),
                "kind": ("metric", list(kind)),
                "range_lower": ("metric", np.zeros(n.shape[0])),
                "range_upper": ("metric", list(upper)),
            },
            coords={
                "metric": ["fnr", "wer", "auc"][: n.shape[0]],
                "subgroup": ["a", "b", "c", "d", "e"][: n.shape[1]],
            },
        )

    return make


@pytest.fixture
def rates(make_tally: Callable[..., xr.Dataset]) -> xr.Dataset:
    """One rate of three subgroups, the last of them empty."""
    return make_tally([[20, 7, 0]], successes=[[4, 6, 0]])


@pytest.fixture
def means(make_tally: Callable[..., xr.Dataset]) -> xr.Dataset:
    """One mean without an upper bound, of three subgroups, the last of them empty: centre .35, scale .4."""
    return make_tally([[30, 10, 0]], estimate=[[0.3, 0.5, np.nan]], kind=["mean"], upper=[np.inf])


@pytest.fixture
def mixed(make_tally: Callable[..., xr.Dataset]) -> xr.Dataset:
    """A mean between two metrics of other kinds: rate, mean, AUC."""
    return make_tally(
        [[20, 7, 0], [30, 10, 0], [9, 0, 4]],
        successes=[[4, 6, 0], [np.nan] * 3, [np.nan] * 3],
        estimate=[[0.2, 6 / 7, np.nan], [0.3, 0.5, np.nan], [0.7, np.nan, 0.9]],
        kind=["rate", "mean", "auc"],
        upper=[1.0, np.inf, 1.0],
    )


@pytest.fixture
def weighted(make_tally: Callable[..., xr.Dataset]) -> xr.Dataset:
    """A rate from weighted rows: counts are not whole."""
    return make_tally([[20.5, 7.25, 0]], successes=[[4.5, 6.0, 0]])


@pytest.fixture
def log_density() -> Callable[..., float]:
    """Log density of a model at a point of its parameters, without the Jacobians of its transforms."""
    from pytensor.compile.mode import Mode

    def evaluate(model: Any, **point: Any) -> float:
        value_names = {model.rvs_to_values[variable].name: variable.name for variable in model.free_RVs}
        into: dict[str, Callable[[Any], Any]] = {
            "_log__": np.log,
            "_logodds__": lambda p: np.log(p) - np.log1p(-p),
        }
        start = {}
        for value_name, name in value_names.items():
            to_value = next((into[ending] for ending in into if value_name.endswith(ending)), np.asarray)
            start[value_name] = to_value(np.asarray(point[name], dtype=np.float64))
        # Plain Python code: no compiler is started.
        density = model.compile_logp(jacobian=False, mode=Mode(linker="py", optimizer="fast_run"))
        return float(density(start))

    return evaluate


@pytest.fixture
def latent_form() -> Callable[..., tuple[np.ndarray, float]]:
    """Latent numbers of effects ``location + spread standard``, and what the change adds to their log density."""

    def change(
        standard: np.ndarray, location: Any, spread: Any, estimate: np.ndarray, precision: np.ndarray
    ) -> tuple[np.ndarray, float]:
        root = np.sqrt(1 + np.asarray(spread) ** 2 * precision)
        latent = root * standard - np.asarray(spread) * precision * (estimate - np.asarray(location)) / root
        return latent, -float(np.log(root).sum())

    return change


@pytest.fixture
def joint_form() -> Callable[..., tuple[np.ndarray, float]]:
    """Latent numbers of coefficients ``spread standard`` of a design, and what the change adds to their log density."""

    def change(
        standard: np.ndarray, x: np.ndarray, score: np.ndarray, precision: np.ndarray, spread: np.ndarray
    ) -> tuple[np.ndarray, float]:
        latent, gained = np.empty_like(standard), 0.0
        for m, numbers in enumerate(standard):
            scaled = x * spread[m]
            root = np.linalg.cholesky(np.eye(x.shape[1]) + scaled.T @ (precision[m, :, None] * scaled))
            latent[m] = root.T @ numbers - np.linalg.solve(root, scaled.T @ score[m])
            gained -= float(np.linalg.slogdet(root)[1])
        return latent, gained

    return change
