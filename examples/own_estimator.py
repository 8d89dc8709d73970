"""Research prototyping: a model of one's own in a file of one's own, beside everything the package has.

    python -m examples.own_estimator --page own.html

Nothing is registered. An estimator is a frozen class with a word, settings and two sides; `own_model.py` has the PyMC model,
which the package samples where there is no exact engine (`inference="nuts"`). What the class says of itself is on the page of
its reports. On the command line it is `--estimator examples.own_estimator:PriorRows`. Draws made elsewhere need no class at all.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

import numpy as np
import xarray as xr

import bayesgroups as bg
from bayesgroups.estimators.base import Estimator, likelihood_words
from bayesgroups.frequentist import complete_pooling
from bayesgroups.inference.prior_densities import LogPrior
from bayesgroups.inference.value_likelihoods import binomial_likelihood, value_likelihood
from bayesgroups.report.posterior import Posterior, generator, lay_out

if TYPE_CHECKING:
    import pymc as pm
    from numpy.typing import NDArray


@dataclass(frozen=True)
class PriorRows(Estimator):
    """Every subgroup starts from the overall rate, worth so many rows; the complete pool is its reference."""

    word: ClassVar[str] = "prior_rows"
    description: ClassVar[str] = (
        "Prior rows: every subgroup starts from the overall rate, as if it had so many rows more."
    )
    references: ClassVar[tuple[str, ...]] = ("Good (1965), The Estimation of Probabilities, MIT Press",)

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
        prior = self.rows * _overall(tally)
        random = generator(seed, str(tally["metric"].values[0]), "posterior")
        mu = random.beta(prior + hits, self.rows - prior + count - hits, size=(4000, len(hits)))
        return Posterior(lay_out(tally, mu, {}), (), "collapsed")

    def describe_priors(self, tally: xr.Dataset) -> str:
        """The Beta prior of every subgroup."""
        prior = self.rows * _overall(tally)
        return f"{likelihood_words(binomial=True)}; the prior of each subgroup is Beta({prior:.3g}, {self.rows - prior:.3g})"

    def log_prior(self, draws: xr.Dataset, tally: xr.Dataset) -> LogPrior:
        """Of every subgroup on its own, as a density of its logit: that of the prior's rows."""
        rates = draws["mu"].transpose("sample", "subgroup").values
        rows = np.full(rates.shape[1], self.rows)
        return LogPrior(binomial_likelihood(rates, rows * _overall(tally), rows))

    def log_likelihood(self, draws: xr.Dataset, tally: xr.Dataset) -> NDArray[np.float64]:
        """Binomial."""
        return value_likelihood(draws, tally, binomial=True)


def _overall(tally: xr.Dataset) -> float:
    """The rate over all rows."""
    return float(np.nansum(tally["successes"].values[0]) / tally["count"].values[0].sum())


def main(arguments: Sequence[str] | None = None) -> xr.Dataset:
    parser = argparse.ArgumentParser(description="An estimator of one's own beside partial pooling.")
    parser.add_argument("--page", type=Path, help="write the report of the estimator to this page")
    page: Path | None = parser.parse_args(arguments).page
    shown = bg.datasets.demonstration(seed=1)
    tally = bg.tally(
        shown.rows, by=shown.by, metrics=["fnr"], y_true="readmitted", y_score="score", threshold=shown.threshold
    )
    reports = {
        "own": bg.estimate(tally, PriorRows(rows=40.0), seed=1),
        "pooled": bg.estimate(tally, bg.PartialPooling(), seed=1),
    }
    if page is not None:
        bg.write_html(reports["own"], page)
    truth = shown.truth.sel(metric="fnr")
    table = bg.compare(reports).sel(metric="fnr", approach="bayesian")
    error = abs(table["estimate"] - truth).mean("subgroup")
    print(error.to_series().round(4).to_string())
    return table


if __name__ == "__main__":
    main()
