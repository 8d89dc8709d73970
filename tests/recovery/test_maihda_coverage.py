"""The record of the coverage of the interaction share, held to what the page says of it, and a line of it made again."""

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


def test_crossed_effects_cover_more_often_than_the_regression() -> None:
    crossed, main_effects, regression = read(RECORD)
    assert regression.coverage + 2 * regression.mc_error < crossed.coverage
    assert (crossed.usable, main_effects.usable, regression.usable) == (1, 1, 1)


def test_main_effects_and_strata_cover() -> None:
    """Without components of pairs, which make small shares unlikely beforehand, 95 % limits hold 93 % and more, without bias."""
    crossed, main_effects, _ = read(RECORD)
    assert main_effects.coverage >= 0.93
    assert abs(main_effects.bias) < 0.02 < crossed.bias
    assert main_effects.width < 1.1 * crossed.width
    assert crossed.coverage + crossed.mc_error >= 0.93


def test_tables_are_sparse_and_their_share_is_a_share() -> None:
    tally, truth = table(SEED, 4)
    count = tally["count"].values[0]
    assert (len(count), count.min() >= 1, count.max() <= 20) == (36, True, True)
    assert 0 < truth < 1


@pytest.mark.record
def test_a_line_does_not_depend_on_the_others(tmp_path: Path) -> None:
    first = study(2, SEED, models=["regression"])
    path = tmp_path / "record.csv"
    main(["--tables", "2", "--output", str(path)])
    again = read(path)
    assert [line.model for line in again] == list(MODELS)
    for name in ("coverage", "width", "bias", "usable", "boundary"):
        assert getattr(again[2], name) == pytest.approx(getattr(first[0], name), abs=1e-6)
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
