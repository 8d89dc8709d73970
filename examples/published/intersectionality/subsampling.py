"""Does it pay to collect less? Optimist's and pessimist's values as rows are left out and models are trained again.

    python -m examples.published.intersectionality.subsampling --data FOLDER --output FILE --tables compas --repeats 3

makes the part of docs/examples/intersectionality.csv that is about COMPAS, and docs/records.md says how the others are made; a
table that the file has is not done again.
"""

from __future__ import annotations

import argparse
import csv
import io
from collections.abc import Sequence
from dataclasses import astuple, dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import xarray as xr

import bayesgroups as bg
from examples.published.intersectionality.protected_tables import TABLES, Table, load_table
from examples.published.intersectionality.published_certification import CRITICAL_VALUE
from examples.records import DIGITS, rows_as_csv, write

if TYPE_CHECKING:
    from sklearn.ensemble import HistGradientBoostingClassifier

Judged = Literal["out_of_fold", "in_sample"]
LeftOut = Literal["critical", "all"]
Interval = Literal["wald", "clopper_pearson", "pooled_t"]

FRACTIONS = tuple(step / 10 for step in range(1, 11))
FOLDS = 3
REPEATS = 1
SEED = 1
STUDIES: tuple[LeftOut, ...] = ("critical", "all")


@dataclass(frozen=True)
class Point:
    """One line of the record.

    Attributes
    ----------
    table : str
    left_out : str
        ``critical``: rows of one subgroup are left out and its own value is asked for; or ``all``: rows of all are, and the
        worst subgroup's value is.
    judged : str
        ``in_sample`` as published, mean of the models over all rows; ``out_of_fold``: every row is judged by the model that
        has not seen it; ``given`` where nothing is trained.
    interval, statistic : str
        Limits, and the value.
    fraction : float
        Fraction of the rows that are kept.
    repeat : int
    subgroup : str
        The subgroup whose value it is.
    rows : int
        Its rows that are kept.
    groups : int
        Subgroups that take part.
    estimate, value : float
        Its accuracy (or loss) and the statistic; NaN where no row is left.
    """

    table: str
    left_out: str
    judged: str
    interval: str
    statistic: str
    fraction: float
    repeat: int
    subgroup: str
    rows: int
    groups: int
    estimate: float
    value: float


def boosting() -> HistGradientBoostingClassifier:
    """The classifier that is trained: gradient boosting with scikit-learn's settings, and all rows for trees."""
    from sklearn.ensemble import HistGradientBoostingClassifier

    return HistGradientBoostingClassifier(
        categorical_features="from_dtype",
        early_stopping=False,  # pyright: ignore[reportArgumentType]  # its annotation knows "auto" only
        random_state=SEED,
    )


def forms(table: Table) -> tuple[tuple[Judged, Interval], ...]:
    """Judgements and limits of a table: as published, and ours; one where they are the same."""
    if "loss" in table.columns:
        return (("out_of_fold", "pooled_t"),)
    return (("in_sample", "wald"), ("out_of_fold", "clopper_pearson"))


def subsampled(
    table: Table, left_out: LeftOut, judged: Judged, interval: Interval, *,
    fractions: Sequence[float] = FRACTIONS, repeats: int = REPEATS, seed: int = SEED,
) -> xr.Dataset:  # fmt: skip
    """Answer of `bayesgroups.subsampling` about a table, with the published critical value."""
    return bg.subsampling(
        table.rows, table.by, "mean" if "loss" in table.columns else "acc",
        y_true=table.columns.get("y_true"), y_pred=table.columns.get("y_pred"), loss=table.columns.get("loss"),
        model=boosting() if table.features else None, features=table.features, judged=judged, folds=FOLDS,
        left_out=left_out, fractions=fractions, repeats=repeats, critical_value=CRITICAL_VALUE, interval=interval, seed=seed,
    )  # fmt: skip


def points(name: str, answer: xr.Dataset) -> list[Point]:
    """Lines of the record of one answer."""
    stacked = answer.stack(line=("statistic", "fraction", "repeat"))
    return [
        Point(
            name, str(answer.attrs["left_out"]), str(answer.attrs["judged"]), str(answer.attrs["interval"]),
            str(line["statistic"].values), float(line["fraction"]), int(line["repeat"]), str(line["subgroup"].values),
            round(float(line["count"])), int(line["groups"]), float(line["estimate"]), float(line["value"]),
        )
        for line in (stacked.isel(line=i) for i in range(stacked.sizes["line"]))
    ]  # fmt: skip


def study(
    table: Table, *, fractions: Sequence[float] = FRACTIONS, repeats: int = REPEATS, seed: int = SEED
) -> list[Point]:
    """Leave rows out of the critical subgroups alone, and out of the whole table.

    Parameters
    ----------
    table : Table
        Rows.
    fractions : sequence of float
        Fractions of the rows that are kept.
    repeats : int
        Subsamples per fraction.
    seed : int
        Source of randomness.

    Returns
    -------
    list of Point
    """
    answers = [
        subsampled(table, left_out, judged, interval, fractions=fractions, repeats=repeats, seed=seed)
        for left_out in STUDIES
        for judged, interval in forms(table)
    ]
    return [point for answer in answers for point in points(table.name, answer)]


def read_points(path: Path) -> list[Point]:
    """Read a record back."""
    lines = csv.DictReader(io.StringIO(path.read_text(encoding="utf-8")))
    return [
        Point(
            line["table"], line["left_out"], line["judged"], line["interval"], line["statistic"], float(line["fraction"]),
            int(line["repeat"]), line["subgroup"], int(line["rows"]), int(line["groups"]), float(line["estimate"]),
            float(line["value"]),
        )
        for line in lines
    ]  # fmt: skip


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the study and write its record, table by table."""
    program = "python -m examples.published.intersectionality.subsampling"
    parser = argparse.ArgumentParser(prog=program, description="Optimist and pessimist as rows are left out.")
    parser.add_argument("--data", type=Path, required=True, help="the folder that holds the public data")
    parser.add_argument("--output", type=Path, required=True, help="the CSV file to write")
    parser.add_argument("--tables", nargs="+", default=list(TABLES), help="which tables")
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
        lines += [
            [round(value, DIGITS) if isinstance(value, float) else value for value in astuple(point)]
            for point in study(load_table(name, given.data), repeats=given.repeats, seed=given.seed)
        ]
        lines.sort(key=lambda line: list(TABLES).index(str(line[0])))  # whichever tables were done first
        write(given.output, rows_as_csv([heading, *lines]))


if __name__ == "__main__":
    main()
