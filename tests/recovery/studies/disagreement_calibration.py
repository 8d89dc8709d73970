"""Simulation-based calibration of the exact engine of the disagreement model.

    python -m tests.recovery.studies.disagreement_calibration --output tests/recovery/records/sbc_disagreement.csv

takes about five minutes on one core. Shares of labels, disagreement rates and where disagreement goes are drawn from the
prior, judgements from these. Ranks are those of every metric and of the log likelihood, the files those of
`tests.recovery.studies.calibration_study`; beside them it writes which of the engine's checks failed in how many fits.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd
import xarray as xr
from numpy.typing import NDArray

from bayesgroups.frequentist.bounds import disagreement_tally
from bayesgroups.inference.collapsed.disagreement import destinations, metrics, sample
from bayesgroups.models.shared.scales import JEFFREYS, LOGIT_OVERALL_SCALE, LOGIT_TAU_SCALE
from tests.recovery.studies.calibration_study import DRAWS, PER_CHAIN, CalibrationStudy, Draws

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


def replication(rng: np.random.Generator) -> tuple[dict[str, float], Draws, dict[str, bool]]:
    """Truth and draws of the metrics of one simulated data set, and which checks its fit failed.

    Examples
    --------
    >>> truth, draws, failed = replication(np.random.default_rng(1))
    >>> len(truth), draws["acc[30]"].shape, any(failed.values())
    (41, (999,), False)
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
    posterior = sample(tally, seed=int(rng.integers(2**31)), draws=4 * PER_CHAIN)
    mu = posterior.draws["mu"].values.reshape(-1, tally.sizes["metric"], subgroups)[:DRAWS]
    right = metrics(tally, rate[None], shares[None], sent)[0]
    place = {str(name): i for i, name in enumerate(tally["metric"].values)}
    names = [(f"{metric}[{n}]", place[metric], g) for metric in METRICS for g, n in enumerate(JUDGEMENTS)]
    truth = {name: float(right[m, g]) for name, m, g in names}
    draws = {name: mu[:, m, g] for name, m, g in names}
    agreed = [place[f"ppv[{label}]"] for label in LABELS]
    truth["log_likelihood"] = float(_log_likelihood(right[agreed], said, disagree))
    draws["log_likelihood"] = _log_likelihood(mu[:, agreed], said, disagree)
    names_of_checks = sorted({check.name for check in posterior.checks})
    return (
        truth,
        draws,
        {name: any(check.name == name and not check.passed for check in posterior.checks) for name in names_of_checks},
    )


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


def checks(calibrations: Mapping[str, xr.Dataset]) -> dict[str, list[list[object]]]:
    """Numbers of fits that failed a check, as rows of a record; that of independent draws stands there in any case."""
    fit = calibrations["disagreement"]["fit"]
    failed = {str(name): int(fit.sel(measure=name).sum()) for name in fit["measure"].values}
    shown = sorted({name for name, number in failed.items() if number} | {"independent draws"})
    return {
        "checks": [["check", "failed", "fits"], *([name, failed[name], fit.sizes["replication"]] for name in shown)]
    }


STUDY = CalibrationStudy(
    "tests.recovery.studies.disagreement_calibration",
    "Simulation-based calibration of the disagreement model.",
    {"disagreement": replication},
    REPLICATIONS,
    SEED,
    streams=False,
    beside=checks,
)
main = STUDY.main


if __name__ == "__main__":
    main()
