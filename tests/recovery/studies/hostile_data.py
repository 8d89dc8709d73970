"""Answers that are called usable, on data that no prior expects, beside the same model solved with ten times the effort.

    python -m tests.recovery.studies.hostile_data --output tests/recovery/records/hostile_data.csv

Tables have eight subgroups of three attributes, and 48 for the Markov chains of crossed effects, which small tables do not need.
Of every kind of data (`KINDS`) 25 tables are drawn, 200 in all, and every word answers on each by its own engine, as with
``inference="collapsed"``: the exact one, or the Markov chains of the words that have none. A table is then estimated again,
with ten times as many draws and another seed, or, for words with a fixed number of draws, ten times with other seeds whose
answers are usable; `PartialPooling` is held to two-dimensional quadrature as well. A distance is in Monte Carlo errors of both
answers together, the largest over the mean of every subgroup and metric and the probabilities beyond its 95 % limits, some 200
numbers; a word whose distance is beyond 4 answers once more with another seed, since chance does that in one table of a
hundred. Errors are those of effective numbers of draws and of the variance of each answer's own draws, since a rate of about
1e-9 has a mean that its few largest draws make; but for weighted draws and short chains, of whose tails they say too
much: there errors are those of sums over batches that are nearly independent, the draws that come from one weighted point or
are of one chain.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import astuple, dataclass
from functools import partial
from types import ModuleType
from typing import Any, Literal

import arviz as az
import numpy as np
import pandas as pd
import xarray as xr

import bayesgroups as bg
from bayesgroups.data.arrays import FloatArray, IntArray
from bayesgroups.estimators.base import Estimator
from bayesgroups.inference.collapsed import (
    complete_pooling,
    confusion,
    crossed_effects,
    disagreement,
    james_stein,
    no_pooling,
    partial_pooling,
    structured_regression,
)
from bayesgroups.models.shared.scales import LOGIT_OVERALL_SCALE, LOGIT_TAU_SCALE
from bayesgroups.studies.execution import HERE, Executor
from examples.commands import parser, record
from tests.recovery.studies import quadrature

PROGRAM = "tests.recovery.studies.hostile_data"
Kind = Literal["wide", "narrow", "outlier", "heavy", "unequal", "collinear", "weighted", "rare"]
KINDS: dict[Kind, str] = {
    "wide": "effects of 5 logits, ten times the prior's scale",
    "narrow": "effects of .05 logits, a tenth of it",
    "outlier": "one subgroup 6 logits away from the others",
    "heavy": "effects of Student's t with 1.5 degrees of freedom",
    "unequal": "one subgroup of 20,000 rows, all others of 1 to 4",
    "collinear": "two attributes that are the same",
    "weighted": "weights of rows that differ by a factor of 20",
    "rare": "rates of 1 % and below",
}
PER_KIND = 25
"""Tables of every kind."""
TIMES, BEYOND = 10, 4.0
GROUPS, CHAINS_OF_A_GROUP = 4, 16
"""Of an answer made by many chains, a group of them after another."""
SEED = 20_261_123
SMALL, LARGE, LARGE_COLLINEAR = (2, 2, 2), (3, 4, 4), (12, 4, 4)
"""Levels of the attributes; the last two are the same attribute where data are collinear."""
ATTRIBUTES = ["first", "second", "third"]


@dataclass(frozen=True)
class Line:
    """One word on one table: ``answer`` is usable, flagged or refused.

    ``distance`` is the largest from the same model with more effort, ``again`` that of a second seed where the first is beyond
    4, and ``from_quadrature`` that of means from quadrature; NaN where there is none, as where the answer is not usable.
    """

    word: str
    data: str
    kind: Kind
    table: int
    answer: Literal["usable", "flagged", "refused"]
    distance: float = np.nan
    again: float = np.nan
    from_quadrature: float = np.nan


@dataclass(frozen=True)
class Word:
    """An estimator, its data, and the module whose engine takes a number of draws, none for a fixed number."""

    estimator: Estimator
    data: Literal["rate", "many rates", "mean", "cells", "scores", "critics"]
    engine: ModuleType | None = None


WORDS = (
    Word(bg.NoPooling(), "rate", no_pooling), Word(bg.NoPooling(), "mean", no_pooling),
    Word(bg.CompletePooling(), "rate", complete_pooling), Word(bg.CompletePooling(), "mean", complete_pooling),
    Word(bg.JamesStein(), "mean", james_stein),
    Word(bg.PartialPooling(), "rate", partial_pooling), Word(bg.PartialPooling(), "mean", partial_pooling),
    Word(bg.CrossedEffects(), "rate", crossed_effects), Word(bg.CrossedEffects(), "many rates", crossed_effects),
    Word(bg.CrossedEffects(), "mean", crossed_effects), Word(bg.ConfusionModel(), "cells", confusion),
    Word(bg.StructuredRegression(), "rate", structured_regression), Word(bg.ModelBasedMetrics(), "scores"),
    Word(bg.DisagreementModel(), "critics", disagreement),
)  # fmt: skip


def rows_of(kind: Kind, table: int, seed: int = SEED, *, many: bool = False) -> pd.DataFrame:
    """Rows of one table, ``many`` for 48 subgroups.

    Columns are the attributes, outcome ``y``, score ``p``, decision ``d``, ``loss``, ``weight`` and what a critic ``disagrees``
    with.
    """
    rng = np.random.default_rng([seed, list(KINDS).index(kind), table])
    numbers = (LARGE_COLLINEAR if kind == "collinear" else LARGE) if many else SMALL
    every = itertools.product(*map(range, numbers))
    levels = np.array([each for each in every if kind != "collinear" or each[1] == each[2]])
    most = max(numbers)
    scale = {"wide": 5.0, "narrow": 0.05}.get(kind, 0.5)

    def effects() -> FloatArray:
        size = 3 * most + len(levels)
        drawn = rng.standard_t(1.5, size) if kind == "heavy" else rng.normal(size=size)
        total = drawn[: 3 * most].reshape(3, most)[np.arange(3), levels].sum(axis=1) + drawn[3 * most :]
        if kind == "outlier":
            total[0] += 6 / (0.5 * scale)
        return np.asarray(0.5 * scale * total)

    count = np.clip(np.exp(rng.normal(3.5, 1.0, len(levels))), 1, 400).astype(int)
    if kind == "unequal":
        count = np.r_[20_000, rng.integers(1, 5, len(levels) - 1)]
    at = np.repeat(np.arange(len(levels)), count)
    prevalence, shift, size = effects(), effects(), effects()
    y = (rng.random(len(at)) < 1 / (1 + np.exp(-prevalence[at]))).astype(int)
    latent = (-4.5 if kind == "rare" else -0.5) + shift[at] + 1.5 * (y - 0.5) + rng.logistic(size=len(at))
    frame = pd.DataFrame(levels[at].astype(str), columns=ATTRIBUTES)
    loss = size[at] + rng.normal(size=len(at))
    return frame.assign(
        y=y,
        p=1 / (1 + np.exp(-np.clip(latent, -30, 30))),
        d=(latent > 0).astype(int),
        loss=np.exp(np.clip(loss, -50, 50)) if kind == "heavy" else loss,
        weight=np.exp(rng.uniform(0, np.log(20), len(at))),
        disagrees=(rng.random(len(at)) < np.where(y == 1, 0.3, 0.1)).astype(int),
    )


def tally_of(word: Word, rows: pd.DataFrame, kind: Kind) -> xr.Dataset:
    """The tally that a word takes."""
    weight = "weight" if kind == "weighted" and word.data in ("rate", "many rates", "mean", "cells") else None
    if word.data in ("rate", "many rates"):
        return bg.tally(rows, ATTRIBUTES, ["sel"], y_pred="d", weights=weight)
    if word.data == "mean":
        return bg.tally(rows, ATTRIBUTES, ["mean"], loss="loss", weights=weight)
    if word.data == "cells":
        return bg.tally(rows, ATTRIBUTES, ["tpr", "fpr", "acc"], y_true="y", y_pred="d", confusion=True, weights=weight)
    if word.data == "scores":
        return bg.tally(rows, ATTRIBUTES, ["tpr", "fpr", "auc"], y_true="y", y_score="p", threshold=0.5)
    return bg.disagreement_tally(rows, ATTRIBUTES, "d", "disagrees")


@contextmanager
def more_draws(engine: ModuleType) -> Iterator[None]:
    """The engine with ten times as many draws by default."""
    defaults = engine.sample.__kwdefaults__
    before = defaults["draws"]
    defaults["draws"] = TIMES * before
    try:
        yield
    finally:
        defaults["draws"] = before


def values_of(report: xr.DataTree) -> FloatArray:
    """Draws (chain, draw, value) of every value that has some."""
    mu = report["posterior"]["mu"].transpose("chain", "draw", "metric", "subgroup").values
    mu = mu.reshape(*mu.shape[:2], -1)
    return np.asarray(mu[..., np.isfinite(mu).all(axis=(0, 1)) & (np.ptp(mu, axis=(0, 1)) > 0)])


def effective(draws: FloatArray) -> FloatArray:
    """Effective number (value,) of draws."""
    return np.asarray(az.ess(xr.Dataset({"mu": (("chain", "draw", "value"), draws)}), method="mean")["mu"].values)


def splits_of(report: xr.DataTree) -> IntArray | None:
    """Batches (split, draw) of the draws, chains in turn: those of one weighted point, or of one short chain; None for other draws.

    Factors of a joint model are weighted one by one, and split the draws in as many ways.
    """
    posterior = report["posterior"].to_dataset()
    number = posterior.sizes["chain"] * posterior.sizes["draw"]
    checks = report["diagnostics"].to_dataset()["check"].values
    if report.attrs["inference"] == "hamiltonian":
        steps = -(-number // (GROUPS * CHAINS_OF_A_GROUP))
        group, position = np.divmod(np.arange(number), number // GROUPS)
        return np.asarray((group * CHAINS_OF_A_GROUP + position // steps)[None])
    if not any(str(name).endswith("importance ESS") for name in checks):
        return None
    if "factor_sd" in posterior:
        points = posterior["factor_sd"].transpose("factor", "chain", "draw", ...).values
    else:
        points = posterior["tau"].transpose("chain", "draw", ...).values[None]
    each = points.reshape(len(points), number, -1)
    return np.stack([np.unique(point, axis=0, return_inverse=True)[1].reshape(-1) for point in each])


def squared_error(values: FloatArray, splits: IntArray) -> FloatArray:
    """Squared Monte Carlo error (value,) of means of draws (draw, value), by how much the sums of batches vary."""
    total = np.zeros(values.shape[1])
    for batch in splits:
        sums = np.zeros((batch.max() + 1, values.shape[1]))
        np.add.at(sums, batch, values - values.mean(axis=0))
        total += (sums**2).sum(axis=0)
    return total / len(values) ** 2


Errors = Callable[[FloatArray, FloatArray, float | None], FloatArray]
"""Monte Carlo errors (value,) of differences of means, from draws (draw, value) of two answers and their variance, if known."""


def errors_of(ours: xr.DataTree, theirs: Sequence[xr.DataTree]) -> Errors:
    """Errors by the batches of weighted draws and short chains, or by effective numbers of draws."""
    batches = [splits_of(each) for each in (ours, *theirs)]
    if any(each is None for each in batches):
        number = effective(values_of(ours))
        total = sum((effective(values_of(each)) for each in theirs), np.zeros_like(number))

        def by_effective_numbers(values: FloatArray, others: FloatArray, known: float | None) -> FloatArray:
            own, other = (each.var(axis=0) if known is None else known for each in (values, others))
            return np.asarray(np.sqrt(own / number + other / total))

        return by_effective_numbers
    first, *rest = [each for each in batches if each is not None]
    more = np.concatenate([part + position * part.shape[1] for position, part in enumerate(rest)], axis=1)
    return lambda values, others, _: np.asarray(np.sqrt(squared_error(values, first) + squared_error(others, more)))


def distance(ours: xr.DataTree, theirs: Sequence[xr.DataTree]) -> float:
    """Largest distance of two answers, in Monte Carlo errors: of means, and of probabilities beyond the 95 % limits of ours."""
    flat, pooled = (
        np.concatenate([each.reshape(-1, each.shape[-1]) for each in map(values_of, reports)])
        for reports in ([ours], theirs)
    )
    error = errors_of(ours, theirs)
    largest = np.abs(flat.mean(axis=0) - pooled.mean(axis=0)) / error(flat, pooled, None)
    for share in (0.025, 0.975):
        limit = np.quantile(flat, share, axis=0)
        below, up_to = (pooled < limit).mean(axis=0), (pooled <= limit).mean(axis=0)  # many draws may be at an end
        inside, others = (np.asarray(values < limit, dtype=np.float64) for values in (flat, pooled))
        within = error(inside, others, share * (1 - share)).clip(min=1 / len(flat))
        largest = np.maximum(largest, np.maximum(below - share, share - up_to) / within)
    return float(largest.max())


def distance_from_quadrature(report: xr.DataTree, tally: xr.Dataset) -> float:
    """Largest distance of the mean logits of partially pooled rates from quadrature, in Monte Carlo errors."""
    metric = tally.isel(metric=0)
    k, n = metric["successes"].values, metric["count"].values
    some = n > 0
    exact = quadrature.rates(
        k[some], n[some], overall_scale=LOGIT_OVERALL_SCALE, tau_scale=LOGIT_TAU_SCALE, family="half_normal"
    )
    mu = report["posterior"]["mu"].isel(metric=0).transpose("chain", "draw", "subgroup").values[..., some]
    logit = np.log(mu) - np.log1p(-mu)
    error = logit.std(axis=(0, 1)) / np.sqrt(effective(logit))
    return float((np.abs(logit.mean(axis=(0, 1)) - exact.eta) / error).max())


def line(word: Word, kind: Kind, table: int, seed: int = SEED) -> Line:
    """One line of the record."""
    name, first_seed = type(word.estimator).__name__, 1000 * (1 + list(KINDS).index(kind)) + table
    try:
        tally = tally_of(word, rows_of(kind, table, seed, many=word.data == "many rates"), kind)
        ours = bg.estimate(tally, word.estimator, seed=first_seed, inference="collapsed")
    except bg.InputError:
        return Line(name, word.data, kind, table, "refused")

    def answer(seed: int) -> xr.DataTree:
        return bg.estimate(tally, word.estimator, seed=seed, inference="collapsed")

    if not ours.attrs["usable"]:
        return Line(name, word.data, kind, table, "flagged")
    if word.engine is None:
        others = (answer(first_seed + 10_000 * (i + 1)) for i in range(2 * TIMES))
        theirs = list(itertools.islice((each for each in others if each.attrs["usable"]), TIMES))
    else:
        with more_draws(word.engine):
            theirs = [answer(first_seed + 10_000)]
    first, second, apart = distance(ours, theirs), np.nan, np.nan
    if first > BEYOND:
        second = distance(answer(first_seed + 500), theirs)
    if word.estimator == bg.PartialPooling() and word.data == "rate":
        apart = distance_from_quadrature(ours, tally)
    return Line(name, word.data, kind, table, "usable", first, second, apart)


def of_table(seed: int, position: int) -> list[list[Any]]:
    """Fields of the lines of all words on one table, tables of every kind taken in turn."""
    table, kind = divmod(position, len(KINDS))
    return [list(astuple(line(word, list(KINDS)[kind], table, seed))) for word in WORDS]


def study(replications: int = PER_KIND, seed: int = SEED, *, executor: Executor = HERE) -> list[Line]:
    """All lines of the record, of so many tables of every kind."""
    every = executor.run("hostile data", partial(of_table, seed), replications * len(KINDS), settings={"seed": seed})
    return [Line(*fields) for lines in every for fields in lines]


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the study and write its record."""
    asked = parser(PROGRAM, "Usable answers on data that no prior expects.", PER_KIND, SEED)
    record(asked.parse_args(arguments), study)


if __name__ == "__main__":
    main()
