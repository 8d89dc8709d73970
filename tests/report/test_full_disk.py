"""A file too large for what is left of the disk: an error in words, and the old file stands."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pandas as pd

import bayesgroups as bg

SAVED = """
import resource, sys
import bayesgroups as bg
tally, report, answers = bg.open_tally("rate.tally.nc"), bg.open_report("rate.nc"), []
for limit in (0, 3_000, 12_000, 20_000):
    for save, value, name in ((bg.save_tally, tally, "rate.tally.nc"), (bg.save_report, report, "rate.nc")):
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, resource.RLIM_INFINITY))
        try:
            answers.append(str(save(value, name)))
        except bg.InputError as problem:
            answers.append(str(problem))
        resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY,) * 2)
print("\\n".join(answers))
"""


def test_a_full_disk_leaves_the_session_and_the_old_files(tmp_path: Path) -> None:
    counts = bg.tally_from_counts([1, 3] * 20, [10, 9] * 20, pd.DataFrame({"site": [f"s{i}" for i in range(40)]}))
    bg.save_tally(counts, tmp_path / "rate.tally.nc")
    bg.save_report(bg.estimate(counts, bg.NoPooling(), seed=1), tmp_path / "rate.nc", include=[])
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    done = subprocess.run(
        [sys.executable, "-c", SAVED], cwd=tmp_path, capture_output=True, text=True, check=False, timeout=60
    )
    assert (done.returncode, done.stderr) == (0, "")
    refused = [f"file '{name}' cannot be written: File too large" for name in ("rate.tally.nc", "rate.nc")] * 4
    assert done.stdout.splitlines() == refused
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before
