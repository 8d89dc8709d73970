"""The record of simulation-based calibration of model-based metrics, held to uniformity; and how it is made.

The record is made, in about a quarter of an hour, by

    python -m bayesgroups.studies.score_calibration --output tests/recovery/records/sbc_model_based_metrics.csv
"""

from __future__ import annotations

import csv
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from bayesgroups.errors import InputError
from bayesgroups.studies import score_calibration
from bayesgroups.studies.calibration import DRAWS, measure
from bayesgroups.studies.score_calibration import SEED, Kind, main, ranks

RECORDS = Path(__file__).parent / "records"
KINDS: tuple[Kind, ...] = ("normal", "skewed")


@cache
def record() -> list[dict[str, str]]:
    with (RECORDS / "sbc_model_based_metrics.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


@cache
def recorded_ranks() -> dict[tuple[str, str], NDArray[np.int64]]:
    with (RECORDS / "sbc_model_based_metrics_ranks.csv").open(encoding="utf-8", newline="") as file:
        _, *lines = csv.reader(file)
    return {(line[0], line[1]): np.array(line[2:], dtype=np.int64) for line in lines}


def test_every_quantity_is_there() -> None:
    assert [(line["likelihood"], line["quantity"]) for line in record()] == list(recorded_ranks())
    assert {line["likelihood"] for line in record()} == set(KINDS)
    assert {"auc[2]", "spread", "mean[3,1]", "sd[2,0]", "scale[3]"} <= {line["quantity"] for line in record()}
    assert all(int(line["replications"]) >= 300 and int(line["seed"]) == SEED for line in record())


def test_ranks_are_uniform() -> None:
    """The smallest of all p-values falls below the bound once in a thousand records of a sound sampler."""
    p_values = [float(line[name]) for line in record() for name in ("chi2_p", "ks_p")]
    assert min(p_values) > 0.001 / len(p_values)
    for line in record():
        size = float(line["replications"])
        assert abs(float(line["mean_pit"]) - 0.5) < 4 * np.sqrt(1 / 12 / size)
        assert abs(float(line["variance_pit"]) - 1) < 4 * np.sqrt(0.8 / size)


def test_the_record_follows_from_its_ranks() -> None:
    lines = iter(record())
    for kind in KINDS:
        own = {quantity: found for (which, quantity), found in recorded_ranks().items() if which == kind}
        for again in measure(kind, own):
            line = next(lines)
            assert again.replications == int(line["replications"])
            for name in ("chi2_p", "ks_p", "mean_pit", "variance_pit"):
                assert getattr(again, name) == pytest.approx(float(line[name]), abs=1e-5)


@pytest.mark.parametrize("kind", KINDS)
def test_the_code_makes_the_record(kind: Kind) -> None:
    """The first data set is the same; ranks may move by what other draws, some 150 in effect, move them."""
    for quantity, again in ranks(kind, replications=1).items():
        before = recorded_ranks()[kind, quantity][:1]
        share = (again + before + 1) / (2 * DRAWS + 2)
        error = DRAWS * np.sqrt(2 * share * (1 - share) / 150)
        assert (np.abs(again - before) <= 4.5 * error + 10).all(), quantity


def test_the_command_writes_a_line_per_quantity(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = {quantity: values for (kind, quantity), values in recorded_ranks().items() if kind == "normal"}
    monkeypatch.setattr(score_calibration, "ranks", lambda kind, replications, seed: found)
    main(["--output", str(tmp_path / "sbc.csv"), "--replications", "3", "--seed", "7"])
    assert (tmp_path / "sbc.csv").read_text(encoding="utf-8").count("\n") == 1 + 2 * len(found)
    assert (tmp_path / "sbc_ranks.csv").read_text(encoding="utf-8").startswith("likelihood,quantity,0,1,")


def test_bad_arguments_are_refused() -> None:
    with pytest.raises(InputError, match="kind='t' is not one of 'normal', 'skewed'"):
        ranks("t")  # type: ignore[arg-type]
    with pytest.raises(InputError, match="replications=0 must be 1 or more"):
        ranks("normal", replications=0)
