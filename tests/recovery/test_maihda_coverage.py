"""The record of the coverage of the interaction share, held to what pages say of it, and a part of it made again."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from bayesgroups.errors import InputError
from tests.recovery.studies.maihda_coverage import MODELS, SEED, TABLES, main, read, study, table

RECORD = Path(__file__).parent / "records" / "maihda_coverage.csv"


def test_the_record_is_whole() -> None:
    lines = read(RECORD)
    assert [line.model for line in lines] == list(MODELS)
    assert {(line.tables, line.seed) for line in lines} == {(TABLES, SEED)}


def test_the_posterior_of_crossed_effects_covers() -> None:
    crossed = next(line for line in read(RECORD) if line.model == "crossed")
    assert crossed.coverage >= 0.93


def test_likelihood_often_has_no_variance_left() -> None:
    assert all(line.boundary > 0.2 for line in read(RECORD))


def test_tables_are_sparse_and_their_share_is_a_share() -> None:
    tally, truth = table(SEED, 4)
    count = tally["count"].values[0]
    assert (len(count), count.min() >= 1, count.max() <= 20) == (36, True, True)
    assert 0 < truth < 1


def test_a_part_can_be_made_again(tmp_path: Path) -> None:
    first = study(3, SEED, models=["regression"])
    assert first == study(3, SEED)[1:]
    path = tmp_path / "record.csv"
    main(["--tables", "3", "--output", str(path)])
    again = read(path)
    assert [line.model for line in again] == list(MODELS)
    assert again[1].coverage == pytest.approx(first[0].coverage, abs=1e-6)
    assert np.isfinite([line.width for line in again]).all()


def test_too_few_tables_are_refused() -> None:
    with pytest.raises(InputError, match="replications=1 must be 2 or more"):
        study(1)


@pytest.mark.slow
def test_the_line_of_the_regression_can_be_made_again() -> None:
    recorded = next(line for line in read(RECORD) if line.model == "regression")
    again = study(models=["regression"])[0]
    for name in ("coverage", "width", "bias", "usable", "boundary"):
        assert getattr(again, name) == pytest.approx(getattr(recorded, name), abs=3e-3)
