"""Records of simulation-based calibration: reading, and the bars they are held to."""

from __future__ import annotations

import csv
from collections.abc import Mapping
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from tests.recovery.studies.calibration_study import DRAWS, measure

RECORDS = Path(__file__).parent / "records"
Ranks = Mapping[str, NDArray[np.int64]]


@cache
def lines_of(name: str, end: str = "") -> tuple[dict[str, str], ...]:
    """The lines of the record of a study, or of one beside it such as ``fits``."""
    with (RECORDS / f"sbc_{name}{'_' if end else ''}{end}.csv").open(encoding="utf-8", newline="") as file:
        return tuple(csv.DictReader(file))


@cache
def ranks_of(name: str) -> dict[tuple[str, str], NDArray[np.int64]]:
    """Recorded ranks by likelihood and quantity."""
    return read_ranks(RECORDS / f"sbc_{name}_ranks.csv")


def read_ranks(path: Path) -> dict[tuple[str, str], NDArray[np.int64]]:
    """Ranks by likelihood and quantity."""
    with path.open(encoding="utf-8", newline="") as file:
        _, *lines = csv.reader(file)
    return {(line[0], line[1]): np.array(line[2:], dtype=np.int64) for line in lines}


def assert_uniform(name: str, errors: float = 4.2) -> None:
    """No test of uniformity fails, and no mean or variance is further off than so many Monte Carlo errors.

    The smallest of all p-values falls below the bound once in a thousand records of a sound engine.
    """
    p_values = _p_values(name)
    assert min(p_values) > 0.001 / len(p_values)
    for line in lines_of(name):
        size = float(line["replications"])
        assert abs(float(line["mean_pit"]) - 0.5) < errors * np.sqrt(1 / 12 / size), line
        assert abs(float(line["variance_pit"]) - 1) < errors * np.sqrt(0.8 / size), line


def assert_not_all_small(name: str, quantities: int) -> None:
    """Were p-values uniform, a mean this low would come about once in a thousand records with so many quantities."""
    assert np.mean(_p_values(name)) > 0.5 - 3.1 * np.sqrt(1 / 12 / quantities)


def assert_follows_from_its_ranks(name: str) -> None:
    """Every line is what the recorded ranks give."""
    assert [(line["likelihood"], line["quantity"]) for line in lines_of(name)] == list(ranks_of(name))
    found = {key: measure(key[0], {key[1]: ranks}, 0)[0] for key, ranks in ranks_of(name).items()}
    for line in lines_of(name):
        again = found[line["likelihood"], line["quantity"]]
        assert again.replications == int(line["replications"])
        for part in ("chi2_p", "ks_p", "mean_pit", "variance_pit"):
            assert getattr(again, part) == pytest.approx(float(line[part]), abs=1e-5), line


def assert_same_ranks(name: str, likelihood: str, again: Ranks, moved: int = 2) -> None:
    """The first data sets are those of the record, rank by rank.

    Exact engines draw as many numbers on every machine; linear algebra that rounds otherwise may carry a draw over the truth.
    """
    assert set(again) == {quantity for which, quantity in ranks_of(name) if which == likelihood}
    for quantity, rank in again.items():
        assert np.abs(rank - ranks_of(name)[likelihood, quantity][: len(rank)]).max() <= moved, quantity


def assert_made_again(name: str, likelihood: str, again: Ranks, effective: float = DRAWS, slack: float = 3.0) -> None:
    """The first data sets are those of the record: ranks move no further than other draws, so many in effect, move them.

    Long chains part ways where another processor rounds otherwise, so that draws are others there, of the same posterior.
    """
    assert set(again) == {quantity for which, quantity in ranks_of(name) if which == likelihood}
    for quantity, rank in again.items():
        before = ranks_of(name)[likelihood, quantity][: len(rank)]
        share = (rank + before + 1) / (2 * DRAWS + 2)
        error = DRAWS * np.sqrt(2 * share * (1 - share) / effective)
        assert (np.abs(rank - before) <= 4.5 * error + slack).all(), quantity


def _p_values(name: str) -> list[float]:
    return [float(line[part]) for line in lines_of(name) for part in ("chi2_p", "ks_p")]
