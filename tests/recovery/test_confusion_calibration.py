"""The record of simulation-based calibration of the confusion model, held to uniformity and to the gate; and how it is made.

The record is made, in about ten minutes, by

    python -m bayesgroups.studies.confusion_calibration --output tests/recovery/records/sbc_confusion.csv
"""

from __future__ import annotations

import csv
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from bayesgroups.errors import InputError
from bayesgroups.inference.verdicts import IS_ESS, K_HAT
from bayesgroups.studies.calibration import DRAWS
from bayesgroups.studies.confusion_calibration import METRICS, ROWS, SEED, main, study

RECORDS = Path(__file__).parent / "records"


@cache
def record(name: str = "") -> list[dict[str, str]]:
    with (RECORDS / f"sbc_confusion{name}.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_every_quantity_is_there() -> None:
    assert [line["quantity"] for line in record()] == [f"{metric}[{n}]" for metric in METRICS for n in ROWS]
    assert all(int(line["replications"]) >= 300 and int(line["seed"]) == SEED for line in record())


def test_ranks_are_uniform() -> None:
    """The smallest of all p-values falls below the bound once in a thousand records of a sound engine."""
    p_values = [float(line[name]) for line in record() for name in ("chi2_p", "ks_p")]
    assert min(p_values) > 0.001 / len(p_values)
    for line in record():
        size = float(line["replications"])
        assert abs(float(line["mean_pit"]) - 0.5) < 4.2 * np.sqrt(1 / 12 / size)
        assert abs(float(line["variance_pit"]) - 1) < 4.2 * np.sqrt(0.8 / size)


def test_fits_pass_the_gate() -> None:
    """One fit in a hundred may be left to NUTS; here, with a thousand draws, so many are."""
    fits = record("_fits")
    assert len(fits) >= 300
    failed = [fit for fit in fits if float(fit["k_hat"]) > K_HAT or float(fit["ess"]) < IS_ESS]
    assert len(failed) <= 0.01 * len(fits)


def test_the_command_writes_three_files(tmp_path: Path) -> None:
    main(["--output", str(tmp_path / "one.csv"), "--replications", "1"])
    assert sorted(path.name for path in tmp_path.iterdir()) == ["one.csv", "one_fits.csv", "one_ranks.csv"]
    ranks, fits = study(1, SEED)
    assert len(ranks) == len(METRICS) * len(ROWS)
    assert all(0 <= rank[0] <= DRAWS for rank in ranks.values())
    assert len(fits) == 1


def test_no_replications_are_refused() -> None:
    with pytest.raises(InputError, match="replications=0 must be 1 or more"):
        study(0, SEED)
