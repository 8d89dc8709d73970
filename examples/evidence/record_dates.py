"""Dates of the records: when each was made, the digest of its numbers, and the answers of estimators that it shows.

    python -m examples.evidence.record_dates --output docs/records.csv

takes a second. A record whose numbers have changed gets the time of ``--time``, now when left out, and so do those that
``--again`` names, which were made again with the same numbers; the others keep theirs. The column ``answers`` is written by hand,
as ``word:table`` of `examples.evidence.answers`, or ``word:table:approach`` where a record shows one approach. A record is stale
where one of them has come to answer otherwise since.
"""

from __future__ import annotations

import argparse
import datetime
import hashlib
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from bayesgroups.errors import InputError
from examples.evidence.answers import Answer
from examples.pages import blocks
from examples.records import as_csv, write

PROGRAM = "python -m examples.evidence.record_dates"
ROOT = Path(__file__).parents[2]
LIST = ROOT / "docs" / "records.md"
DATES = ROOT / "docs" / "records.csv"
COMPANIONS = ("_ranks", "_fits", "_checks")
"""Ends of files that a command writes beside its record."""
DIGITS_OF_DIGEST = 12


@dataclass(frozen=True)
class Dated:
    """A record: the minute in which it was made (UTC), the digest of its numbers, and the answers that it shows."""

    record: str
    made: str
    digest: str
    answers: str


def commands() -> dict[str, str]:
    """Command of every record by its name, from the list of records."""
    rows = re.findall(r"^\| `([^`]+)` \| `([^`]+)` \|", LIST.read_text(encoding="utf-8"), re.MULTILINE)
    return dict(rows)


def digest(path: Path) -> str:
    """First digits of the SHA-256 of a record and of the files beside it; of a page, of its blocks of numbers."""
    if path.suffix == ".md":
        content = "\n".join(blocks(path.read_text(encoding="utf-8")).values()).encode()
    else:
        beside = [path.with_name(f"{path.stem}{end}{path.suffix}") for end in COMPANIONS]
        content = b"".join(file.read_bytes() for file in (path, *beside) if file.is_file())
    return hashlib.sha256(content).hexdigest()[:DIGITS_OF_DIGEST]


def recorded(path: Path = DATES) -> dict[str, Dated]:
    """Dates of a file by the name of the record."""
    frame = pd.read_csv(path, dtype=str, keep_default_na=False)
    return {row[0]: Dated(*row) for row in frame.itertuples(index=False)}


def dated(before: Mapping[str, Dated], files: Mapping[str, Path], now: str, again: Collection[str] = ()) -> list[Dated]:
    """Dates of all records.

    Parameters
    ----------
    before : mapping
        Dates that there are.
    files : mapping
        Path of every record by its name.
    now : str
        Time of records that are new, such as 2026-11-26 09:30.
    again : collection of str
        Names of records that were made again with the same numbers.

    Raises
    ------
    InputError
        If ``now`` is not of this form, or a name is not that of a record.
    """
    if not re.fullmatch(r"\d{4}-\d\d-\d\d \d\d:\d\d", now):
        raise InputError(f"time {now!r} must have the form '2026-11-26 09:30'; give --time 'YYYY-MM-DD HH:MM'")
    for name in again:
        if name not in files:
            raise InputError(f"--again {name}: there is no such record; name one of docs/records.md")
    lines = []
    for name, path in files.items():
        sign, former = digest(path), before.get(name)
        kept = former is not None and former.digest == sign and name not in again
        made = former.made if former is not None and kept else now
        lines.append(Dated(name, made, sign, "" if former is None else former.answers))
    return lines


def stale(dates: Iterable[Dated], answers: Iterable[Answer]) -> list[str]:
    """Sentences, one for every record that was made before an answer that it shows came to be.

    Raises
    ------
    InputError
        If a record shows an answer that is not there.

    Examples
    --------
    >>> new = Answer("no_pooling", "rates", "bayesian", "fnr", 0.2, 0.1, 0.3, "2026-11-26 09:30")
    >>> stale([Dated("a.csv", "2026-11-25 10:00", "", "no_pooling:rates"), Dated("b.csv", "2026-11-27 10:00", "", "")], [new])
    ['a.csv is of 2026-11-25 10:00, no_pooling:rates of 2026-11-26 09:30']
    """
    since: dict[str, str] = {}
    for answer in answers:
        both = f"{answer.word}:{answer.table}"
        for name in (both, f"{both}:{answer.approach}"):
            since[name] = max(answer.since, since.get(name, ""))
    sentences = []
    for each in dates:
        for name in each.answers.split():
            if name not in since:
                raise InputError(f"{each.record}: there is no answer {name!r}; known: {', '.join(since)}")
            if each.made < since[name]:
                sentences.append(f"{each.record} is of {each.made}, {name} of {since[name]}")
    return sentences


def main(arguments: Sequence[str] | None = None) -> None:
    """Write the file."""
    parser = argparse.ArgumentParser(prog=PROGRAM, description="Dates of the records.")
    parser.add_argument("--output", type=Path, required=True, help="CSV file, whose dates stay where numbers do")
    now = datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%d %H:%M")
    parser.add_argument("--time", default=now, help="time of records that are new, UTC, as '2026-11-26 09:30'")
    parser.add_argument("--again", nargs="*", default=[], help="records made again with the same numbers")
    given = parser.parse_args(arguments)
    before = recorded(given.output) if given.output.is_file() else {}
    files = {name: ROOT / name for name in commands()}
    write(given.output, as_csv(dated(before, files, given.time, given.again)))


if __name__ == "__main__":
    main()
