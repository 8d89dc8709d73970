"""Does it pay to collect less? Optimist's and pessimist's values as rows are left out and models are trained again.

    python -m examples.published.intersectionality.subsampling --data FOLDER --output FILE --tables compas common_voice
    python -m examples.published.intersectionality.subsampling --data FOLDER --output FILE --tables adult diabetes --repeats 1

make docs/examples/intersectionality.csv and take about one and five minutes on one core; a table that the file has is
not done again.
"""

from __future__ import annotations

import argparse
import csv
import io
from collections.abc import Sequence
from dataclasses import astuple, dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from bayesgroups.data.arrays import FloatArray, IndexArray
from bayesgroups.questions.certification.bounds import limits
from bayesgroups.questions.certification.worst import critical
from bayesgroups.questions.subgroup_values import Sample
from examples.published.intersectionality.protected_tables import NAMES, Table, load_table
from examples.records import DIGITS, rows_as_csv, write

if TYPE_CHECKING:
    import pandas as pd


FRACTIONS = tuple(round(0.1 * step, 1) for step in range(1, 11))
FOLDS = 3
Z = 1.64
"""The published critical value, for Wald limits and the others alike."""
STATISTICS = ("worst", "optimist", "pessimist")
REPEATS = 2
SEED = 1
TREES = 25
"""Boosting rounds of a model."""


@dataclass(frozen=True)
class Point:
    """One line of the record.

    Attributes
    ----------
    table, study : str
        ``study`` is ``critical``: rows of one subgroup are left out and its own value is asked for; or ``whole``: rows of
        all are, and the worst subgroup's value is.
    accuracy : str
        ``in_sample`` as published, mean of the models over all rows; ``out_of_fold``: every row is judged by the model that
        has not seen it; ``loss`` where nothing is trained.
    interval, statistic : str
        Limits, and which value.
    fraction : float
        Of the rows that are kept.
    repeat : int
    subgroup : str
        Whose value it is.
    rows : int
        Those it has left.
    estimate, value : float
        Its accuracy (or loss) and the statistic; NaN where no row is left.
    """

    table: str
    study: str
    accuracy: str
    interval: str
    statistic: str
    fraction: float
    repeat: int
    subgroup: str
    rows: int
    estimate: float
    value: float


def judge(table: Table, kept: IndexArray, seed: int) -> dict[str, FloatArray]:
    """Train on the rows that are kept and say how right the models are in each of them.

    Parameters
    ----------
    table : Table
        Rows.
    kept : array (row,)
        Positions.
    seed : int
        Of the folds and the models.

    Returns
    -------
    dict of arrays (row,)
        Shares of right decisions: ``in_sample`` (mean of three models over all rows) and ``out_of_fold``. Where there is
        nothing to train, ``loss``, turned so that larger is better.
    """
    value = table.value[kept]
    if table.features is None:
        return {"loss": -value}
    features: pd.DataFrame = table.features.iloc[kept]
    from sklearn.ensemble import HistGradientBoostingClassifier

    fold = np.random.default_rng(seed).permutation(len(kept)) % FOLDS
    everywhere, held_out = np.zeros(len(kept)), np.zeros(len(kept))
    for number in range(FOLDS):
        train = fold != number
        if len(np.unique(value[train])) < 2:
            predicted = np.full(len(kept), value[train][0])
        else:
            model = HistGradientBoostingClassifier(
                max_iter=TREES,
                categorical_features="from_dtype",
                early_stopping=False,  # pyright: ignore[reportArgumentType]  # its annotation knows "auto" only
                random_state=seed,
            )
            predicted = model.fit(features[train], value[train]).predict(features)
        right = (predicted == value).astype(np.float64)
        everywhere += right / FOLDS
        held_out[~train] = right[~train]
    return {"in_sample": everywhere, "out_of_fold": held_out}


def describe(right: FloatArray, subgroup: IndexArray, groups: int) -> Sample:
    """Reduce rows to one number per subgroup (subgroup,), with the row variance pooled."""
    count = np.bincount(subgroup, minlength=groups).astype(np.float64)
    with np.errstate(divide="ignore", invalid="ignore"):
        mean = np.where(count > 0, np.bincount(subgroup, right, minlength=groups) / count, np.nan)
        freedom = float(np.maximum(count - 1, 0).sum())
        pooled = float(((right - mean[subgroup]) ** 2).sum()) / max(freedom, 1.0)
        variance = pooled / count
    return Sample(mean, count, mean * count, variance, variance, freedom)


