from __future__ import annotations

import html
import os
import shlex
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import xarray as xr

import bayesgroups as bg
from bayesgroups.cli import run
from bayesgroups.errors import InputError, SchemaError
from bayesgroups.tallies.files import open_tally, save_tally

Captured = pytest.CaptureFixture[str]
COLUMNS = ["--y-true", "sick", "--y-score", "risk", "--threshold", "0.5"]


@pytest.fixture
def rows(tmp_path: Path) -> Path:
    """120 rows as CSV: two attributes, an outcome, a score, labels of other types, a cluster."""
    random = np.random.default_rng(3)
    frame = pd.DataFrame(
        {
            "race": random.choice(["African American", "Asian", "Ünïcödé"], 120),
            "sex": random.choice(["Female", "Male"], 120),
            "sick": random.integers(0, 2, 120),
            "risk": random.random(120).round(3),
            "verdict": random.choice([1, 2], 120),
            "truth": random.choice([1, 2], 120),
            "clinic": random.integers(0, 9, 120),
        }
    )
    path = tmp_path / "rows.csv"
    frame.to_csv(path, index=False)
    return path


@pytest.fixture(autouse=True)
def wide_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    """No message is broken inside the path of a temporary folder."""
    monkeypatch.setenv("COLUMNS", "400")


def bad(capsys: Captured, *arguments: object) -> str:
    """The one message of a command that is refused."""
    assert run([str(argument) for argument in arguments]) == 2
    printed = capsys.readouterr()
    assert "Traceback" not in printed.err
    assert printed.err.startswith("bayesgroups: ")
    return printed.err


def test_levels_are_declared(rows: Path, capsys: Captured) -> None:
    frame = pd.read_csv(rows).replace({"sex": {"Female": "0-9,999", "Male": "10,000+"}})
    frame.to_csv(rows, index=False)
    ask = [
        "tally",
        rows,
        "--by",
        "sex",
        "--by",
        "clinic",
        "--metric",
        "fnr",
        *COLUMNS,
        "--output",
        rows.with_suffix(".nc"),
    ]
    declared = 'sex="10,000+", unknown, "0-9,999"'
    assert run([str(part) for part in [*ask, "--levels", declared, "--levels", "clinic=8,7,6,5,4,3,2,1,0"]]) == 0
    tally = open_tally(rows.with_suffix(".nc"))
    assert list(dict.fromkeys(tally["sex"].values.tolist())) == ["10,000+", "unknown", "0-9,999"]
    assert tally["clinic"].values[:9].tolist() == list("876543210")
    assert tally["count"].sel(subgroup=tally["sex"] == "unknown").sum() == 0
    capsys.readouterr()
    said = bad(capsys, *ask, "--levels", "sexx=a")
    assert "--levels names 'sexx', which forms no subgroups; did you mean 'sex'" in said
    assert "has level '10,000+', which is not among those declared" in bad(capsys, *ask, "--levels", 'sex="0-9,999"')
    assert "--levels 'sex' is not of the form name=value" in bad(capsys, *ask, "--levels", "sex")


def test_help_teaches(capsys: Captured) -> None:
    assert run(["--help"]) == 0
    text = capsys.readouterr().out
    for fragment in ("bayesgroups demo", "--by race --by sex", "tally", "estimate", "compare", "Exit codes"):
        assert fragment in text
    for command in ("demo", "tally", "estimate", "compare"):
        assert run([command, "--help"]) == 0
        assert f"bayesgroups {command}" in capsys.readouterr().out


def test_without_a_command_there_is_help(capsys: Captured) -> None:
    assert run([]) == 0
    assert "bayesgroups demo" in capsys.readouterr().out


def test_version(capsys: Captured) -> None:
    assert run(["--version"]) == 0
    assert capsys.readouterr().out.strip() == bg.__version__


