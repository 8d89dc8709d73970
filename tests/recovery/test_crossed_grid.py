"""The recorded grid of data sets for the exact engine of crossed effects, held to the gate."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from bayesgroups.report.diagnostics import IS_ESS, K_HAT
from tests.recovery.studies import crossed_grid

RECORD = Path(__file__).parent / "records" / "crossed_grid.csv"


@pytest.fixture(scope="module")
def record() -> pd.DataFrame:
    return pd.read_csv(RECORD)


def test_the_grid_is_whole(record: pd.DataFrame) -> None:
    settings = crossed_grid.settings()
    assert len(record) == len(settings) >= 200
    assert record["shape"].tolist() == ["x".join(map(str, each.shape)) for each in settings]


@pytest.mark.xfail(reason="three have rows that all agree, whose mean has no variance to learn from")
def test_every_data_set_has_a_usable_answer(record: pd.DataFrame) -> None:
    assert (record["usable"] == 1).all()


def test_data_sets_have_usable_answers(record: pd.DataFrame) -> None:
    assert not (record["inference"] == "nuts").any(), "NUTS had to answer"
    assert record["k_hat"].max() <= K_HAT
    assert record["ess"].min() >= IS_ESS
    # Where hardly any row is a success all values of rows agree, and their mean has no variance to learn from.
    constant = record["k_hat"].isna() & (record["inference"] == "collapsed") & (record["usable"] == 0)
    assert set(record[constant]["likelihood"]) == {"normal"}
    assert set(record[constant]["rows"]) == {"few"}
    assert constant.sum() == 3
    # Rates by one attribute have a grid in the place of weights.
    gridded = record["k_hat"].isna() & ~constant & (record["inference"] == "collapsed")
    assert set(record[gridded]["shape"]) == {"4"}
    assert set(record[gridded]["likelihood"]) == {"binomial"}
    # Components that differ by six times the prior's scale, in counts with none and with all, are answered too.
    assert (record[~constant]["usable"] == 1).all()


def test_a_line_can_be_made_again(record: pd.DataFrame) -> None:
    position = 37
    line = crossed_grid.of_one(crossed_grid.SEED, position)
    kept = record.iloc[position]
    assert line[:5] == kept[["shape", "rows", "overall", "spread", "likelihood"]].tolist()
    assert float(str(line[5])) == pytest.approx(kept["k_hat"], abs=0.2)
    assert np.log(float(str(line[6])) / kept["ess"]) == pytest.approx(0, abs=0.3)


def test_a_line_of_chains_can_be_made_again(record: pd.DataFrame) -> None:
    """Which have no weights, and a number that says whether they pass."""
    line, kept = crossed_grid.of_one(crossed_grid.SEED, 36), record.iloc[36]
    assert np.isnan([float(str(each)) for each in line[5:7]]).all()
    assert [*line[:5], *line[7:]] == kept.drop(["k_hat", "ess"]).tolist()
    assert kept[["likelihood", "usable", "inference"]].tolist() == ["binomial", 1, "hamiltonian"]


def test_the_command_writes_the_record(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    few = crossed_grid.settings()[:2]
    monkeypatch.setattr(crossed_grid, "settings", lambda: few)
    for _ in range(2):  # the second time everything is in the checkpoints
        crossed_grid.main(["--output", str(tmp_path / "grid.csv"), "--checkpoints", str(tmp_path / "kept")])
        assert capsys.readouterr().out == "2 data sets, 2 answered by the exact engine, 2 within the gate\n"
    assert pd.read_csv(tmp_path / "grid.csv").columns.tolist() == list(crossed_grid.HEADER)
