"""Bambi, in an environment of its own, beside ours in one table.

    pytest -n 0 -m slow tests/interop/test_bambi.py

``BAYESGROUPS_BAMBI_PYTHON`` names an interpreter that has bayesgroups, bambi and nutpie; without it one is made.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).parents[2]
CLOSE = 0.06
"""Largest difference of two estimates; the models differ in the interaction, which Bambi's formula leaves out, and the priors."""


@pytest.mark.slow
def test_bambi_and_ours_are_two_reports_of_one_kind(tmp_path: Path) -> None:
    python = os.environ.get("BAYESGROUPS_BAMBI_PYTHON") or _environment(tmp_path / "bambi")
    script = ROOT / "examples" / "bambi_beside_ours.py"
    done = subprocess.run([python, str(script)], capture_output=True, text=True, check=False, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert {"bambi usable", "ours usable"} <= set(lines)
    rows = [line.split() for line in lines if " | " in line]
    assert len(rows) == 9
    numbers = np.array([row[-6:] for row in rows], dtype=np.float64)  # estimates, lower and upper limits of both
    theirs, ours = numbers[:, 0::2], numbers[:, 1::2]
    np.testing.assert_allclose(theirs[:, 0], ours[:, 0], atol=CLOSE)
    assert ((theirs[:, 1] < ours[:, 2]) & (ours[:, 1] < theirs[:, 2])).all()
    assert np.corrcoef(theirs[:, 0], ours[:, 0])[0, 1] > 0.8


def _environment(folder: Path) -> str:
    uv = shutil.which("uv")
    command = [uv] if uv else [sys.executable, "-m", "uv"]
    python = folder / "bin" / "python"
    subprocess.run([*command, "venv", "--quiet", "--python", sys.executable, str(folder)], check=True)
    subprocess.run(
        [*command, "pip", "install", "--quiet", "--python", str(python), str(ROOT), "bambi", "nutpie"], check=True
    )
    return str(python)
