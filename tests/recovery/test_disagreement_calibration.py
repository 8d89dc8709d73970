"""The record of simulation-based calibration of the disagreement model, held to uniformity; and how it is made.

The record is made, in about five minutes, by

    python -m bayesgroups.studies.disagreement_calibration --output tests/recovery/records/sbc_disagreement.csv
"""

from __future__ import annotations

import csv
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from bayesgroups.errors import InputError
from bayesgroups.studies.calibration import DRAWS
from bayesgroups.studies.disagreement_calibration import JUDGEMENTS, METRICS, SEED, main, study

RECORDS = Path(__file__).parent / "records"


@cache
def record(name: str = "") -> list[dict[str, str]]:
    with (RECORDS / f"sbc_disagreement{name}.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_every_quantity_is_there() -> None:
    names = [f"{metric}[{n}]" for metric in METRICS for n in JUDGEMENTS]
    assert [line["quantity"] for line in record()] == [*names, "log_likelihood"]
    assert all(int(line["replications"]) >= 800 and int(line["seed"]) == SEED for line in record())


def test_ranks_are_uniform() -> None:
    """The smallest of all p-values falls below the bound once in a thousand records of a sound engine."""
    p_values = [float(line[name]) for line in record() for name in ("chi2_p", "ks_p")]
    assert min(p_values) > 0.001 / len(p_values)
    for line in record():
        size = float(line["replications"])
        assert abs(float(line["mean_pit"]) - 0.5) < 4.2 * np.sqrt(1 / 12 / size)
        assert abs(float(line["variance_pit"]) - 1) < 4.2 * np.sqrt(0.8 / size)


def test_no_fit_failed_a_check() -> None:
    assert [line["failed"] for line in record("_checks")] == ["0"]
    assert int(record("_checks")[0]["fits"]) >= 800


def test_the_command_writes_three_files(tmp_path: Path) -> None:
    main(["--output", str(tmp_path / "one.csv"), "--replications", "1"])
    assert sorted(path.name for path in tmp_path.iterdir()) == ["one.csv", "one_checks.csv", "one_ranks.csv"]
    ranks, failed = study(1, SEED)
    assert {name: int(rank[0]) for name, rank in ranks.items()} == {
        line["quantity"]: int(line["0"]) for line in record("_ranks")
    }
    assert all(0 <= rank[0] <= DRAWS for rank in ranks.values())
    assert failed == []


def test_no_replications_are_refused() -> None:
    with pytest.raises(InputError, match="replications=0 must be 1 or more"):
        study(0, SEED)
