"""Means of losses whose rows have heavy tails: coverage of 95 % intervals and error, by the size of the subgroup.

    python -m tests.recovery.studies.heavy_tails --data FOLDER --output tests/recovery/records/heavy_tails.csv

A table has 24 subgroups, whose means are crossed effects on the log scale and known: a loss of mean 1 times the subgroup's mean.
Losses are log-normal; zero in seven rows of ten; repeated, up to thirty times their size, in one row of fifty; or word error rates
of the speakers of Common Voice, which FOLDER holds, from raw texts and from normalised ones with repetitions. The control has
normal losses whose spread differs between subgroups. In two more designs the speakers' own groups are the superpopulation, so that
means and spreads differ as they do there. Rows are drawn independently, few or many; ratios are to the standard estimator.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
import xarray as xr

import bayesgroups as bg
from bayesgroups.data.arrays import BoolArray, FloatArray, IntArray
from bayesgroups.estimators import Estimator
from bayesgroups.estimators.estimate import estimate
from bayesgroups.models.shared.subsets import subsets
from bayesgroups.studies.execution import HERE, Executor
from bayesgroups.studies.resampling import describe
from bayesgroups.studies.scores import jackknife
from examples.commands import parser, record
from examples.coverage_loop import Judgement, covers, judgements, require
from examples.published.data import load_common_voice
from examples.published.data.common_voice import Texts

PROGRAM = "tests.recovery.studies.heavy_tails"

SHAPE = (4, 2, 3)
"""Levels of the attributes."""
SPREAD = 0.1
"""Standard deviation of every component of the logs of the means: all together make a factor of 1.3."""
ROWS_MEAN, MIN_ROWS = 40.0, 3
"""Exponential distribution of the rows of a subgroup, and the fewest of them."""
SMALL = 25
"""Most rows of a small subgroup."""
MIN_SPEAKERS = 40
"""Fewest speakers of a group that is a superpopulation."""
LEVEL = 0.95
REPLICATIONS = 60
"""Tables of every design."""
SEED = 20_261_124
STANDARD = ("no_pooling", "frequentist")
"""What ratios are to."""
WORDS: Mapping[str, Estimator] = {
    "no_pooling": bg.NoPooling(),
    "partial_pooling": bg.PartialPooling(),
    "crossed_effects": bg.CrossedEffects(),
    "crossed_pooled": bg.CrossedEffects(row_variances="pooled"),
}
Table = tuple[xr.Dataset, FloatArray]
"""A tally of one mean, and the true means of its subgroups, NaN where there is none."""
Draw = Callable[[np.random.Generator], Table]
Law = Callable[[np.random.Generator, int], FloatArray]
"""Losses of mean 1, so many."""


@dataclass(frozen=True)
class Line:
    """One line of the record.

    Attributes
    ----------
    design, word, approach, size_class : str
        ``size_class`` is ``all``, ``small`` (at most 25 rows) or ``large``.
    coverage, coverage_mc : float
        Share of subgroups whose mean is covered, and its standard error over tables.
    above : float
        Share whose mean lies above the upper limit.
    mae, mae_mc, interval_score, interval_score_mc : float
        Ratios to the standard estimator, and their jackknife errors over tables.
    tables : int
    """

    design: str
    word: str
    approach: str
    size_class: str
    coverage: float
    coverage_mc: float
    above: float
    mae: float
    mae_mc: float
    interval_score: float
    interval_score_mc: float
    tables: int


def lognormal(rng: np.random.Generator, n: int) -> FloatArray:
    """Losses of mean 1 and skewness 6."""
    return rng.lognormal(-0.5, 1.0, n)


def zeros(rng: np.random.Generator, n: int) -> FloatArray:
    """Losses of mean 1, of which seven in ten are 0."""
    return np.where(rng.random(n) < 0.7, 0.0, rng.exponential(1 / 0.3, n))


def repeats(rng: np.random.Generator, n: int) -> FloatArray:
    """Losses of mean 1, of which one in fifty is 5 to 30 times as large as it would be."""
    times = np.where(rng.random(n) < 0.02, rng.uniform(5, 30, n), 1.0)
    return rng.gamma(2.0, 0.5, n) * times / (0.98 + 0.02 * 17.5)


def normal(rng: np.random.Generator, n: int) -> FloatArray:
    """Normal losses of mean 1, whose standard deviation is the subgroup's."""
    return 1 + rng.lognormal(-0.5, 0.5) * rng.standard_normal(n)