@pytest.mark.parametrize("arguments", [["--help"], ["estimate", "--help"], ["--version"]])
def test_help_imports_nothing_heavy(arguments: list[str]) -> None:
    code = (
        "import sys; from bayesgroups.cli import run; run(sys.argv[1:]);"
        "print(sorted({'pymc', 'pandas', 'matplotlib', 'xarray', 'scipy', 'arviz'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code, *arguments], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"


def test_a_tally_is_printed_and_written(rows: Path, tmp_path: Path, capsys: Captured) -> None:
    target = tmp_path / "t.nc"
    asked = ["--by", "race", "--by", "sex", "--metric", "fnr", "--metric", "auc", *COLUMNS]
    more = ["--cluster", "clinic", "--cluster-analysis", "mean", "--feature", "risk", "--output", str(target)]
    assert run(["tally", str(rows), *asked, *more]) == 0
    text = capsys.readouterr().out
    assert "African American | Female" in text
    assert "Ünïcödé | Male" in text
    assert f"Wrote the tally to {target}" in text
    opened = open_tally(target)
    direct = bg.tally(
        rows, by=["race", "sex"], metrics=["fnr", "auc"], y_true="sick", y_score="risk", threshold=0.5,
        cluster="clinic", cluster_analysis="mean", features=["risk"],
    )  # fmt: skip
    xr.testing.assert_identical(opened, direct)


def test_parquet_is_read(rows: Path, tmp_path: Path, capsys: Captured) -> None:
    pd.read_csv(rows).to_parquet(tmp_path / "rows.parquet")
    asked = ["--by", "sex", "--metric", "acc", *COLUMNS]
    printed = []
    for path in (rows, tmp_path / "rows.parquet"):
        assert run(["tally", str(path), *asked]) == 0
        printed.append(capsys.readouterr().out)
    assert printed[0] == printed[1]


def test_a_positive_label_has_the_type_of_its_column(rows: Path, capsys: Captured) -> None:
    asked = ["tally", str(rows), "--by", "sex", "--metric", "fnr", "--y-true", "truth", "--y-pred", "verdict"]
    assert run([*asked, "--positive", "2"]) == 0
    assert "fnr" in capsys.readouterr().out
    assert "say which one is positive" in bad(capsys, *asked)
    assert "--positive 3 is not a label" in bad(capsys, *asked, "--positive", "3")


def test_from_rows_to_report_and_page(rows: Path, tmp_path: Path, capsys: Captured) -> None:
    asked = ["estimate", str(rows), "--by", "race", "--by", "sex", "--metric", "fnr", *COLUMNS]
    wanted = ["--output", str(tmp_path / "r.nc"), "--html", str(tmp_path / "r.html"), "--level", "0.8"]
    code = run([*asked, *wanted])
    printed = capsys.readouterr()
    assert code == 0
    assert "80% credible" in printed.out
    assert "Usable: all" in printed.out
    assert printed.err == ""  # no progress where nobody watches
    assert bg.open_report(tmp_path / "r.nc").attrs["seed"] == 0
    assert "80% interval" in (tmp_path / "r.html").read_text("utf-8")


@pytest.mark.usefixtures("no_pictures")
def test_a_report_carries_the_line_that_makes_it(rows: Path, tmp_path: Path, capsys: Captured) -> None:
    words = ["estimate", str(rows), "--by", "sex", "--metric", "fnr", *COLUMNS, "--seed", "1"]
    place = tmp_path / "our report.nc"
    assert run([*words, "--output", str(place), "--html", str(tmp_path / "r.html")]) == 0
    said = bg.open_report(place).attrs["command"]
    assert shlex.split(said)[:3] == ["bayesgroups", "estimate", str(rows)]
    assert f"--output '{place}'" in said
    page = (tmp_path / "r.html").read_text("utf-8")
    assert "<dt>Command</dt>" in page
    assert html.escape(said, quote=True).replace("&#x27;", "&#39;") in page
    made = bg.open_report(place)
    assert run(shlex.split(said)[1:]) == 0
    again = bg.open_report(place)
    xr.testing.assert_identical(
        again["posterior"].to_dataset().drop_attrs(), made["posterior"].to_dataset().drop_attrs()
    )
    assert again.attrs["command"] == said
    capsys.readouterr()


def test_a_tally_and_its_rows_give_the_same_report(rows: Path, tmp_path: Path, capsys: Captured) -> None:
    asked = ["--by", "race", "--metric", "fnr", *COLUMNS]
    target = tmp_path / "t.nc"
    assert run(["tally", str(rows), *asked, "-o", str(target)]) == 0
    capsys.readouterr()
    printed = []
    assert run(["estimate", str(target), "--show", "0", "--estimator", "no_pooling"]) == 0
    assert capsys.readouterr().out == "Usable: the one check of the computation passed.\n"
    for given in ([str(rows), *asked], [str(target)]):
        assert run(["estimate", *given, "--seed", "4", "--estimator", "no_pooling"]) == 0
        printed.append(capsys.readouterr().out)
    assert printed[0] == printed[1]


def test_a_report_that_is_not_usable_has_its_own_exit_code(
    rows: Path, tmp_path: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bayesgroups.inference.collapsed.partial_pooling.EDGE_MASS", -1.0)
    asked = ["estimate", str(rows), "--by", "race", "--metric", "fnr", *COLUMNS, "--inference", "collapsed"]
    assert run([*asked, "--output", str(tmp_path / "r.nc")]) == 1
    text = capsys.readouterr().out
    assert "NOT usable: 1 of" in text
    assert "fnr: the posterior mass at the edge of the grid" in text
    assert run(["compare", str(tmp_path / "r.nc")]) == 1
    assert "NOT usable: r" in capsys.readouterr().out


def test_reports_are_compared(rows: Path, tmp_path: Path, capsys: Captured) -> None:
    for word in ("no_pooling", "complete_pooling"):
        asked = ["estimate", str(rows), "--by", "race", "--metric", "fnr", *COLUMNS, "--estimator", word]
        assert run([*asked, "-o", str(tmp_path / f"{word}.nc")]) == 0
    capsys.readouterr()
    names = [str(tmp_path / f"{word}.nc") for word in ("no_pooling", "complete_pooling")]
    assert run(["compare", *names, "--approach", "frequentist"]) == 0
    text = capsys.readouterr().out
    assert run(["compare", *names, "--using", "tally"]) == 0
    assert capsys.readouterr().out == text
    for fragment in ("no_pooling", "complete_pooling", "95% confidence (Wilson)", "Frequentist", "width ratio"):
        assert fragment in text


@pytest.mark.usefixtures("no_pictures")
def test_the_demonstration(tmp_path: Path, capsys: Captured) -> None:
    assert run(["demo", "--output-dir", str(tmp_path)]) == 0
    text = capsys.readouterr().out
    for fragment in (
        "32 subgroups",
        "truth inside",
        "* misses the truth",
        "report.nc",
        "report.html",
        "Next:",
    ):
        assert fragment in text
    assert sorted(path.name for path in tmp_path.iterdir()) == ["report.html", "report.nc"]
    report = bg.open_report(tmp_path / "report.nc")
    assert report["estimates"].sizes["subgroup"] == 32
    assert run(["demo", "--output-dir", str(tmp_path)]) == 0
    assert capsys.readouterr().out == text


@pytest.mark.parametrize(
    ("option", "column", "argument"),
    [("--by", "rase", "by[0]="), ("--y-true", "sic", "--y-true"), ("--y-score", "rsk", "--y-score"),
     ("--feature", "ages", "features[0]="), ("--cluster", "clnic", "--cluster"), ("--weights", "w", "--weights")],
)  # fmt: skip
def test_the_first_line_of_a_file_tells_what_the_tally_tells(
    option: str, column: str, argument: str, rows: Path, tmp_path: Path, capsys: Captured
) -> None:
    words = {"--by": "race", "--metric": "fnr", "--y-true": "sick", "--y-score": "risk", "--threshold": "0.5"}
    words[option] = column
    line = [part for word in words.items() for part in word]
    early = bad(capsys, "tally", rows, *line, "--output", tmp_path / "t.nc")
    pd.read_csv(rows).to_parquet(tmp_path / "rows.parquet")
    assert early == bad(capsys, "tally", tmp_path / "rows.parquet", *line, "--output", tmp_path / "t.nc")
    assert f"column {column!r} ({argument}) is not in the frame" in early


def test_a_class_from_outside_may_use_dask(monkeypatch: pytest.MonkeyPatch) -> None:
    from bayesgroups.cli.estimators import chosen
    from bayesgroups.cli.hidden_dask import hide_dask

    monkeypatch.delitem(sys.modules, "dask", raising=False)
    hide_dask()
    with pytest.raises(ModuleNotFoundError):
        import_module("dask")
    chosen("bayesgroups.estimators:NoPooling")
    assert "dask" not in sys.modules


def test_bad_input_is_one_message(rows: Path, tmp_path: Path, capsys: Captured) -> None:
    asked = ["--by", "race", "--metric", "fnr", *COLUMNS]
    near = bad(capsys, "tally", rows, "--by", "rase", "--metric", "fnr", *COLUMNS)
    assert "column 'rase' (by[0]=) is not in the frame; did you mean 'race'?" in near
    assert "unknown metric 'fnrr'; did you mean 'fnr'" in bad(
        capsys, "tally", rows, "--by", "race", "--metric", "fnrr", *COLUMNS
    )
    assert "nope.csv' does not exist" in bad(capsys, "tally", tmp_path / "nope.csv", *asked)
    assert "needs --y-true" in bad(capsys, "tally", rows, "--by", "race", "--metric", "fnr", "--y-pred", "verdict")
    assert "name at least one column" in bad(capsys, "tally", rows, "--metric", "fnr")
    assert "name at least one metric" in bad(capsys, "estimate", rows, "--by", "race")
    assert "expected .csv" in bad(capsys, "tally", __file__, *asked)
    assert "level 0.7 is not in a report" in bad(capsys, "estimate", rows, *asked, "--level", "0.7")
    assert "make it first" in bad(capsys, "tally", rows, *asked, "-o", tmp_path / "nowhere" / "t.nc")
    assert "make it first" in bad(capsys, "demo", "--output-dir", tmp_path / "nowhere")
    assert "limit must be 0 or larger" in bad(capsys, "tally", rows, *asked, "--show", "-1")
    assert "seed must be a whole number" in bad(capsys, "estimate", rows, *asked, "--seed", "-1")


def test_files_that_are_something_else_are_told(rows: Path, tmp_path: Path, capsys: Captured) -> None:
    asked = ["--by", "a", "--metric", "sel", "--y-pred", "a"]
    noise = np.random.default_rng(0).bytes(400)
    for name in ("bad.csv", "bad.parquet", "bad.nc", "bad.csv.gz"):
        (tmp_path / name).write_bytes(noise)
    for name in ("bad.csv", "bad.parquet", "bad.csv.gz"):
        assert f"{name}' cannot be read as rows" in bad(capsys, "tally", tmp_path / name, *asked)
    assert "is not a NetCDF4 file" in bad(capsys, "estimate", tmp_path / "bad.nc")
    assert "bad.nc': file" in bad(capsys, "compare", tmp_path / "bad.nc")
    (tmp_path / "empty.csv").write_text("")
    assert "empty.csv' cannot be read as rows" in bad(capsys, "tally", tmp_path / "empty.csv", *asked)
    (tmp_path / "folder.csv").mkdir()
    assert "folder.csv' names no file" in bad(capsys, "tally", tmp_path / "folder.csv", *asked)


def test_tallies_and_reports_are_not_mixed_up(
    report: xr.DataTree, rows: Path, tmp_path: Path, capsys: Captured
) -> None:
    bg.save_report(report, tmp_path / "report.nc")
    save_tally(report["constant_data"].to_dataset(), tmp_path / "tally.nc")
    assert "is a report, not a tally" in bad(capsys, "estimate", tmp_path / "report.nc")
    assert "not a report of bayesgroups" in bad(capsys, "compare", tmp_path / "tally.nc")
    assert "--by says what is in rows" in bad(capsys, "estimate", tmp_path / "tally.nc", "--by", "race")
    assert "is named twice" in bad(capsys, "compare", tmp_path / "report.nc", tmp_path / "report.nc")
    assert "name the reports to compare" in bad(capsys, "compare")


def test_open_tally_refuses(tmp_path: Path, report: xr.DataTree) -> None:
    with pytest.raises(InputError, match=r"t\.nc' does not exist"):
        open_tally(tmp_path / "t.nc")
    xr.Dataset({"a": 1}).to_netcdf(tmp_path / "a.nc", engine="h5netcdf")
    with pytest.raises(SchemaError, match="is not a tally of bayesgroups: its attribute 'schema' is None"):
        open_tally(tmp_path / "a.nc")
    newer = report["constant_data"].to_dataset().assign_attrs(schema_version=99)
    with pytest.raises(SchemaError, match="was written by a newer bayesgroups; update it"):
        open_tally(save_tally(newer, tmp_path / "b.nc"))


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["tallly"], "Did you mean"),
        (["tally"], "requires an argument"),
        (["tally", "rows.csv", "--threshold", "abc"], "--threshold"),
        (["tally", "rows.csv", "--metrics", "fnr"], "--metric"),
    ],
)
def test_slips_of_the_pen_are_told(arguments: list[str], said: str, capsys: Captured) -> None:
    message = bad(capsys, *arguments)
    assert said in message
    assert "--help" in message


