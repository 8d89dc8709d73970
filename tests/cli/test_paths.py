"""Files of a command: outputs are looked at before anything is read, written before anything is printed, and never an input."""

from __future__ import annotations

import csv
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest

import bayesgroups as bg
from bayesgroups.cli import UNREAD, run
from bayesgroups.cli.analysis_files import run_analysis
from bayesgroups.data.outputs import check_outputs
from bayesgroups.errors import InputError
from bayesgroups.interop import export_report
from bayesgroups.tallies.files import save_tally

Captured = pytest.CaptureFixture[str]
SEX = pd.DataFrame({"sex": ["f", "m"]})


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tally and its report."""
    place = tmp_path_factory.mktemp("paths")
    tally = bg.tally_from_counts([3, 4], [10, 20], SEX, metric="fnr")
    save_tally(tally, place / "t.nc")
    bg.save_report(bg.estimate(tally, bg.NoPooling(), seed=1), place / "r.nc")
    return place


@pytest.fixture
def folder(made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder to work in, with a tally, a report, rows and a table of models."""
    monkeypatch.setenv("COLUMNS", "400")
    monkeypatch.chdir(tmp_path)
    shutil.copytree(made, tmp_path, dirs_exist_ok=True)
    Path("rows.csv").write_text("sex,hired\n" + "f,1\nf,0\nm,1\nm,0\n" * 5)
    Path("models.csv").write_text("candidate,performance,fairness\na,0.5,0.6\nb,0.6,0.5\n")
    return tmp_path


ROWS = "--by sex --metric sel --y-pred hired"


@pytest.mark.parametrize(
    ("line", "file"),
    [
        ("estimate t.nc --output t.nc", "t.nc"),
        ("estimate t.nc --output ./t.nc", "t.nc"),
        ("estimate t.nc --html t.nc", "t.nc"),
        ("estimate t.nc -o link.nc", "t.nc"),
        ("estimate t.nc -o hard.nc", "t.nc"),
        (f"tally rows.csv {ROWS} --output rows.csv", "rows.csv"),
        (f"tally r*.csv {ROWS} --output rows.csv", "rows.csv"),
        (f"tally . {ROWS} --output rows.csv", "rows.csv"),
        ("write-html r.nc --output r.nc", "r.nc"),
        ("export r.nc --output r.nc", "r.nc"),
        ("ranks r.nc --output r.nc", "r.nc"),
        ("rows-to-certify t.nc --standard 0.5 --assume r.nc --output r.nc", "r.nc"),
        ("pareto-frontier models.csv --output models.csv", "models.csv"),
        ("add-tallies t.nc t.nc --output t.nc", "t.nc"),
        ("bin-scores t.nc --output t.nc", "t.nc"),
        ("tally-from-counts models.csv --by sex -o models.csv", "models.csv"),
        ("tally-from-estimates models.csv --by sex --std-error s -o models.csv", "models.csv"),
        ("read-lm-eval rows.csv --output rows.csv", "rows.csv"),
        ("study rows.csv --by sex --metric sel --rows 9 -o rows.csv", "rows.csv"),
    ],
)
def test_what_is_read_is_not_written_over(folder: Path, capsys: Captured, line: str, file: str) -> None:
    Path("link.nc").symlink_to("t.nc")
    os.link("t.nc", "hard.nc")
    before = Path(file).read_bytes()
    assert run(line.split()) == 2
    assert "is an input" in capsys.readouterr().err
    assert Path(file).read_bytes() == before


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("estimate nowhere.nc -o away/r.nc", "folder 'away' does not exist; make it first"),
        ("estimate nowhere.nc --html away/r.html", "folder 'away' does not exist"),
        ("estimate nowhere.nc -o .", "'.' is a folder; name a file in it"),
        ("estimate nowhere.nc -o a.nc --html ./a.nc", "two outputs are one file"),
        ("ranks nowhere.nc -o away/r.json", "folder 'away' does not exist"),
        ("ranks nowhere.nc -o r.txt", "an answer is written as .nc, .json, .csv"),
        ("export nowhere.nc -o r.txt", "a table is written as .csv"),
        ("read-inspect nowhere.eval -o r.txt", "rows are written as .csv"),
        ("study nowhere.csv --by sex --metric sel --rows 9 -o r.txt", "an answer is written as"),
        (
            "estimate nowhere.nc -o r.csv",
            "file 'r.csv': a report is written as NetCDF4, which is no .csv; name it 'r.nc'",
        ),
        ("poststratify nowhere.nc --population rows -o r.json", "a report is written as NetCDF4, which is no .json"),
        ("tally nowhere.csv -o t.CSV", "file 't.CSV': a tally is written as NetCDF4, which is no .CSV; name it 't.nc'"),
        ("add-tallies nowhere.nc -o t.parquet", "a tally is written as NetCDF4, which is no .parquet"),
        (
            "write-html nowhere.nc -o page.csv",
            "file 'page.csv': a page is written as HTML, which is no .csv; name it 'page.html'",
        ),
        ("estimate nowhere.nc --html page.nc", "a page is written as HTML, which is no .nc; name it 'page.html'"),
        ("bin-scores nowhere.nc -o t.csv.gz", "which is no .gz; name it 't.csv.nc'"),
        ("demo --output-dir away", "folder 'away' does not exist"),
        ("init away/analysis.toml", "folder 'away' does not exist"),
    ],
)
def test_outputs_are_looked_at_before_inputs(folder: Path, capsys: Captured, line: str, message: str) -> None:
    assert run(line.split()) == 2
    assert message in capsys.readouterr().err


