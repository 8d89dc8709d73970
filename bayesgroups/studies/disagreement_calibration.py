"""Whether the exact engine of the disagreement model draws from the posterior: simulation-based calibration.

    python -m bayesgroups.studies.disagreement_calibration --output tests/recovery/records/sbc_disagreement.csv

takes about five minutes on one core. Shares of labels, disagreement rates and where disagreement goes are drawn from the
prior, judgements from these. Ranks are those of every metric and of the log likelihood, the files those of
`bayesgroups.studies.calibration`; beside them it writes which of the engine's checks failed in how many fits.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd
import xarray as xr
from numpy.typing import NDArray

from bayesgroups.disagreement import disagreement_tally
from bayesgroups.errors import InputError
from bayesgroups.inference.collapsed.disagreement import destinations, metrics, sample
from bayesgroups.models.scales import JEFFREYS, LOGIT_OVERALL_SCALE, LOGIT_TAU_SCALE
from bayesgroups.studies.calibration import DRAWS, measure, ranks_as_csv
from bayesgroups.studies.records import as_csv, rows_as_csv, write

FloatArray = NDArray[np.float64]

LABELS = ("deny", "grant", "review")
JUDGEMENTS = (0, 5, 30, 300)
"""Of the subgroups."""
METRICS = (
    "acc", "ppv[deny]", "ppv[grant]", "ppv[review]", "tpr[deny]", "tpr[grant]", "tpr[review]", "fpr[deny]", "fpr[grant]",
    "fpr[review]",
)  # fmt: skip
"""``fnr`` is 1 - ``tpr``, so that its ranks say nothing new."""
REPLICATIONS = 800
SEED = 20_250_301
PER_CHAIN = (DRAWS + 1) // 4
"""Draws are made in chains of equal length; the last one is left out."""


def replication(rng: np.random.Generator) -> tuple[dict[str, float], dict[str, FloatArray], list[str]]:
    """Truth and draws of the metrics of one simulated data set, and the names of the checks that its fit failed.

    Examples
    --------
    >>> truth, draws, failed = replication(np.random.default_rng(1))
    >>> len(truth), draws["acc[30]"].shape, failed
    (41, (999,), [])
    """
    size, subgroups = len(LABELS), len(JUDGEMENTS)
    shares = rng.dirichlet(np.full(size, JEFFREYS), size=subgroups).T
    centre = LOGIT_OVERALL_SCALE * rng.standard_normal(size)
    spread = LOGIT_TAU_SCALE * np.abs(rng.standard_normal(size))
    rate = 1 / (1 + np.exp(-(centre + spread * rng.standard_normal((subgroups, size))))).T
    sent = destinations(size, subgroups, 1.0, rng, 1)
    said = np.stack([rng.multinomial(n, own) for n, own in zip(JUDGEMENTS, shares.T, strict=True)], axis=1)
    disagree = rng.binomial(said, rate)
    tally = _tally(said, disagree)
    found = sample(tally, seed=int(rng.integers(2**31)), draws=4 * PER_CHAIN)
    mu = found.draws["mu"].values.reshape(-1, tally.sizes["metric"], subgroups)[:DRAWS]
    right = metrics(tally, rate[None], shares[None], sent)[0]
    place = {str(name): i for i, name in enumerate(tally["metric"].values)}
    names = [(f"{metric}[{n}]", place[metric], g) for metric in METRICS for g, n in enumerate(JUDGEMENTS)]
    truth = {name: float(right[m, g]) for name, m, g in names}
    draws = {name: mu[:, m, g] for name, m, g in names}
    agreed = [place[f"ppv[{label}]"] for label in LABELS]
    truth["log_likelihood"] = float(_log_likelihood(right[agreed], said, disagree))
    draws["log_likelihood"] = _log_likelihood(mu[:, agreed], said, disagree)
    return truth, draws, sorted({check.name for check in found.checks if not check.passed})


def _log_likelihood(agreement: FloatArray, said: NDArray[np.int64], disagree: NDArray[np.int64]) -> FloatArray:
    """Of disagreement given the labels, from rates of agreement (..., label, subgroup)."""
    inside = np.clip(agreement, 1e-300, 1 - 1e-16)
    each = disagree * np.log1p(-inside) + (said - disagree) * np.log(inside)
    return np.asarray(each.sum(axis=(-2, -1)), dtype=np.float64)


def _tally(said: NDArray[np.int64], disagree: NDArray[np.int64]) -> xr.Dataset:
    """A tally with these judgements and disagreements (label, subgroup)."""
    counts = np.stack([said - disagree, disagree], axis=-1)
    label, subgroup, disagrees = (np.repeat(index.ravel(), counts.ravel()) for index in np.indices(counts.shape))
    rows = pd.DataFrame({"n": np.array(JUDGEMENTS)[subgroup], "label": np.array(LABELS)[label], "disagrees": disagrees})
    return disagreement_tally(rows, {"n": list(JUDGEMENTS)}, "label", "disagrees", labels=list(LABELS))


def study(replications: int, seed: int) -> tuple[dict[str, NDArray[np.int64]], list[str]]:
    """Ranks by quantity, 0 to `DRAWS`, and the names of the checks that failed, once per fit.

    Raises
    ------
    InputError
        If there are no replications.
    """
    if replications < 1:
        raise InputError(f"replications={replications} must be 1 or more")
    found: dict[str, list[int]] = {}
    failed: list[str] = []
    for number in range(replications):
        truth, draws, checks = replication(np.random.default_rng([seed, number]))
        failed += checks
        for name, value in truth.items():
            found.setdefault(name, []).append(int((draws[name] < value).sum()))
    return {name: np.array(values) for name, values in found.items()}, failed


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the study and write its three records."""
    program = "python -m bayesgroups.studies.disagreement_calibration"
    parser = argparse.ArgumentParser(
        prog=program, description="Simulation-based calibration of the disagreement model."
    )
    parser.add_argument(
        "--output", type=Path, required=True, help="the CSV file to write; ranks and checks go beside it"
    )
    parser.add_argument("--replications", type=int, default=REPLICATIONS)
    parser.add_argument("--seed", type=int, default=SEED)
    given = parser.parse_args(arguments)
    ranks, failed = study(given.replications, given.seed)
    output: Path = given.output
    write(output, as_csv(measure("disagreement", ranks, given.seed)))
    write(output.with_name(f"{output.stem}_ranks{output.suffix}"), ranks_as_csv({"disagreement": ranks}))
    lines = [[name, failed.count(name), given.replications] for name in sorted({*failed, "independent draws"})]
    write(output.with_name(f"{output.stem}_checks{output.suffix}"), rows_as_csv([["check", "failed", "fits"], *lines]))


if __name__ == "__main__":
    main()
