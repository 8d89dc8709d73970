"""Usability of NUTS, the fallback of every exact engine, and its agreement with it on all data sets of the package.

    python -m tests.recovery.studies.nuts_grid --output tests/recovery/records/nuts_grid.csv

Every estimator that has both engines is asked for the same posterior twice. The record holds the worst diagnostics of NUTS over
all quantities of the report and the largest distance of its posterior means from those of the exact engine, in standard errors
of Monte Carlo. It takes about 15 minutes of one core; ``--workers 2`` halves that.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from dataclasses import astuple, dataclass
from functools import partial
from pathlib import Path

import numpy as np
import xarray as xr

import bayesgroups as bg
from bayesgroups.estimators import Estimator
from bayesgroups.studies.execution import HERE, Executor
from examples.commands import add_options, executor
from examples.records import as_csv, write
from tests.recovery.studies.public_tallies import tally

SEED = 20_261_122
COUNTED = (
    "demonstration", "synthetic, rate", "synthetic, mean", "binormal", "adult", "bios", "common_voice", "compas", "diabetes",
    "dressel_farid",
)  # fmt: skip
"""Data sets of rates and means."""
ESTIMATORS: dict[str, tuple[Estimator, tuple[str, ...]]] = {
    "no_pooling": (bg.NoPooling(), ("common_voice", "compas")),
    "complete_pooling": (bg.CompletePooling(), ("common_voice", "compas")),
    "james_stein": (bg.JamesStein(), COUNTED),
    "partial_pooling": (bg.PartialPooling(), COUNTED),
    "partial_pooling, normal": (bg.PartialPooling(likelihood="normal"), ("bios", "compas")),
    "crossed_effects": (bg.CrossedEffects(), COUNTED),
    "crossed_effects, half_t": (bg.CrossedEffects(prior="half_t", tau_scale=0.25), ("compas", "dressel_farid")),
    "structured_regression": (bg.StructuredRegression(bootstrap=2), ("common_voice", "compas", "diabetes")),
    "confusion": (bg.ConfusionModel(), ("demonstration, cells", "compas, cells")),
    "model_based_metrics": (bg.ModelBasedMetrics(bootstrap=2), ("demonstration",)),
    "disagreement": (bg.DisagreementModel(), ("dressel_farid, labels",)),
}
"""By name, with the data sets that each is tried on."""


@dataclass(frozen=True)
class Line:
    """One estimator on one data set: diagnostics of NUTS, and its agreement with the exact engine.

    ``distance`` is the largest difference of two posterior means over all quantities of both posteriors, in Monte Carlo standard
    errors of the difference; ``repeated`` is 1 where NUTS needed smaller steps than it began with.
    """

    data: str
    estimator: str
    metric: str
    subgroups: int
    r_hat: float
    bulk_ess: float
    tail_ess: float
    divergences: int
    repeated: int
    usable: int
    distance: float


def settings() -> list[tuple[str, str]]:
    """All pairs of a data set and an estimator.

    Examples
    --------
    >>> ("compas", "partial_pooling") in settings()
    True
    """
    return [(data, name) for name, (_, sets) in ESTIMATORS.items() for data in sets]


def study(seed: int = SEED, *, executor: Executor = HERE) -> list[Line]:
    """The lines of the record, in the order of `settings`.

    Parameters
    ----------
    seed : int
        Of both engines.
    executor : Executor
        Where pairs are estimated, each of them a piece, and their lines kept.
    """
    pieces = executor.run("grid of NUTS", partial(_piece, seed), len(settings()), settings={"seed": seed})
    return [Line(*piece) for piece in pieces]  # type: ignore[arg-type]


def _piece(seed: int, position: int) -> list[object]:
    return list(astuple(measure(*settings()[position], seed)))


def measure(data: str, name: str, seed: int = SEED) -> Line:
    """The line of one estimator on one data set; of several metrics the first, unless they have one model."""
    estimator, counts = ESTIMATORS[name][0], tally(data)
    counts = counts if estimator.joint else counts.isel(metric=[0])
    exact = bg.estimate(counts, estimator, seed=seed, inference="collapsed")
    nuts = bg.estimate(counts, estimator, seed=seed, inference="nuts")
    checks = nuts["diagnostics"].to_dataset()
    names, values = checks["check"].values.astype(str), checks["value"].values
    worst = {
        check: values[np.char.endswith(names, f": {check}")]
        for check in ("R-hat", "bulk ESS", "tail ESS", "divergences")
    }
    return Line(
        data=data,
        estimator=name,
        metric=", ".join(counts["metric"].values.astype(str)),
        subgroups=counts.sizes["subgroup"],
        r_hat=float(worst["R-hat"].max()),
        bulk_ess=float(worst["bulk ESS"].min()),
        tail_ess=float(worst["tail ESS"].min()),
        divergences=int(worst["divergences"].max()),
        repeated=int("repeated with smaller steps" in str(nuts.attrs["notes"])),
        usable=int(nuts.attrs["usable"]),
        distance=distance(exact, nuts),
    )


def distance(exact: xr.DataTree, nuts: xr.DataTree) -> float:
    """Largest difference of posterior means, in Monte Carlo standard errors of the difference."""
    errors, means = [], []
    for report in (exact, nuts):
        draws = report["posterior"].to_dataset()
        errors.append(_standard_errors(draws, _weighted(report)))
        means.append(draws.mean(("chain", "draw")))
    largest = 0.0
    for name in means[0].data_vars:
        error: xr.DataArray = (errors[0][name] ** 2 + errors[1][name] ** 2) ** 0.5
        gap: xr.DataArray = abs(means[0][name] - means[1][name])
        # A number that is the same in every draw, such as a known centre, has no error and no gap.
        largest = max(largest, float((gap / error.where(error > 0, 1.0)).max()))
    return largest


def _weighted(report: xr.DataTree) -> float:
    """Smallest effective number of weighted draws, infinite where draws have no weights."""
    checks = report["diagnostics"].to_dataset()
    importance = np.char.find(checks["check"].values.astype(str), "importance ESS") >= 0
    return float(min(checks["value"].values[importance], default=np.inf))


def _standard_errors(draws: xr.Dataset, most: float) -> xr.Dataset:
    """Monte Carlo standard errors of posterior means, of draws worth ``most`` independent ones at most."""
    import arviz as az

    correlated, spread = az.mcse(draws, method="mean"), draws.std(("chain", "draw"))
    return xr.Dataset({name: np.maximum(correlated[name], spread[name] / np.sqrt(most)) for name in draws.data_vars})


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the grid and write its record."""
    program = "python -m tests.recovery.studies.nuts_grid"
    parser = argparse.ArgumentParser(prog=program, description="NUTS on all data sets, against the exact engines.")
    parser.add_argument("--output", type=Path, required=True, help="the CSV file to write")
    parser.add_argument("--seed", type=int, default=SEED)
    add_options(parser)
    given = parser.parse_args(arguments)
    with executor(given) as run:
        lines = study(given.seed, executor=run)
    write(given.output, as_csv(lines))
    usable, near = sum(line.usable for line in lines), max(line.distance for line in lines)
    sys.stdout.write(f"{len(lines)} fits, {usable} usable, means at most {near:.2f} standard errors apart\n")


if __name__ == "__main__":
    main()