def test_a_folder_that_refuses_is_named(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "access", lambda path, mode: False)
    with pytest.raises(InputError, match=r"file 'a\.nc' cannot be written: no permission to write in its folder"):
        check_outputs([Path("a.nc")], [])


@pytest.mark.parametrize(
    ("output", "clash"),
    [
        ("rows.csv", "'rows.csv' is an input"),
        ("analysis.toml", "an input"),
        ("./b/../a.json", "two outputs are"),
    ],
)
def test_an_analysis_keeps_its_rows(folder: Path, output: str, clash: str) -> None:
    ending = Path(output).suffix[1:]
    if ending == "toml":
        target = '[tally]\nby = ["sex"]\nmetrics = ["sel"]\ny_pred = "hired"\noutput = "analysis.toml"\n'
    else:
        target = (
            '[tally]\nby = ["sex"]\nmetrics = ["sel"]\ny_pred = "hired"\n[estimators.alone]\nword = "no_pooling"\n'
            f'{ending} = "{output}"\n[questions.gap]\nask = "disparity"\nof = "alone"\noutput = "a.json"\n'
        )
    Path("analysis.toml").write_text(f'rows = "rows.csv"\n{target}')
    before = Path("rows.csv").read_bytes(), Path("analysis.toml").read_bytes()
    with pytest.raises(InputError, match=rf"^analysis\.toml: .*{clash}"):
        run_analysis("analysis.toml")
    assert (Path("rows.csv").read_bytes(), Path("analysis.toml").read_bytes()) == before


def test_an_analysis_gives_its_tally_no_name_of_another_format(folder: Path) -> None:
    Path("a.toml").write_text(
        'rows = "rows.csv"\n[tally]\nby = ["sex"]\nmetrics = ["sel"]\ny_pred = "hired"\noutput = "t.json"\n'
    )
    with pytest.raises(
        InputError, match=r"^a\.toml: file 't\.json': a tally is written as NetCDF4, which is no \.json"
    ):
        run_analysis("a.toml")


def test_an_output_may_be_an_older_output_and_a_link_elsewhere(folder: Path) -> None:
    Path("old.nc").write_bytes(b"old")
    assert run(["tally", "rows.csv", *ROWS.split(), "-o", "old.nc", "--show", "0"]) == 0
    assert run(["show", "old.nc", "--show", "0"]) == 0


@pytest.mark.parametrize("name", ["t", "t.nc4", "t.NetCDF", "t.2024"])
def test_a_file_that_is_written_can_be_read_whatever_it_is_called(folder: Path, capsys: Captured, name: str) -> None:
    assert run(["tally", "rows.csv", *ROWS.split(), "-o", name]) == 0
    assert f"Next: bayesgroups estimate {name}" in capsys.readouterr().out
    assert run(["estimate", name, "-o", f"r{name}"]) == 0
    assert run(["ranks", f"r{name}"]) == 0


def test_python_refuses_a_name_of_another_format_too(folder: Path) -> None:
    tally, report = bg.open_tally("t.nc"), bg.open_report("r.nc")
    with pytest.raises(
        InputError, match=r"file 'x\.csv': a tally is written as NetCDF4, which is no \.csv; name it 'x\.nc'"
    ):
        bg.save_tally(tally, "x.csv")
    with pytest.raises(InputError, match=r"file 'x\.json': a report is written as NetCDF4"):
        bg.save_report(report, "x.json")
    with pytest.raises(InputError, match=r"file 'x\.csv': a page is written as HTML, which is no \.csv"):
        bg.write_html(report, "x.csv")
    assert not Path("x.csv").exists()