def statistics(sample: Sample, interval: str) -> dict[str, FloatArray]:
    """The value that each statistic takes the smallest of (subgroup,), clipped where the metric is a rate."""
    bounds = limits(sample, interval, Z)
    top = 1.0 if interval in ("wald", "clopper_pearson") else np.inf
    bottom = 0.0 if np.isfinite(top) else -np.inf
    return {
        "worst": sample.estimate,
        "optimist": np.clip(bounds.upper, bottom, top),
        "pessimist": np.clip(bounds.lower, bottom, top),
    }


def study(table: Table, *, repeats: int = REPEATS, seed: int = SEED) -> list[Point]:
    """Leave rows out of the critical subgroups alone, and out of the whole table.

    Parameters
    ----------
    table : Table
        Rows.
    repeats : int
        Subsamples per fraction.
    seed : int
        Source of randomness.

    Returns
    -------
    list of Point
    """
    rng = np.random.default_rng(seed)
    everyone = np.arange(len(table.value))
    intervals = ("pooled_t",) if table.features is None else ("wald", "clopper_pearson")
    points: list[Point] = []
    full = judge(table, everyone, seed)
    targets: dict[tuple[str, str, str], int] = {}
    for accuracy, right in full.items():
        sample = describe(right, table.subgroup, len(table.labels))
        for interval in intervals:
            for name, values in statistics(sample, interval).items():
                targets[accuracy, interval, name] = critical(values, sample.count).position
    for repeat in range(repeats):
        for fraction in FRACTIONS:
            kept = np.sort(rng.permutation(len(everyone))[: max(1, round(fraction * len(everyone)))])
            judged = full if len(kept) == len(everyone) else judge(table, kept, seed + repeat)
            points += _points(table, judged, kept, "whole", fraction, repeat, intervals, None)
            for group in sorted(set(targets.values())):
                members = everyone[table.subgroup == group]
                some = rng.permutation(members)[: round(fraction * len(members))]
                kept = np.sort(np.concatenate([everyone[table.subgroup != group], some]))
                mine = {key: group for key, target in targets.items() if target == group}
                judged = full if len(kept) == len(everyone) else judge(table, kept, seed + repeat)
                points += _points(table, judged, kept, "critical", fraction, repeat, intervals, mine)
    return points


def _points(
    table: Table, judged: dict[str, FloatArray], kept: IndexArray, name: str, fraction: float, repeat: int,
    intervals: Sequence[str], targets: dict[tuple[str, str, str], int] | None,
) -> list[Point]:  # fmt: skip
    points = []
    for accuracy, right in judged.items():
        sample = describe(right, table.subgroup[kept], len(table.labels))
        sign = -1.0 if accuracy == "loss" else 1.0
        for interval in intervals:
            for statistic, values in statistics(sample, interval).items():
                if targets is not None and (accuracy, interval, statistic) not in targets:
                    continue
                place = critical(values, sample.count).position
                if targets is not None:
                    place = targets[accuracy, interval, statistic]
                rows, estimate = int(sample.count[place]), sign * float(sample.estimate[place])
                value = sign * float(values[place])
                label = table.labels[place]
                points.append(
                    Point(
                        table.name, name, accuracy, interval, statistic, fraction, repeat, label, rows, estimate, value
                    )
                )
    return points


def read_points(path: Path) -> list[Point]:
    """Read a record back."""
    lines = csv.DictReader(io.StringIO(path.read_text(encoding="utf-8")))
    return [
        Point(
            line["table"], line["study"], line["accuracy"], line["interval"], line["statistic"], float(line["fraction"]),
            int(line["repeat"]), line["subgroup"], int(line["rows"]), float(line["estimate"]), float(line["value"]),
        )
        for line in lines
    ]  # fmt: skip


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the study and write its record, table by table."""
    program = "python -m examples.published.intersectionality.subsampling"
    parser = argparse.ArgumentParser(prog=program, description="Optimist and pessimist as rows are left out.")
    parser.add_argument("--data", type=Path, required=True, help="the folder that holds the public data")
    parser.add_argument("--output", type=Path, required=True, help="the CSV file to write")
    parser.add_argument("--tables", nargs="+", default=list(NAMES), help="which tables")
    parser.add_argument("--repeats", type=int, default=REPEATS)
    parser.add_argument("--seed", type=int, default=SEED)
    given = parser.parse_args(arguments)
    lines: list[Sequence[object]] = []
    if given.output.is_file():
        lines.extend(list(csv.reader(io.StringIO(given.output.read_text(encoding="utf-8"))))[1:])
    heading = [field.name for field in fields(Point)]
    for name in given.tables:
        if name in {line[0] for line in lines}:
            continue
        points = study(load_table(name, given.data), repeats=given.repeats, seed=given.seed)
        lines += [
            [round(value, DIGITS) if isinstance(value, float) else value for value in astuple(point)]
            for point in points
        ]
        write(given.output, rows_as_csv([heading, *lines]))


if __name__ == "__main__":
    main()
