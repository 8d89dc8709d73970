"""Diagnostics as data: each check has a value, a threshold, a verdict and a sentence. The thresholds live here, once.

R-hat and effective sample sizes: Vehtari et al. (2021), doi:10.1214/20-BA1221. Pareto k-hat: Vehtari et al. (2024),
JMLR 25(72). E-BFMI: Betancourt (2016), arXiv:1604.00695. A value that cannot be computed never passes.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import xarray as xr

from bayesgroups.data.arrays import FloatArray

R_HAT = 1.01
"""Largest rank-normalised split R-hat."""
ESS = 400
"""Smallest bulk and tail effective sample size of Markov chains."""
SAMPLE_SIZES = ("bulk ESS", "tail ESS")
"""Names of the checks of Markov chains that ask for `ESS`."""
K_HAT = 0.7
"""Largest Pareto k-hat of importance weights."""
IS_ESS = 400
"""Smallest effective sample size of importance weights."""
DIVERGENCES = 0
"""Largest number of divergent transitions."""
E_BFMI = 0.3
"""Smallest estimated Bayesian fraction of missing information of a chain."""

AT_BOUND = 1e-3
"""Largest share of draws near a bound that the computation has and the model has not."""

TAIL = (0.05, 0.95)
"""The two quantiles whose effective sample size is the tail ESS."""
AT_ONCE = 125_000
"""Numbers of which mixing is looked at together, about those that a processor has at hand."""


@dataclass(frozen=True)
class Check:
    """One diagnostic of one metric: a value, the threshold it is held against, the verdict, and the verdict in words."""

    name: str
    metric: str
    value: float
    threshold: float
    passed: bool
    sentence: str


def at_most(name: str, metric: str, value: float, threshold: float, quantity: str) -> Check:
    """Check that a value does not exceed a threshold; NaN does not pass. ``quantity`` is the subject of the sentence.

    >>> at_most("R-hat", "fnr", 1.03, R_HAT, "the largest R-hat").sentence
    'fnr: the largest R-hat is 1.03, but may be at most 1.01.'
    """
    return _check(name, metric, value, threshold, bool(value <= threshold), quantity, "at most")


def at_least(name: str, metric: str, value: float, threshold: float, quantity: str) -> Check:
    """Check that a value reaches a threshold; NaN does not pass. ``quantity`` is the subject of the sentence.

    >>> at_least("bulk ESS", "fnr", 812.4, ESS, "the smallest bulk ESS").sentence
    'fnr: the smallest bulk ESS is 812.4, at least 400 as required.'
    """
    return _check(name, metric, value, threshold, bool(value >= threshold), quantity, "at least")


def independent_draws(metric: str, draws: int) -> Check:
    """Check of the number of draws of an engine without chains."""
    return at_least("independent draws", metric, float(draws), ESS, "the number of independent draws")


def nuts_checks(tree: xr.DataTree, metric: str) -> list[Check]:
    """Checks of Markov chains, over every quantity of the posterior that concerns one metric.

    ``posterior`` has variables with dims chain, draw, ...; those without a dim ``metric`` count for every metric.
    ``sample_stats`` has ``diverging`` and ``energy`` with dims chain, draw. The checks are ``R-hat`` (largest,
    rank-normalised), ``bulk ESS`` and ``tail ESS`` (smallest; tail at 5 % and 95 %), ``divergences`` (number) and
    ``E-BFMI`` (smallest over chains). A quantity with the same value in every draw is left out; one with a draw that is
    not finite fails. Statistics that are missing fail.

    Vehtari et al. (2021), "Rank-normalization, folding, and localization", Bayesian Analysis 16, doi:10.1214/20-BA1221.
    Betancourt (2016), "Diagnosing suboptimal cotangent disintegrations", arXiv:1604.00695.
    """
    stats = tree["sample_stats"].to_dataset() if "sample_stats" in tree.children else xr.Dataset()
    divergences, e_bfmi = math.nan, math.nan
    if "diverging" in stats:
        divergences = float(stats["diverging"].sum())
    if "energy" in stats:
        e_bfmi = _e_bfmi(np.asarray(stats["energy"].transpose("chain", "draw").values, dtype=np.float64))
    return [
        *chain_checks(tree["posterior"].to_dataset(), metric),
        at_most("divergences", metric, divergences, DIVERGENCES, "the number of divergent transitions"),
        at_least("E-BFMI", metric, e_bfmi, E_BFMI, "the smallest E-BFMI of a chain"),
    ]


@dataclass(frozen=True)
class Mixing:
    """Largest rank-normalised split R-hat of some quantities, and their smallest bulk and tail effective sample sizes."""

    r_hat: float
    bulk: float
    tail: float

    @property
    def passed(self) -> bool:
        """True if none is beyond its threshold."""
        return all(check.passed for check in self.checks(""))

    def checks(self, metric: str) -> list[Check]:
        """The three of them held against their thresholds."""
        return [
            at_most("R-hat", metric, self.r_hat, R_HAT, "the largest R-hat"),
            at_least("bulk ESS", metric, self.bulk, ESS, "the smallest bulk effective sample size"),
            at_least("tail ESS", metric, self.tail, ESS, "the smallest tail effective sample size"),
        ]


UNKNOWN = Mixing(math.nan, math.nan, math.nan)
"""Mixing of quantities none of which varies, or of draws that are not all finite."""


def mixing(draws: FloatArray | Sequence[FloatArray]) -> Mixing:
    """Mixing of chains, from draws (quantity, chain, draw) in one array or several; `UNKNOWN` where they do not tell."""
    from bayesgroups.report.rank_statistics import statistics

    parts = []
    for some in varying(draws):
        if not np.isfinite(some).all():
            return UNKNOWN
        # Stuck chains divide by zero; infinity and NaN fail.
        with np.errstate(divide="ignore", invalid="ignore"):
            parts.append(statistics(some, TAIL))
    if not parts:
        return UNKNOWN
    r_hat, bulk, tail = (np.concatenate(values) for values in zip(*parts, strict=True))
    return Mixing(float(np.max(r_hat)), float(np.min(bulk)), float(np.min(tail)))


def chain_checks(draws: xr.Dataset, metric: str) -> list[Check]:
    """``R-hat``, ``bulk ESS`` and ``tail ESS``, as in `nuts_checks`, of chains whose sampler has no diagnostics of its own."""
    return mixing(_quantities(draws, metric)).checks(metric)


def varying(draws: FloatArray | Sequence[FloatArray]) -> Iterator[FloatArray]:
    """Draws (quantity, chain, draw) in contiguous blocks of about `AT_ONCE` numbers, without quantities that are constant.

    A constant has no R-hat; what is not finite is no constant.

    >>> draws = np.arange(12.0).reshape(3, 2, 2)
    >>> draws[1] = 5.0
    >>> [block.shape for block in varying([draws, draws[:1]])]
    [(2, 2, 2), (1, 2, 2)]
    """
    for part in [draws] if isinstance(draws, np.ndarray) else draws:
        for block in np.array_split(part, max(1, part.size // AT_ONCE)):
            some = np.ascontiguousarray(block)
            first = some[:, :1, :1]
            constant = ((some == first) & np.isfinite(first)).all(axis=(1, 2))
            if not constant.all():
                yield some[~constant] if constant.any() else some


def checks_dataset(checks: Sequence[Check]) -> xr.Dataset:
    """Checks of all metrics as a dataset that can be stored.

    Dim ``check`` with labels ``"<metric>: <name>"``; ``value``, ``threshold`` (float), ``passed`` (int8, 1 or 0),
    ``sentence`` and ``metric`` (str).

    >>> stored = checks_dataset([at_most("k-hat", "fnr", 0.2, K_HAT, "the k-hat")])
    >>> str(stored["check"].values[0]), int(stored["passed"][0])
    ('fnr: k-hat', 1)
    """
    return xr.Dataset(
        {
            "value": ("check", np.array([check.value for check in checks], dtype=np.float64)),
            "threshold": ("check", np.array([check.threshold for check in checks], dtype=np.float64)),
            "passed": ("check", np.array([check.passed for check in checks], dtype=np.int8)),
            "sentence": ("check", np.array([check.sentence for check in checks], dtype=np.str_)),
            "metric": ("check", np.array([check.metric for check in checks], dtype=np.str_)),
        },
        coords={"check": np.array([f"{check.metric}: {check.name}" for check in checks], dtype=np.str_)},
    )


def usable(checks: Sequence[Check]) -> bool:
    """True if every check passed; with none there is nothing to fail."""
    return all(check.passed for check in checks)


def only_too_few_draws(checks: Sequence[Check]) -> bool:
    """True if nothing failed but effective sample sizes, which more draws of the same chains would raise.

    >>> short = at_least("tail ESS", "fnr", 390, ESS, "the smallest tail effective sample size")
    >>> only_too_few_draws([short]), only_too_few_draws([short, at_most("R-hat", "fnr", 1.03, R_HAT, "the largest R-hat")])
    (True, False)
    """
    failed = [check for check in checks if not check.passed]
    return bool(failed) and all(check.name in SAMPLE_SIZES and math.isfinite(check.value) for check in failed)


def _check(name: str, metric: str, value: float, threshold: float, passed: bool, quantity: str, relation: str) -> Check:
    """Assemble a check with its sentence."""
    if math.isnan(value):
        reading = f"could not be computed, but must be {relation} {threshold:g}"
    elif passed:
        reading = f"is {value:.4g}, {relation} {threshold:g} as required"
    else:
        reading = f"is {value:.4g}, but {'may' if relation == 'at most' else 'must'} be {relation} {threshold:g}"
    return Check(name, metric, float(value), float(threshold), passed, f"{metric}: {quantity} {reading}.")


def _quantities(posterior: xr.Dataset, metric: str) -> list[FloatArray]:
    """All scalar quantities that concern a metric, (quantity, chain, draw) for every variable; views where draws come first."""
    parts: list[FloatArray] = []
    for name in posterior.data_vars:
        draws = posterior[name]
        if "metric" in draws.dims:
            draws = draws.sel(metric=metric)
        values = np.asarray(draws.transpose(..., "chain", "draw").values, dtype=np.float64)
        parts.append(values.reshape(-1, *values.shape[-2:]))
    return parts


def _e_bfmi(energy: FloatArray) -> float:
    """Smallest E-BFMI over chains: mean squared step of the energy over its variance; NaN for a constant energy."""
    variance = energy.var(axis=1, ddof=1)
    if not (variance > 0).all():
        return math.nan
    return float((np.square(np.diff(energy, axis=1)).mean(axis=1) / variance).min())