@pytest.mark.parametrize(
    ("line", "files"),
    [
        ("estimate t.nc -o out.nc --html out.html --estimator no_pooling", ("out.nc", "out.html")),
        ("estimate t.nc -o out.nc --estimator no_pooling --json", ("out.nc",)),
        (f"tally rows.csv {ROWS} -o out.nc", ("out.nc",)),
        ("ranks t.nc -o out.json", ("out.json",)),
    ],
)
@pytest.mark.usefixtures("no_pictures")
def test_a_pipe_without_a_reader_loses_no_file(
    folder: Path, monkeypatch: pytest.MonkeyPatch, line: str, files: tuple[str, ...]
) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    with os.fdopen(writing, "w") as stdout:
        monkeypatch.setattr(sys, "stdout", stdout)
        assert run(line.split()) == UNREAD
        stdout.write("what is printed later goes nowhere")
    assert all(Path(name).stat().st_size > 100 for name in files)
    assert not list(folder.glob(".*.part"))


def test_a_process_behind_a_pipe_without_a_reader_ends_quietly() -> None:
    reading, writing = os.pipe()
    os.close(reading)
    command = [sys.executable, "-c", "from bayesgroups.cli import main; main()", "--help"]
    done = subprocess.run(command, stdout=writing, stderr=subprocess.PIPE, text=True, check=False)
    os.close(writing)
    assert (done.returncode, done.stderr) == (UNREAD, "")


FORMULAS = pd.DataFrame({"=site": ["=1+1", "+a", "-b", "@c", "\tq", "-1.5", "plain"]})
ANALYSIS = """
[tally]
file = "formulas.nc"
[estimators.alone]
word = "no_pooling"
csv = "alone.csv"
[questions.order]
ask = "ranks"
of = "alone"
output = "order.csv"
"""


def test_texts_that_a_spreadsheet_would_compute_are_escaped(folder: Path) -> None:
    tally = bg.tally_from_counts([3] * 7, [10] * 7, FORMULAS, metric="fnr")
    save_tally(tally, "formulas.nc")
    report = bg.estimate(tally, bg.NoPooling(), seed=1)
    bg.save_report(report, "formulas_report.nc")
    Path("analysis.toml").write_text(ANALYSIS)
    samples = [
        {"doc_id": i, "doc": {"=site": text, "n": -1}, "filter": "none", "metrics": ["acc"], "acc": 1.0, "target": "t"}
        for i, text in enumerate(FORMULAS["=site"])
    ]
    Path("samples.jsonl").write_text("".join(json.dumps(sample) + "\n" for sample in samples))
    lines = {
        "export formulas_report.nc -o export.csv": ["export.csv"],
        "ranks formulas_report.nc -o ranks.csv": ["ranks.csv"],
        "run analysis.toml": ["alone.csv", "order.csv"],
        "read-lm-eval samples.jsonl -o samples.csv": ["samples.csv"],
    }
    for line, files in lines.items():
        for flag, expected in (("--escape-formulas", True), ("", True), ("--no-escape-formulas", False)):
            assert run([*line.split(), *flag.split()]) == 0
            for file in files:
                cells = {cell for row in csv.reader(Path(file).read_text().splitlines()) for cell in row}
                opened = {cell for cell in cells if cell[:1] in ("=", "+", "@", "\t") or cell == "-b"}
                assert bool(opened) is not expected, (line, flag, opened)
                assert ("'=1+1" in cells) == expected
                assert "-1.5" in cells, file
    export_report(report, "python.csv")
    assert "=1+1" in Path("python.csv").read_text()


def test_an_analysis_writes_in_its_folder_alone(folder: Path, capsys: Captured) -> None:
    save_tally(bg.tally_from_counts([3, 4], [10, 20], SEX, metric="fnr"), "formulas.nc")
    home = folder / "home"
    home.mkdir()
    (home / "link").symlink_to(folder)
    text = ANALYSIS.replace("formulas.nc", "../formulas.nc")
    for change in (
        ("alone.csv", "../alone.csv"),
        ("alone.csv", "link/alone.csv"),
        ("order.csv", str(folder / "o.csv")),
        ("\n[tally]", '\nfolder = ".."\n[tally]'),
        ('nc"\n[est', 'nc"\noutput = "../more.nc"\n[est'),
    ):
        (home / "a.toml").write_text(text.replace(*change))
        before = sorted(folder.rglob("*"))
        assert run(["run", "home/a.toml"]) == 2
        assert "lies outside of the folder of the analysis" in (err := capsys.readouterr().err)
        assert "--outputs-anywhere" in err
        with pytest.raises(InputError, match="outputs_anywhere=True"):
            run_analysis(home / "a.toml")
        assert sorted(folder.rglob("*")) == before
        assert run(["run", "home/a.toml", "--outputs-anywhere"]) == 0
