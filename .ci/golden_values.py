"""Numbers of two folders of golden values: the same, up to rounding and the stopping rules of optimisers.

    python3 .ci/golden_values.py STORED MADE

compares every JSON and CSV file that was made, and fails where a number differs by more than 1e-5 and 1e-4 of itself, or text
differs at all. Numbers of ``mrp.json`` and ``mrp_brms.json`` come from chains, which another processor rounds otherwise: they
may differ by six of the stored Monte Carlo errors.
"""

from __future__ import annotations

import csv
import json
import math
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ABSOLUTE, RELATIVE = 1e-5, 1e-4
MONTE_CARLO_ERRORS = 6.0
CHAINS = ("mrp.json", "mrp_brms.json")


def leaves(value: Any, place: str = "") -> Iterator[tuple[str, Any]]:
    """Every value of nested lists and dictionaries with its place."""
    if isinstance(value, dict | list):
        items = value.items() if isinstance(value, dict) else enumerate(value)
        for key, each in items:
            yield from leaves(each, f"{place}/{key}")
    else:
        yield place, value


def content(path: Path) -> dict[str, Any]:
    """Values of a file by place: those of its JSON, or cells of its lines, which may be of several lengths."""
    text = path.read_text(encoding="utf-8")
    return dict(leaves(json.loads(text) if path.suffix == ".json" else list(csv.reader(text.splitlines()))))


def number(value: Any) -> float | None:
    """The number that a value is or spells; None for text."""
    try:
        return float(value)
    except (TypeError, ValueError):
        return None


def allowed(path: Path, place: str, stored: dict[str, Any]) -> float:
    """Largest difference of a number from the stored one."""
    if path.name in CHAINS:
        error = stored.get(place.replace("/value/", "/error/"))
        return MONTE_CARLO_ERRORS * float(error) if "/value/" in place and error else math.inf
    return ABSOLUTE + RELATIVE * abs(float(stored[place]))


def differences(path: Path, stored: dict[str, Any], made: dict[str, Any]) -> Iterator[str]:
    """What is not as stored, in words."""
    for place in sorted(set(stored) ^ set(made)):
        yield f"{path}{place} is in one of the two only"
    for place in set(stored) & set(made):
        before, after = number(stored[place]), number(made[place])
        if before is None or after is None:
            if stored[place] != made[place]:
                yield f"{path}{place}: {stored[place]!r} stored, {made[place]!r} made"
        elif not (abs(after - before) <= allowed(path, place, stored) or before == after):
            yield f"{path}{place}: {before!r} stored, {after!r} made"


def main(stored: Path, made: Path) -> int:
    """Number of values that differ, each printed; a made file that is not stored is an error."""
    compared, wrong, files = 0, [], sorted(made.glob("*/*"))
    for file in files:
        name = file.relative_to(made)
        values = content(stored / name)
        compared += len(values)
        wrong += list(differences(name, values, content(file)))
    sys.stdout.write("\n".join([*wrong, f"{compared} values of {len(files)} files, {len(wrong)} differ\n"]))
    return len(wrong)


if __name__ == "__main__":
    sys.exit(bool(main(Path(sys.argv[1]), Path(sys.argv[2]))))
