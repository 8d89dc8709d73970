"""Simulation-based calibration of the exact engines of partial pooling.

    python -m tests.recovery.studies.calibration --output tests/recovery/records/sbc_partial_pooling.csv

Truth is drawn from the prior, data from the likelihood, and the rank of each true value among the draws of the
engine is uniform if, and for all practical purposes only if, the engine draws from the posterior. Besides the
parameters the log likelihood is ranked: it also tells an engine that ignores part of the data.

The command writes two files: a line per quantity with its tests of uniformity, and beside it, with ``_ranks``
added to the name, every rank.

References
----------
Talts, Betancourt, Simpson, Vehtari, Gelman (2018), doi:10.48550/arXiv.1804.06788. Modrak, Moon, Kim, Buerkner,
Huurre, Faltejskova, Gelman, Vehtari (2023), on quantities that depend on the data, doi:10.1214/23-BA1404.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial

import numpy as np
from numpy.typing import NDArray

from bayesgroups.errors import InputError
from bayesgroups.inference.collapsed import binomial, gaussian
from bayesgroups.studies.execution import HERE, Executor
from examples.commands import executor, parser
from examples.records import as_csv, rows_as_csv, write

FloatArray = NDArray[np.float64]
Draws = dict[str, FloatArray]

TRIALS = (0, 1, 2, 4, 9, 30, 120, 700)
"""Counts of the subgroups of the binomial design."""
COUNTS = (0, 1, 2, 4, 9, 30, 120, 700)
"""Counts of the normal design: known sampling variances of `ROW_VARIANCE` / count; none where the count is 0."""
ROW_VARIANCE = 0.16
OVERALL_SCALE, TAU_SCALE = 1.5, 0.5
CENTRE, NORMAL_OVERALL_SCALE, NORMAL_TAU_SCALE = 0.5, 0.5, 0.25
DRAWS = 999
"""Draws of one fit: 1,000 possible ranks, which `BINS` divides."""
BINS = 20
REPLICATIONS = 2_000
SEED = 20_180_418


@dataclass(frozen=True)
class Calibration:
    """One line of the record.

    Attributes
    ----------
    likelihood, quantity : str
        ``quantity`` is ``overall``, ``tau``, ``log_likelihood`` or ``mu[n]`` of the subgroup with n rows.
    replications : int
    chi2_p, ks_p : float
        P-values of uniformity: chi-square on `BINS` bins, and Kolmogorov-Smirnov, which bounds the whole
        empirical distribution function at once.
    mean_pit, variance_pit : float
        Mean and 12 x variance of (rank + 1/2) / (draws + 1): 1/2 and 1 if uniform. A variance beyond 1 tells of
        draws that vary too little.
    seed : int
    """

    likelihood: str
    quantity: str
    replications: int
    chi2_p: float
    ks_p: float
    mean_pit: float
    variance_pit: float
    seed: int


def binomial_replication(rng: np.random.Generator) -> tuple[Draws, Draws]:
    """Truth and draws of one simulated data set with a binomial likelihood.

    Parameters
    ----------
    rng : numpy Generator
        Source of randomness of truth, data and fit.

    Returns
    -------
    pair of dicts
        True values of all quantities, each of shape (1,), and draws, each of shape (`DRAWS`,).

    Examples
    --------
    >>> import numpy as np
    >>> truth, draws = binomial_replication(np.random.default_rng(1))
    >>> list(truth) == list(draws), truth["tau"].shape, draws["mu[0]"].shape
    (True, (1,), (999,))
    """
    n = np.array(TRIALS, dtype=np.float64)
    alpha, tau = OVERALL_SCALE * rng.standard_normal(1), TAU_SCALE * np.abs(rng.standard_normal(1))
    mu = _expit(alpha + tau * rng.standard_normal(len(n)))
    k = rng.binomial(n.astype(np.int64), mu).astype(np.float64)
    found = binomial.sample(k, n, rng, draws=DRAWS, overall_scale=OVERALL_SCALE, tau_scale=TAU_SCALE)

    def log_likelihood(rate: FloatArray) -> FloatArray:
        inside = np.clip(rate, 1e-300, 1 - 1e-16)
        return np.asarray((k * np.log(inside) + (n - k) * np.log1p(-inside)).sum(axis=-1), dtype=np.float64)

    truth = {"overall": _expit(alpha), "tau": tau, "log_likelihood": log_likelihood(mu[None])}
    draws = {"overall": found.overall, "tau": found.tau, "log_likelihood": log_likelihood(found.mu)}
    return truth | _by_subgroup(mu[None], TRIALS), draws | _by_subgroup(found.mu, TRIALS)


def normal_replication(rng: np.random.Generator) -> tuple[Draws, Draws]:
    """Truth and draws of one simulated data set with a normal likelihood.

    Parameters
    ----------
    rng : numpy Generator
        Source of randomness of truth, data and fit.

    Returns
    -------
    pair of dicts
        As those of `binomial_replication`.

    Examples
    --------
    >>> import numpy as np
    >>> truth, draws = normal_replication(np.random.default_rng(1))
    >>> list(truth)[:4], draws["overall"].shape
    (['overall', 'tau', 'log_likelihood', 'mu[0]'], (999,))
    """
    d = np.array(COUNTS, dtype=np.float64)
    v = ROW_VARIANCE / np.where(d > 0, d, np.nan)
    overall = CENTRE + NORMAL_OVERALL_SCALE * rng.standard_normal(1)
    tau = NORMAL_TAU_SCALE * np.abs(rng.standard_normal(1))
    mu = overall + tau * rng.standard_normal(len(d))
    z = mu + np.sqrt(v) * rng.standard_normal(len(d))
    found = gaussian.sample(
        z, v, rng, centre=CENTRE, overall_scale=NORMAL_OVERALL_SCALE, tau_scale=NORMAL_TAU_SCALE, draws=DRAWS
    )

    def log_likelihood(mean: FloatArray) -> FloatArray:
        return np.asarray(-0.5 * np.nansum((z - mean) ** 2 / v, axis=-1), dtype=np.float64)

    truth = {"overall": overall, "tau": tau, "log_likelihood": log_likelihood(mu[None])}
    draws = {"overall": found.overall, "tau": found.tau, "log_likelihood": log_likelihood(found.mu)}
    return truth | _by_subgroup(mu[None], COUNTS), draws | _by_subgroup(found.mu, COUNTS)


LIKELIHOODS: dict[str, Callable[[np.random.Generator], tuple[Draws, Draws]]] = {
    "binomial": binomial_replication,
    "normal": normal_replication,
}


def ranks(
    likelihood: str, replications: int = REPLICATIONS, seed: int = SEED, *, executor: Executor = HERE
) -> dict[str, NDArray[np.int64]]:
    """The rank of every true value among the draws, 0 to `DRAWS`.

    Parameters
    ----------
    likelihood : {"binomial", "normal"}
        Which engine.
    replications : int
        Simulated data sets; each has its own stream, so that more of them leave the first ones as they were.
    seed : int
        Source of randomness.
    executor : Executor
        Where replications are computed and kept.

    Returns
    -------
    dict
        By quantity, arrays (replication,).

    Raises
    ------
    InputError
        If the likelihood is neither of the two, or there are no replications.

    Examples
    --------
    >>> found = ranks("normal", replications=3, seed=1)
    >>> sorted(found)[0], found["tau"].shape
    ('log_likelihood', (3,))
    """
    if likelihood not in LIKELIHOODS:
        raise InputError(f"likelihood={likelihood!r} is not one of {', '.join(map(repr, LIKELIHOODS))}")
    name, work = f"ranks of partial pooling, {likelihood}", partial(_ranks_of_one, likelihood, seed)
    return by_quantity(replicate(name, work, replications, seed, executor))


def _ranks_of_one(likelihood: str, seed: int, number: int) -> dict[str, int]:
    stream = list(LIKELIHOODS).index(likelihood)
    return ranked(*LIKELIHOODS[likelihood](np.random.default_rng([seed, stream, number])))


def replicate[Answer](
    name: str, work: Callable[[int], Answer], replications: int, seed: int, executor: Executor
) -> list[Answer]:
    """The answers of all simulated data sets.

    Parameters
    ----------
    name : str
        What is computed, as in `Executor.run`.
    work : callable
        From the number of a data set to its answer; it takes its random numbers from a stream of its own.
    replications : int
        Simulated data sets.
    seed : int
        What the streams start from; kept answers to another one are refused.
    executor : Executor
        Where they are computed and kept.

    Returns
    -------
    list

    Raises
    ------
    InputError
        If there are no replications.
    """
    if replications < 1:
        raise InputError(f"replications={replications} must be 1 or more")
    return executor.run(name, work, replications, settings={"seed": seed, "draws": DRAWS})


def ranked(truth: Mapping[str, float | FloatArray], draws: Mapping[str, FloatArray]) -> dict[str, int]:
    """Number of draws below each true value.

    Examples
    --------
    >>> import numpy as np
    >>> ranked({"tau": 0.3}, {"tau": np.array([0.1, 0.2, 0.5])})
    {'tau': 2}
    """
    return {name: int((draws[name] < value).sum()) for name, value in truth.items()}


def by_quantity(found: Sequence[dict[str, int]]) -> dict[str, NDArray[np.int64]]:
    """Ranks of many replications, in an array (replication,) for every quantity.

    Examples
    --------
    >>> by_quantity([{"tau": 3}, {"tau": 1}])
    {'tau': array([3, 1])}
    """
    return {name: np.array([ranks[name] for ranks in found]) for name in found[0]}


def measure(likelihood: str, found: dict[str, NDArray[np.int64]], seed: int = SEED) -> list[Calibration]:
    """Test the ranks of every quantity for uniformity.

    Parameters
    ----------
    likelihood : str
        Label of the lines.
    found : dict of arrays (replication,)
        From `ranks`.
    seed : int
        Label of the lines.

    Returns
    -------
    list of Calibration

    Examples
    --------
    >>> import numpy as np
    >>> line = measure("none", {"even": np.arange(1000), "low": np.arange(1000) // 2})
    >>> line[0].chi2_p, line[0].variance_pit.__round__(3), line[1].ks_p < 1e-6
    (1.0, 1.0, True)
    """
    from scipy import stats

    lines = []
    for quantity, rank in found.items():
        pit = (rank + 0.5) / (DRAWS + 1)
        in_bin = np.bincount(rank * BINS // (DRAWS + 1), minlength=BINS)
        chi2_p, ks_p = stats.chisquare(in_bin).pvalue, stats.kstest(pit, "uniform").pvalue
        lines.append(
            Calibration(
                likelihood, quantity, len(rank), float(chi2_p), float(ks_p), float(pit.mean()),
                float(12 * ((pit - 0.5) ** 2).mean()), seed,
            )
        )  # fmt: skip
    return lines


def ranks_as_csv(by_likelihood: Mapping[str, dict[str, NDArray[np.int64]]]) -> str:
    """Every rank as text: a line per likelihood and quantity, a column per replication."""
    lines = [
        [likelihood, quantity, *rank.tolist()]
        for likelihood, found in by_likelihood.items()
        for quantity, rank in found.items()
    ]
    return rows_as_csv([["likelihood", "quantity", *range(len(lines[0]) - 2)], *lines])


@dataclass(frozen=True)
class Found:
    """Result of a calibration study: ranks by likelihood and quantity, and further records by the end of their name."""

    ranks: Mapping[str, dict[str, NDArray[np.int64]]]
    beside: Mapping[str, Sequence[Sequence[object]]] = field(default_factory=dict)


def command(
    arguments: Sequence[str] | None, name: str, description: str, replications: int, seed: int,
    study: Callable[[int, int, Executor], Found],
) -> None:  # fmt: skip
    """Run a calibration study from its command and write its records: tests of uniformity, ranks, and what else it has.

    Parameters
    ----------
    arguments : sequence of str, optional
        Of the command; those of the process when left out.
    name, description : str
        The module of the study, and what it is in a sentence.
    replications, seed : int
        What is taken where the command says nothing.
    study : callable
        From replications, seed and executor to what was found.

    Raises
    ------
    InputError
        If there are no replications.
    """
    given = parser(
        name, description, replications, seed, output="the CSV file to write; ranks go beside it"
    ).parse_args(arguments)
    with executor(given) as run:
        found = study(given.replications, given.seed, run)
    lines = [line for label, each in found.ranks.items() for line in measure(label, each, given.seed)]
    texts = {"ranks": ranks_as_csv(found.ranks)} | {end: rows_as_csv(rows) for end, rows in found.beside.items()}
    write(given.output, as_csv(lines))
    for end, text in texts.items():
        write(given.output.with_name(f"{given.output.stem}_{end}{given.output.suffix}"), text)


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the study and write its two records."""
    command(arguments, "calibration", "Simulation-based calibration of partial pooling.", REPLICATIONS, SEED, _found)


def _found(replications: int, seed: int, executor: Executor) -> Found:
    return Found({name: ranks(name, replications, seed, executor=executor) for name in LIKELIHOODS})


def _by_subgroup(mu: FloatArray, sizes: Sequence[int]) -> Draws:
    return {f"mu[{size}]": mu[:, a] for a, size in enumerate(sizes)}


def _expit(eta: FloatArray) -> FloatArray:
    return np.asarray(1 / (1 + np.exp(-eta)), dtype=np.float64)


if __name__ == "__main__":
    main()
