"""Bias of measures of disparity from sampling noise alone: figure 2 of Lum, Zhang, Bower (2022).

    python -m examples.published.debiasing.meta_metric_bias --output tests/recovery/records/meta_metric_bias.csv

takes about a minute on one core.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from bayesgroups.data.arrays import FloatArray
from bayesgroups.questions.disparities.named_measures import MeasureName, Settings
from bayesgroups.questions.disparities.named_measures import measure as measure_disparity
from bayesgroups.studies.execution import HERE, Executor
from examples.commands import parser, record
from examples.coverage_loop import lines_of_designs, mean_and_error, require

PROGRAM = "examples.published.debiasing.meta_metric_bias"

ROWS = 5000
NUMBERS = tuple(range(5, 155, 5))
LOWEST = tuple(round(0.1 * step, 1) for step in range(1, 10))
HIGHEST = 0.9
REPLICATIONS = 1000
SEED = 20_220_622
MEASURES: tuple[MeasureName, ...] = (
    "max_min_difference", "max_min_ratio", "max_absolute_difference", "mean_absolute_deviation", "variance",
    "generalised_entropy",
)  # fmt: skip
SETTINGS = Settings(alpha=0.5, smoothing=0.05)
"""What the authors' programs have: the ratio of max + 0.05 to min + 0.05, and alpha = 0.5."""
CORRECTED = ("corrected variance (published)", "corrected variance")


@dataclass(frozen=True)
class Bias:
    """One line of the record.

    Attributes
    ----------
    measure : str
        A measure, or the variance less the mean sampling variance, plugged in or unbiased; not truncated.
    subgroups : int
        Each has 5,000 / subgroups rows, rounded.
    lowest, truth, mean : float
        True rates are evenly spaced from ``lowest`` to 0.9; the measure of these, and its mean over estimates.
    error : float
        Monte Carlo standard error of the mean.
    replications, seed : int
    """

    measure: str
    subgroups: int
    lowest: float
    truth: float
    mean: float
    error: float
    replications: int
    seed: int


def study(
    replications: int = REPLICATIONS, seed: int = SEED, numbers: Sequence[int] = NUMBERS, *, executor: Executor = HERE
) -> list[Bias]:
    """Mean of every measure over simulated estimates, by number of subgroups and by how unequal they are.

    Parameters
    ----------
    replications : int
        At least 2.
    seed : int
        Source of randomness; every number of subgroups and lowest rate has its own stream.
    numbers : sequence of int
        Numbers of subgroups, 2 or more.
    executor : Executor
        Where they are tried, each number a piece, and their lines kept.

    Returns
    -------
    list of Bias

    Raises
    ------
    InputError
        If there are fewer than two replications.

    Examples
    --------
    >>> from examples.published.debiasing.meta_metric_bias import study
    >>> lines = [line for line in study(50, 1, (20,)) if line.measure == "variance" and line.lowest == 0.9]
    >>> [line.truth < 1e-12 and line.mean > 0 for line in lines]
    [True]
    """
    require(replications)
    measure = partial(_measure, replications, seed, tuple(numbers))
    settings = {"seed": seed, "replications": replications, "numbers": list(numbers)}
    name = "bias of measures of disparity"
    return lines_of_designs(Bias, name, measure, len(numbers), settings=settings, executor=executor)


def _measure(replications: int, seed: int, numbers: Sequence[int], position: int) -> list[Bias]:
    number = numbers[position]
    n, lines = round(ROWS / number), []
    for lowest in LOWEST:
        rng = np.random.default_rng([seed, number, round(10 * lowest)])
        rate = np.linspace(lowest, HIGHEST, number)
        y = rng.binomial(n, rate, size=(replications, number)) / n
        values: dict[str, tuple[float, FloatArray]] = {}
        for measure in MEASURES:
            values[measure] = float(measure_disparity(measure, rate, SETTINGS)), measure_disparity(measure, y, SETTINGS)
        noise = (y * (1 - y)).mean(axis=1)
        truth, plain = values["variance"]
        for name, divisor in zip(CORRECTED, (n, n - 1), strict=True):
            values[name] = truth, plain - noise / divisor
        for name, (truth, value) in values.items():
            lines.append(Bias(name, number, lowest, truth, *mean_and_error(value), replications, seed))
    return lines


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the study and write its record."""
    asked = parser(PROGRAM, "Bias of measures of disparity by number of subgroups.", REPLICATIONS, SEED)
    record(asked.parse_args(arguments), study)


if __name__ == "__main__":
    main()
