"""NUTS on the PyMC model and the exact engine are two ways to one posterior with flat priors."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import xarray as xr

import bayesgroups as bg
from bayesgroups.datasets import STUDY_SIZES


def table(size: int) -> pd.DataFrame:
    return pd.DataFrame({"site": [f"s{i:02d}" for i in range(size)]})


def rates() -> xr.Dataset:
    """The published sizes, the largest left out: an empty subgroup, and small ones at the bounds of the range."""
    rng = np.random.default_rng(12)
    size = np.array(sorted(STUDY_SIZES)[:16] + [0])
    rate = 1 / (1 + np.exp(-(-1.2 + 0.6 * rng.standard_normal(len(size)))))
    return bg.tally_from_counts(rng.binomial(size, rate), size, table(len(size)), metric="fnr")


def three() -> xr.Dataset:
    return bg.tally_from_counts([3, 8, 4, 0], [10, 15, 30, 0], table(4), metric="fnr")


def pair() -> xr.Dataset:
    return three().isel(subgroup=[1, 2, 3])


@pytest.mark.parametrize(
    ("tally", "centre"),
    [
        pytest.param(rates(), None, marks=pytest.mark.slow),
        pytest.param(three(), None, marks=pytest.mark.slow),
        pytest.param(rates(), 0.3, marks=pytest.mark.slow),
        pytest.param(pair(), 0.3, marks=pytest.mark.slow),
    ],
    ids=["population", "alone", "known", "alone_known"],
)
def test_the_two_engines_agree_within_monte_carlo_error(tally: xr.Dataset, centre: float | None) -> None:
    import arviz as az

    exact = bg.estimate(tally, bg.JamesStein(centre=centre), seed=1, inference="collapsed")
    nuts = bg.estimate(tally, bg.JamesStein(centre=centre), seed=1, inference="nuts")
    assert (exact.attrs["inference"], nuts.attrs["inference"]) == ("collapsed", "nuts")
    assert nuts.attrs["usable"] == 1
    one, two = exact["posterior"].to_dataset(), nuts["posterior"].to_dataset()
    assert set(one.data_vars) == set(two.data_vars) == {"mu", "overall", "tau"}
    if centre is not None:
        assert (one["overall"] == centre).all()
        assert (two["overall"] == centre).all()
        one, two = one.drop_vars("overall"), two.drop_vars("overall")

    def z_scores(statistic: str, first: xr.Dataset, second: xr.Dataset, **options: float) -> np.ndarray:
        error = [az.mcse(data, method=statistic, **options) for data in (one, two)]
        parts = [
            ((first[name] - second[name]) / np.sqrt(error[0][name] ** 2 + error[1][name] ** 2)).values.ravel()
            for name in one.data_vars
        ]
        return np.concatenate(parts)

    dims = ("chain", "draw")
    z = z_scores("mean", one.mean(dims), two.mean(dims))
    assert np.sqrt((z**2).mean()) < 1.6
    assert np.abs(z).max() < 4.5
    # A quantile at a bound of the range is the same number twice.
    inside = {p: (one.quantile(p, dims).drop_vars("quantile"), two.quantile(p, dims).drop_vars("quantile")) for p in
              (0.05, 0.5, 0.95)}  # fmt: skip
    for probability, (first, second) in inside.items():
        z = z_scores("quantile", first, second, prob=probability)
        z = z[np.isfinite(z)]
        assert np.sqrt((z**2).mean()) < 1.7
        assert np.abs(z).max() < 5
