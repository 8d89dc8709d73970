"""A small population for tests of studies, and estimators that fresh processes can import."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import xarray as xr

from bayesgroups.data.metrics import Metric
from bayesgroups.frequentist import no_pooling
from bayesgroups.studies.populations import Population


def people(seed: int = 3) -> pd.DataFrame:
    """Six subgroups of 30 to 400 people, with an outcome, a score and a loss."""
    random = np.random.default_rng(seed)
    sizes = {("a", "f"): 400, ("a", "m"): 300, ("b", "f"): 120, ("b", "m"): 80, ("c", "f"): 45, ("c", "m"): 30}
    rows = [key for key, size in sizes.items() for _ in range(size)]
    level = np.array([{"a": 0.2, "b": 0.35, "c": 0.5}[race] for race, _ in rows])
    y = (random.random(len(rows)) < level).astype(int)
    score = 0.4 * y + random.random(len(rows))
    frame = pd.DataFrame(rows, columns=["race", "sex"])
    return frame.assign(y=y, score=score, wrong=(score >= 0.7) != y, loss=random.gamma(2.0, level), unused=1)


def population(**changes: Any) -> Population:
    """Rates of the people, drawn with replacement."""
    settings: dict[str, Any] = {
        "name": "people",
        "frame": people().astype({"wrong": int}),
        "by": {"race": ("a", "b", "c"), "sex": ("f", "m")},
        "metrics": ("fnr", Metric("wrong", value="wrong", kind="rate"), Metric("loss", value="loss", lower=0.0)),
        "rows": 60,
        "design": "independent",
        "y_true": "y",
        "y_score": "score",
        "threshold": 0.7,
    }
    return Population(**(settings | changes))


def standard(tally: xr.Dataset) -> xr.Dataset:
    """The standard estimate."""
    return no_pooling.estimate(tally, interval="pooled_normal")


def halved(tally: xr.Dataset) -> xr.Dataset:
    """Half of it, with intervals around that."""
    found = no_pooling.estimate(tally, interval="pooled_normal")
    return found.assign({name: found[name] / 2 for name in ("estimate", "lower", "upper")})