def test_an_unknown_estimator_is_told_with_those_that_there_are(capsys: Captured) -> None:
    for command in ("estimate", "prior-predictive"):
        message = bad(capsys, command, "rows.csv", "--estimator", "magic")
        assert "estimator 'magic' does not exist" in message
        assert "'no_pooling'" in message
        assert "module:Class" in message


def test_an_interruption_is_no_traceback(monkeypatch: pytest.MonkeyPatch, capsys: Captured, tmp_path: Path) -> None:
    def stop(seed: int) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("bayesgroups.datasets.demonstration", stop)
    assert run(["demo", "--output-dir", str(tmp_path)]) == 130
    assert "interrupted" in capsys.readouterr().err


def test_a_bug_shows_its_traceback(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def broken(seed: int) -> None:
        raise ZeroDivisionError("a bug")

    monkeypatch.setattr("bayesgroups.datasets.demonstration", broken)
    with pytest.raises(ZeroDivisionError, match="a bug"):
        run(["demo", "--output-dir", str(tmp_path)])


def _process(*arguments: object, **environment: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", "from bayesgroups.cli import main; main()", *map(str, arguments)]
    kept = {name: value for name, value in os.environ.items() if name != "COLUMNS"}
    return subprocess.run(
        command, capture_output=True, text=True, check=False, env=kept | environment, encoding="utf-8"
    )


def test_the_package_is_run_by_an_interpreter() -> None:
    done = subprocess.run(
        [sys.executable, "-X", "importtime", "-m", "bayesgroups", "--version"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == f"{bg.__version__}\n"
    loaded = {line.rpartition("|")[2].strip().partition(".")[0] for line in done.stderr.splitlines()}
    assert "cyclopts" in loaded
    assert loaded.isdisjoint({"pymc", "pandas", "matplotlib", "xarray", "scipy", "arviz"})


def test_a_process_leaves_with_the_exit_code(rows: Path) -> None:
    done = _process("tally", rows, "--by", "rase", "--metric", "fnr", *COLUMNS)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("bayesgroups: column 'rase'")
    assert "\x1b" not in done.stderr


def test_a_pipe_gets_plain_unfolded_text_in_any_encoding(rows: Path) -> None:
    asked = ["tally", rows, "--by", "race", "--by", "sex", "--metric", "fnr", *COLUMNS]
    done = _process(*asked, PYTHONIOENCODING="ascii")
    assert done.returncode == 0
    assert done.stdout.isascii()
    assert r"\xdcn\xefc\xf6d\xe9 | Male" in done.stdout
    assert "\x1b" not in done.stdout
    narrow = _process(*asked, COLUMNS="40", PYTHONUTF8="1")
    assert max(map(len, narrow.stdout.splitlines()[:-1])) <= 40
