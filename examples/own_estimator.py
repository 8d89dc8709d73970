"""Research prototyping: a model of one's own in a file of one's own, beside everything the package has.

    python -m examples.own_estimator

Nothing is registered. An estimator is a frozen leaf with a word and two sides; `own_model.py` has the PyMC model, which the
package samples where there is no exact engine (`inference="nuts"`). Draws made elsewhere need no leaf at all.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np
import xarray as xr

import bayesgroups as bg
from bayesgroups.estimators.base import Estimator
from bayesgroups.frequentist import complete_pooling
from bayesgroups.report.posterior import Posterior, generator, lay_out

if TYPE_CHECKING:
    import pymc as pm


@dataclass(frozen=True)
class PriorRows(Estimator):
    """Every subgroup starts from the overall rate, worth so many rows; the complete pool is its reference."""

    word: ClassVar[str] = "prior_rows"
    rows: float = 20.0

    def reference(self, tally: xr.Dataset, *, seed: int) -> xr.Dataset:
        """One rate for all."""
        return complete_pooling.estimate(tally)

    def model(self, tally: xr.Dataset) -> pm.Model:
        """The PyMC model."""
        from examples.own_model import build

        return build(tally, rows=self.rows)

    def collapsed(self, tally: xr.Dataset, *, seed: int) -> Posterior:
        """Exact draws of one metric: the Beta prior is conjugate."""
        hits, count = np.nan_to_num(tally["successes"].values[0]), tally["count"].values[0]
        prior = self.rows * hits.sum() / count.sum()
        random = generator(seed, str(tally["metric"].values[0]), "posterior")
        mu = random.beta(prior + hits, self.rows - prior + count - hits, size=(4000, len(hits)))
        return Posterior(lay_out(tally, mu, {}), (), "collapsed")


def main() -> xr.Dataset:
    shown = bg.datasets.demonstration(seed=1)
    tally = bg.tally(
        shown.rows, by=shown.by, metrics=["fnr"], y_true="readmitted", y_score="score", threshold=shown.threshold
    )
    reports = {
        "own": bg.estimate(tally, PriorRows(rows=40.0), seed=1),
        "pooled": bg.estimate(tally, bg.PartialPooling(), seed=1),
    }
    truth = shown.truth.sel(metric="fnr")
    table = bg.compare(reports).sel(metric="fnr", approach="bayesian")
    error = abs(table["estimate"] - truth).mean("subgroup")
    print(error.to_series().round(4).to_string())
    return table


if __name__ == "__main__":
    main()
