"""Importing the package, and the way from counts to a report, load no more than they need."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

HEAVY = ("pymc", "pytensor", "arviz", "matplotlib", "pandas", "xarray", "scipy", "sklearn", "narwhals", "numpy")
SHOW = "import sys, json; print(json.dumps(sorted({name.partition('.')[0] for name in sys.modules})))"

REPORT = """
import pandas as pd
import bayesgroups as bg
site = pd.DataFrame({"site": list("abcdef")})
tally = bg.tally_from_counts([2, 30, 9, 0, 3, 14], [3, 100, 60, 4, 20, 40], site)
bg.estimate(tally, bg.PartialPooling(), seed=1)
"""
NOT_FOR_A_REPORT = {
    "pymc",
    "pytensor",
    "arviz",
    "matplotlib",
    "scipy",
    "sklearn",
    "nutpie",
    "rich",
    "jinja2",
    "h5netcdf",
    "narwhals",
}


def _loaded_by(code: str) -> set[str]:
    done = subprocess.run([sys.executable, "-c", f"{code}\n{SHOW}"], capture_output=True, text=True, check=True)
    return set(json.loads(done.stdout))


@pytest.fixture(scope="module")
def loaded() -> set[str]:
    return _loaded_by("import bayesgroups")


@pytest.mark.parametrize("package", HEAVY)
def test_importing_the_package_does_not_import(package: str, loaded: set[str]) -> None:
    assert package not in loaded


def test_a_report_of_counts_needs_numpy_pandas_and_xarray_only() -> None:
    # xarray loads Dask where it is installed, and Dask much else.
    without_dask = "import sys\nsys.modules['dask'] = None"
    assert not _loaded_by(f"{without_dask}\n{REPORT}") & NOT_FOR_A_REPORT


def test_a_column_that_a_file_lacks_is_told_without_libraries_of_data(tmp_path: Path) -> None:
    (tmp_path / "rows.csv").write_text("race,outcome\na,1\n")
    line = ["estimate", str(tmp_path / "rows.csv"), "--by", "rase", "--metric", "prev", "--y-true", "outcome"]
    assert not _loaded_by(f"from bayesgroups.cli import run\nassert run({line}) == 2") & set(HEAVY)


def test_commands_do_not_load_dask(tmp_path: Path) -> None:
    (tmp_path / "rows.csv").write_text("race,outcome\n" + "a,1\nb,0\na,0\nb,1\n" * 9)
    line = ["estimate", "rows.csv", "--by", "race", "--metric", "prev", "--y-true", "outcome", "--output", "report.nc"]
    code = f"""
import contextlib, io, os, sys
from bayesgroups.cli import main
os.chdir({str(tmp_path)!r})
sys.argv[1:] = {line}
with contextlib.redirect_stdout(io.StringIO()), contextlib.suppress(SystemExit):
    main()
assert sys.modules["dask"] is None and os.path.exists("report.nc")
del sys.modules["dask"]
"""
    assert "dask" not in _loaded_by(code)


def test_help_of_the_command_line_needs_no_sampler() -> None:
    code = "from bayesgroups.cli import run\nimport io, contextlib\nwith contextlib.redirect_stdout(io.StringIO()): run(['--help'])"
    assert not _loaded_by(code) & {"pymc", "pytensor", "arviz", "matplotlib"}
