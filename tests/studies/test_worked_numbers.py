"""Worked numbers of the functions behind studies."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd

from bayesgroups.studies.answers import Identity, place_of
from bayesgroups.studies.checkpoints import Checkpoints, file_name
from bayesgroups.studies.execution import Executor
from bayesgroups.studies.scores import jackknife
from examples.comparisons.cell_ratios import cell_name, worst_cells
from examples.comparisons.shared_cells import share_of


def test_names_of_files_are_readable_and_differ() -> None:
    place = place_of(Path("records"), Identity("", 1, 3, "EB (plug-in)", ""))
    assert place.name == "draw_0003__eb_plug_in_b2b8649e.npz"
    assert file_name("ranks of partial pooling, normal") == "ranks_of_partial_pooling_normal_cd0b4d25.jsonl"


def test_an_answer_is_read_as_it_was_written(tmp_path: Path) -> None:
    checkpoints = Checkpoints(tmp_path / "rank.jsonl", "rank, seed 1")
    checkpoints.add(2, {"rank": 17})
    assert checkpoints.read() == {2: {"rank": 17}}


def test_answers_come_in_the_order_of_their_pieces() -> None:
    assert Executor().run("squares", lambda piece: piece**2, 4) == [0, 1, 4, 9]


def test_share_of_a_population() -> None:
    assert share_of(48_842, 0.032) == 1563


def test_cell_name() -> None:
    assert cell_name("diabetes", "fnr", 6) == "diabetes fnr"
    assert cell_name("adult 0.1", "error", 1) == "adult 0.1"


def test_worst_cells() -> None:
    ratios = pd.DataFrame({"a": [0.5, 0.9], "b": [0.6, 0.6], "c": [0.55, 0.66]}, index=["one", "two"])
    assert worst_cells(ratios, ["a", "b"]).loc["c"].astype(str).tolist() == ["1.1", "one", "a"]


def test_jackknife_of_a_mean_is_the_error_of_the_textbook() -> None:
    values = np.array([1.0, 2.0, 3.0, 4.0])
    mean, error = jackknife(lambda kept: values[kept[0]].mean(), [4])
    assert float(mean) == 2.5
    assert round(float(error), 6) == 0.645497  # sqrt(5 / 3 / 4)
