"""Published goodness-of-fit tests on the diabetes admissions, beside ours.

python -m examples.published.structured_regression.goodness --data FOLDER/diabetes --output docs/examples/goodness_of_fit.md
"""

from __future__ import annotations

import argparse
import itertools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import xarray as xr

from bayesgroups.data.thresholds import selection_threshold
from bayesgroups.datasets.diabetes import load_diabetes
from bayesgroups.datasets.draws import draw_evaluation
from bayesgroups.datasets.synthetic import synthetic_metric
from bayesgroups.errors import InputError
from bayesgroups.questions.certification.multiplicity import adjust
from bayesgroups.questions.explanation.nested_models import goodness_of_fit
from bayesgroups.tallies import tally
from examples import pages
from examples.comparisons.readmission import BY, score_held_back
from examples.published.structured_regression.published_goodness import (
    CHAINS,
    FEATURES,
    MODELS,
    ORDER,
    PUBLISHED,
    Table,
)

if TYPE_CHECKING:
    import pandas as pd

ROWS, DRAWS, SEED = 5000, 50, 1
SELECTED = 0.2
"""Share of the population that the threshold selects."""
HEAD = ("metric", "comparison", "published", "ours", "Holm", "pure error", "median", "range", "< .05")
PAGE = pages.PAGES / "goodness_of_fit.md"


@dataclass(frozen=True)
class Line:
    """One comparison, published and ours.

    Attributes
    ----------
    table, metric, comparison : str
    published : float
        The published p-value, to three decimals.
    p_value, holm, pure_error : float
        Of the first draw: the same test, Holm-adjusted within its table, and against sampling noise.
    low, median, high, rejected : float
        Over all draws: 5 %, 50 % and 95 % quantiles of the p-value and the share below .05.
    """

    table: Table
    metric: str
    comparison: str
    published: float
    p_value: float
    holm: float
    pure_error: float
    low: float
    median: float
    high: float
    rejected: float

    @property
    def usual(self) -> bool:
        """True if the published value lies where nine draws of ten do, as far as three decimals tell."""
        return round(self.low, 3) <= self.published <= round(self.high, 3)


def study(admissions: pd.DataFrame, *, rows: int = ROWS, draws: int = DRAWS, seed: int = SEED) -> list[Line]:
    """Repeat both published tables on evaluation sets of the diabetes admissions.

    Parameters
    ----------
    admissions : pandas DataFrame
        From `bayesgroups.datasets.load_diabetes`.
    rows : int
        Rows of an evaluation set.
    draws : int
        Evaluation sets, at least 1.
    seed : int
        Source of randomness: split, synthetic values and first draw.

    Returns
    -------
    list of Line
        In the order of `PUBLISHED` and `ORDER`; the same numbers for the same arguments.

    Raises
    ------
    InputError
        If there is no draw, or as in `bayesgroups.datasets.draw_evaluation`.

    Examples
    --------
    >>> from bayesgroups.datasets import load_diabetes
    >>> from examples.published.structured_regression.goodness import study
    >>> lines = study(load_diabetes("data/diabetes"), draws=1)  # doctest: +SKIP
    """
    if draws < 1:
        raise InputError(f"draws={draws} must be 1 or more")
    population = score_held_back(admissions, seed)
    cut = selection_threshold(population["score"].to_numpy(), SELECTED).threshold
    population = population.assign(not_readmitted=1 - population["readmitted"])
    synthetic = {model: synthetic_metric(population, model, by=BY, seed=seed).values for model in MODELS}
    population = population.assign(**{f"synthetic {model}": values for model, values in synthetic.items()})
    sets = [draw_evaluation(population, BY, rows, seed + i) for i in range(draws)]
    lines = []
    for table in ("real", "synthetic"):
        tests = [
            xr.concat([_tests(tallied, table) for tallied in _tallies(drawn, table, cut)], "metric") for drawn in sets
        ]
        lines += _lines(table, xr.concat(tests, "draw"))
    return lines


