"""The record of how time and memory grow, and that it can be made."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

from bayesgroups.errors import EngineError, InputError
from examples.comparisons import scaling
from examples.comparisons.scaling import SIZES, exponent, main, measure

RECORD = Path(__file__).parents[2] / "docs" / "scaling.csv"


def test_the_record_has_every_axis_and_stays_within_bounds() -> None:
    with RECORD.open(encoding="utf-8", newline="") as file:
        lines = list(csv.DictReader(file))
    assert [(line["axis"], int(line["size"])) for line in lines] == [
        (axis, size) for axis in SIZES for size in SIZES[axis]
    ]
    worst = {axis: max(float(line["megabytes"]) for line in lines if line["axis"] == axis) for axis in SIZES}
    assert worst["rows"] < 2000
    power = {line["axis"]: float(line["exponent"]) for line in lines}
    # In the number of rows and of subgroups nothing grows faster than what is read.
    assert power["rows"] < 1.15
    assert power["subgroups"] < 1.15
    for axis, sizes in SIZES.items():
        seconds = [float(line["seconds"]) for line in lines if line["axis"] == axis]
        assert exponent(sizes, seconds) == pytest.approx(power[axis], abs=0.01)


@pytest.mark.parametrize(
    ("axis", "size"), [("rows", 2000), ("subgroups", 8), ("attributes", 1), ("binary", 2), ("levels", 2)]
)
def test_one_size_is_measured(axis: str, size: int, tmp_path: Path) -> None:
    seconds, megabytes = measure(axis, size, tmp_path)
    assert 0 < seconds < 60
    assert megabytes > 50


def test_the_command_writes_the_record(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scaling, "_in_a_process", lambda sizes, _, piece: (1e-3 * sizes[piece][1], 100.0))
    main(["--output", str(tmp_path / "scaling.csv"), "--most", "1000000"])
    lines = (tmp_path / "scaling.csv").read_text().splitlines()
    assert lines[1:3] == ["rows,100000,100.0,100.0,1.0", "rows,1000000,1000.0,100.0,1.0"]
    assert len(lines) == 1 + sum(map(len, SIZES.values())) - 2


def test_some_axes_are_measured_and_the_others_stay(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "scaling.csv"
    path.write_text(
        "axis,size,seconds,megabytes,exponent\nlevels,2,9.0,9.0,9.0\nsubgroups,32,7.0,7.0,7.0\ngone,1,1.0,1.0,1.0\n"
    )
    monkeypatch.setattr(scaling, "_in_a_process", lambda sizes, _, piece: (float(sizes[piece][1]), 100.0))
    main(["--output", str(path), "--axes", "levels"])
    lines = path.read_text().splitlines()
    assert lines[1] == "subgroups,32,7.0,7.0,7.0"
    assert lines[2:] == [f"levels,{size},{float(size)},100.0,1.0" for size in SIZES["levels"]]


def test_many_attributes_and_many_levels_end() -> None:
    """Effects of all orders of five or six attributes, or 500 levels; an answer that is not usable is not recorded."""
    lines = {(line.axis, line.size): line for line in scaling.read(RECORD)}
    for axis, size in (("attributes", 5), ("binary", 6), ("levels", 500)):
        assert lines[axis, size].seconds < 30


def test_the_command_measures_one_size(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main(["--measure", "subgroups", "4", "--folder", str(tmp_path)])
    assert len(json.loads(capsys.readouterr().out)) == 2


def test_an_answer_that_is_not_usable_is_no_measurement(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bayesgroups.report.diagnostics.ESS", 1e9)
    monkeypatch.setattr("bayesgroups.inference.collapsed.crossed.draws.IS_ESS", 1e9)
    with pytest.raises(EngineError, match=r"crossed effects of \[2, 2\] levels have no usable answer: bulk ESS is"):
        measure("binary", 2, tmp_path)


def test_what_cannot_be_measured_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="axis='width' is not one of 'rows', 'subgroups'"):
        measure("width", 3, tmp_path)
    with pytest.raises(InputError, match="an exponent needs two sizes or more; got 1"):
        exponent([1], [1])