def designs(speakers: Mapping[Texts, pd.DataFrame]) -> dict[str, Draw]:
    """Designs by name; those of speech from ``speakers`` with sex, age and ``wer``, by the texts that errors are counted on.

    Examples
    --------
    >>> list(designs({}))
    ['lognormal', 'zeros', 'repeats', 'normal']
    """
    laws: dict[str, Law] = {"lognormal": lognormal, "zeros": zeros, "repeats": repeats, "normal": normal}
    made: dict[str, Draw] = {name: partial(simulate, law) for name, law in laws.items()}
    for texts, people in speakers.items():
        rates = people["wer"].to_numpy(dtype=np.float64)
        made[f"speech, {texts}"] = partial(simulate, partial(_resampled, rates / rates.mean()))
        made[f"groups, {texts}"] = partial(_groups, people)
    return made


def _resampled(values: FloatArray, rng: np.random.Generator, n: int) -> FloatArray:
    return rng.choice(values, n)


def _rows(rng: np.random.Generator, subgroups: int) -> IntArray:
    return np.maximum(np.round(rng.exponential(ROWS_MEAN, subgroups)), MIN_ROWS).astype(np.int64)


def simulate(law: Law, rng: np.random.Generator) -> Table:
    """A table whose means are crossed effects on the log scale.

    Examples
    --------
    >>> tally, truth = simulate(zeros, np.random.default_rng(1))
    >>> tally.sizes["subgroup"], bool((truth > 0).all())
    (24, True)
    """
    names = [f"a{i}" for i in range(len(SHAPE))]
    codes = np.array(list(itertools.product(*map(range, SHAPE))))
    who = pd.DataFrame({name: codes[:, i].astype(str) for i, name in enumerate(names)})
    rows, eta = _rows(rng, len(who)), np.zeros(len(who))
    for cell in subsets(bg.tally_from_counts(np.zeros(len(who)), rows, who)).cells:
        eta += SPREAD * rng.standard_normal(int(cell.max()) + 1)[cell]
    truth = np.exp(eta)
    frame = who.loc[np.repeat(np.arange(len(who)), rows)].reset_index(drop=True)
    frame["loss"] = np.concatenate([mean * law(rng, n) for mean, n in zip(truth, rows, strict=True)])
    return bg.tally(frame, by=names, metrics=["mean"], loss="loss"), truth


def _groups(people: pd.DataFrame, rng: np.random.Generator) -> Table:
    """A table of groups of speakers, each of them a superpopulation."""
    keys = sorted(set(zip(people["sex"], people["age"], strict=True)))
    everyone = {
        (sex, age): people.loc[(people["sex"] == sex) & (people["age"] == age), "wer"].to_numpy(dtype=np.float64)
        for sex, age in keys
    }
    groups = {key: rates for key, rates in everyone.items() if len(rates) >= MIN_SPEAKERS}
    drawn = [
        pd.DataFrame({"sex": sex, "age": age, "loss": rng.choice(rates, n)})
        for n, ((sex, age), rates) in zip(_rows(rng, len(groups)), groups.items(), strict=True)
    ]
    tally = bg.tally(pd.concat(drawn, ignore_index=True), by=["sex", "age"], metrics=["mean"], loss="loss")
    cells = zip(tally["sex"].values, tally["age"].values, strict=True)
    return tally, np.array([groups[cell].mean() if cell in groups else np.nan for cell in cells])


