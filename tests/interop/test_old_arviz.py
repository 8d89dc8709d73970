"""ArviZ 0.2x, in an environment of its own, reads the NetCDF files of reports.

    pytest -n 0 -m slow tests/interop/test_old_arviz.py

The result of the last run is in docs/how-to/neighbours.md.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import xarray as xr

import bayesgroups as bg

READ = """
import json, sys, warnings
warnings.simplefilter("ignore")
import arviz as az
data = az.from_netcdf(sys.argv[1])
table = az.summary(data.rename({"metric": "measure"}), var_names=["mu"])  # its summary has a dim "metric" of its own
forest = az.plot_forest(data, var_names=["mu"])
print(json.dumps({
    "version": az.__version__, "groups": sorted(data.groups()), "rows": len(table), "mean": list(table["mean"]),
    "schema": data.attrs["schema"], "estimates": float(data.estimates["estimate"].sel(approach="bayesian").sum()),
}))
"""


@pytest.mark.slow
def test_arviz_0_2_reads_a_report(report: xr.DataTree, tmp_path: Path) -> None:
    path = bg.save_report(report, tmp_path / "r.nc")
    python = os.environ.get("BAYESGROUPS_OLD_ARVIZ") or _environment(tmp_path / "old")
    done = subprocess.run(
        [python, "-c", READ, str(path)],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "MPLBACKEND": "agg"},
    )
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout.splitlines()[-1])
    assert found["version"].startswith("0.2")
    assert {"posterior", "estimates", "diagnostics", "constant_data"} <= set(found["groups"])
    assert found["schema"] == "bayesgroups.report"
    mean = report["posterior"].to_dataset()["mu"].mean(("chain", "draw")).values.ravel()
    assert found["rows"] == mean.size
    assert found["mean"] == pytest.approx(mean, abs=6e-4)
    assert found["estimates"] == pytest.approx(mean.sum(), rel=1e-9)


def _environment(folder: Path) -> str:
    uv = shutil.which("uv")
    command = [uv] if uv else [sys.executable, "-m", "uv"]
    python = folder / "bin" / "python"
    subprocess.run([*command, "venv", "--quiet", "--python", sys.executable, str(folder)], check=True)
    wanted = ["arviz>=0.20,<0.24", "h5netcdf"]
    subprocess.run([*command, "pip", "install", "--quiet", "--python", str(python), *wanted], check=True)
    return str(python)
