"""Gain of an order of levels for `ConfusionModel`: errors and coverage of its metrics with an ordered attribute and without.

    python -m tests.recovery.studies.ordered_gain_confusion --output tests/recovery/records/ordered_gain_confusion.csv

takes about fifteen minutes of one core. Tables have two groups by two by 3 or 6 ordered levels, of 20 to 80 rows. The logits of
decisions have the shapes of `tests.recovery.studies.ordered_gain` along the levels, those of outcomes half of them. The metrics
are the selection rate, the false negative rate and the positive predictive value.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from functools import partial

import numpy as np
import pandas as pd
import xarray as xr
from scipy.special import expit

import bayesgroups as bg
from bayesgroups.data.arrays import FloatArray
from tests.recovery.studies.ordered_gain import OWN, along_levels, lines, write_record

LEVELS = (3, 6)
TABLES = 10
SEED = 20_261_127
CENTRES = {"sel": -0.4, "ppv": 0.6, "for": -1.4}
"""Logits of the factors in the middle."""
OUTCOME_SHARE = 0.5
"""Spread of outcomes given a decision along the levels, as a share of that of decisions."""
METRICS = ("sel", "fnr", "ppv")


def table(population: str, levels: int, rng: np.random.Generator) -> tuple[xr.Dataset, FloatArray]:
    """A tally of cells, its levels named ``00``, ``01`` ..., and the true metrics (metric, subgroup)."""
    age = [f"{level:02d}" for level in range(levels)]
    who = pd.DataFrame(itertools.product("ab", "fm", age), columns=["race", "sex", "age"])
    along = along_levels(population, levels, rng)[who["age"].astype(int)]
    p = {
        name: expit(
            centre + (1 if name == "sel" else OUTCOME_SHARE) * (along + 0.4 * (who["race"] == "a") * rng.standard_normal())
            + OWN * rng.standard_normal(len(who))
        ).to_numpy()
        for name, centre in CENTRES.items()
    }  # fmt: skip
    rows = who.loc[np.repeat(who.index, rng.integers(20, 81, len(who)))]
    decision = rng.random(len(rows)) < p["sel"][rows.index]
    outcome = rng.random(len(rows)) < np.where(decision, p["ppv"][rows.index], p["for"][rows.index])
    frame = rows.assign(y=outcome.astype(int), d=decision.astype(int))
    tally = bg.tally(
        frame, ["race", "sex", "age"], list(METRICS), y_true="y", y_pred="d", positive=1, confusion=True
    )  # fmt: skip
    missed, hit = (1 - p["sel"]) * p["for"], p["sel"] * p["ppv"]
    return tally, np.stack([p["sel"], missed / (missed + hit), p["ppv"]])


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the study and write its record."""
    write_record(str(__doc__), arguments, LEVELS, TABLES, SEED, partial(lines, make=table, kind=bg.ConfusionModel))


if __name__ == "__main__":
    main()
