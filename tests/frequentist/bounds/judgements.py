"""Judgements of critics who differ in leniency about items that differ in difficulty."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import xarray as xr

import bayesgroups as bg


def crossed(seed: int, *, critics: int = 30, items: int = 40, spread: float = 1.5) -> pd.DataFrame:
    """Every critic judges every item; critics differ in leniency, items in difficulty."""
    random = np.random.default_rng(seed)
    critic, item = np.divmod(np.arange(critics * items), items)
    said = random.integers(0, 3, items)
    logit = -0.8 + spread * random.normal(size=critics)[critic] + 0.7 * spread * random.normal(size=items)[item]
    return pd.DataFrame(
        {
            "sex": np.array(["f", "m"])[item % 2],
            "said": np.array(list("abc"))[said[item]],
            "disagrees": (random.random(len(item)) < 1 / (1 + np.exp(-logit))).astype(int),
            "critic": critic,
            "item": item,
        }
    )


def tally_of(rows: pd.DataFrame, **options: Any) -> xr.Dataset:
    return bg.disagreement_tally(rows, {"sex": ["f", "m", "x"]}, "said", "disagrees", **options)