def study(
    replications: int = REPLICATIONS,
    seed: int = SEED,
    *,
    speakers: Mapping[Texts, pd.DataFrame],
    executor: Executor = HERE,
) -> list[Line]:
    """One line per design, estimator, side and size class.

    Parameters
    ----------
    replications : int
        Tables of every design, 2 or more.
    seed : int
        Source of randomness; the first tables are the same however many there are.
    speakers : mapping
        As in `designs`.
    executor : Executor
        Where tables are answered, each of them a piece, and what was covered kept.

    Returns
    -------
    list of Line

    Raises
    ------
    InputError
        If there are fewer than two tables.
    """
    require(replications)
    settings = {"seed": seed, "words": {name: describe(estimator) for name, estimator in WORDS.items()}}
    lines = []
    for name, draw in designs(speakers).items():
        judge = partial(_judge, draw, sum(name.encode()), seed)
        judged = judgements(f"heavy tails, {name}", judge, replications, settings=settings, executor=executor)
        for (word, approach), each in judged.items():
            for size_class, members in _size_classes(each).items():
                numbers = _summary(each, judged[STANDARD], members)
                lines.append(
                    Line(
                        design=name, word=word, approach=approach, size_class=size_class, **numbers, tables=replications
                    )
                )
    return lines


def _judge(draw: Draw, stream: int, seed: int, number: int) -> list[Judgement]:
    """Judgements of one table by estimator and side, (subgroup, part): covered, above, error, interval score, rows."""
    tally, truth = draw(np.random.default_rng([seed, stream, number]))
    with_truth, rows = np.isfinite(truth), tally["count"].values[0]
    kept: list[Judgement] = []
    for word, estimator in WORDS.items():
        report = estimate(tally, estimator, seed=seed + number)
        answers = report["estimates"].to_dataset().isel(metric=0).sel(level=LEVEL)
        for approach, point in (("bayesian", "median"), ("frequentist", "estimate")):
            if (word, approach) == ("crossed_pooled", "frequentist"):
                continue  # SureMap takes pooled variances anyway
            found = answers.sel(approach=approach)
            lower, upper = found["lower"].values, found["upper"].values
            missed = np.maximum(lower - truth, 0) + np.maximum(truth - upper, 0)
            score = upper - lower + 2 / (1 - LEVEL) * missed
            parts = (covers(lower, upper, truth), truth > upper, np.abs(found[point].values - truth), score, rows)
            kept.append(((word, approach), np.stack(parts, axis=1)[with_truth].astype(np.float64).tolist()))
    return kept


def _size_classes(judged: FloatArray) -> dict[str, BoolArray]:
    """Members (table, subgroup) of the classes of size."""
    small = judged[..., 4] <= SMALL
    return {"all": np.ones_like(small), "small": small, "large": ~small}


def _summary(judged: FloatArray, standard: FloatArray, members: BoolArray) -> dict[str, float]:
    """Coverage with its error, share above, and the two ratios with theirs, of the members (table, subgroup)."""

    own, others = ((parts[..., :4] * members[..., None]).sum(axis=1) for parts in (judged, standard))
    others[:, :2] = members.sum(axis=1)[:, None]

    def ratios(chosen: list[IntArray]) -> FloatArray:
        return np.asarray(own[chosen[0]].sum(axis=0) / others[chosen[0]].sum(axis=0))

    values, errors = (numbers.tolist() for numbers in jackknife(ratios, [len(judged)]))
    names = ("coverage", "above", "mae", "interval_score")
    return dict(zip(names, values, strict=True)) | {
        f"{name}_mc": error for name, error in zip(names, errors, strict=True) if name != "above"
    }


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the study and write its record."""
    asked = parser(PROGRAM, "Means of losses with heavy tails.", REPLICATIONS, SEED)
    asked.add_argument("--data", type=Path, required=True, help="folder with asr_commonvoice")
    given = asked.parse_args(arguments)
    record(given, partial(study, speakers=load_speakers(given.data)))


def load_speakers(data_folder: Path) -> dict[Texts, pd.DataFrame]:
    """Speakers of Common Voice by the texts that errors are counted on."""
    both: tuple[Texts, ...] = ("raw", "normalised")
    return {texts: load_common_voice(data_folder / "asr_commonvoice", texts=texts) for texts in both}


if __name__ == "__main__":
    main()