def _tallies(rows: pd.DataFrame, table: Table, threshold: float) -> Iterable[xr.Dataset]:
    if table == "real":
        yield tally(
            rows, by=BY, metrics=list(PUBLISHED["real"]), y_true="readmitted", y_score="score", threshold=threshold,
            features=FEATURES,
        )  # fmt: skip
        return
    for model in MODELS:
        tallied = tally(rows, by=BY, metrics=["mean"], loss=f"synthetic {model}", features=FEATURES)
        yield tallied.assign_coords(metric=[model])


def _tests(tallied: xr.Dataset, table: Table) -> xr.Dataset:
    """Both p-values of every comparison of a table: dims metric, comparison."""
    tests = [goodness_of_fit(tallied, chain)[["p_value", "pure_error_p_value"]] for chain in CHAINS[table]]
    joined = xr.concat([test.drop_dims("model", errors="ignore") for test in tests], "comparison")
    return joined.sel(comparison=list(ORDER[table]))


def _lines(table: Table, tests: xr.Dataset) -> list[Line]:
    p, pure = (
        tests[name].transpose("metric", "comparison", "draw").values for name in ("p_value", "pure_error_p_value")
    )
    adjusted = adjust(p[:, :, 0], "holm")
    lines = []
    for (i, metric), (j, comparison) in itertools.product(enumerate(PUBLISHED[table]), enumerate(ORDER[table])):
        finite = p[i, j][np.isfinite(p[i, j])]
        low, median, high = np.quantile(finite, [0.05, 0.5, 0.95]) if len(finite) else [np.nan] * 3
        rejected = float(np.mean(finite < 0.05)) if len(finite) else np.nan
        lines.append(
            Line(
                table, metric, comparison, PUBLISHED[table][metric][j], float(p[i, j, 0]), float(adjusted[i, j]),
                float(pure[i, j, 0]), float(low), float(median), float(high), rejected,
            )
        )  # fmt: skip
    return lines


def numbers(lines: Sequence[Line]) -> dict[str, str]:
    """Tables of the page, and how many published values lie within the range of ours, by the name of their block."""
    made = {}
    tables: tuple[Table, ...] = ("real", "synthetic")
    for number, name in enumerate(tables, start=1):
        chosen = [line for line in lines if line.table == name]
        made[f"table {number}"] = pages.table(HEAD, map(_row, chosen))
        usual = sum(line.usual for line in chosen)
        made[f"within range {number}"] = f"{usual} of {len(chosen)} published values lie within the range."
    return made


def _row(line: Line) -> list[str]:
    star = "" if line.usual else " \\*"
    ours = (f"{value:.3f}" for value in (line.p_value, line.holm, line.pure_error, line.median))
    spread, rejected = f"{line.low:.3f} to {line.high:.3f}", f"{100 * line.rejected:.0f} %"
    return [line.metric, line.comparison, f"{line.published:.3f}{star}", *ours, spread, rejected]


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the study and fill its numbers into its page."""
    program = "python -m examples.published.structured_regression.goodness"
    parser = argparse.ArgumentParser(prog=program, description="Published goodness-of-fit tests beside ours.")
    parser.add_argument("--data", help="folder or file of the diabetes data; without it, it is downloaded")
    parser.add_argument("--output", type=Path, required=True, help="the Markdown page to write")
    parser.add_argument("--rows", type=int, default=ROWS, help="rows of an evaluation set")
    parser.add_argument("--draws", type=int, default=DRAWS, help="evaluation sets")
    parser.add_argument("--seed", type=int, default=SEED)
    given = parser.parse_args(arguments)
    lines = study(load_diabetes(given.data), rows=given.rows, draws=given.draws, seed=given.seed)
    pages.fill(given.output, numbers(lines), prose=PAGE)


if __name__ == "__main__":
    main()
