"""Wrong formulas are noticed by ordinary tests."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.mutations import MUTATIONS, Mutation

ROOT = Path(__file__).parents[1]
NEEDED = ("bayesgroups", "models", "tests", "examples", "pyproject.toml", "docs/examples")
"""What tests read of the repository."""


@pytest.mark.parametrize("mutation", MUTATIONS, ids=lambda mutation: mutation.name)
def test_the_right_formula_stands_once(mutation: Mutation) -> None:
    assert (ROOT / mutation.path).read_text(encoding="utf-8").count(mutation.right) == 1
    assert mutation.right != mutation.wrong
    assert all((ROOT / path).exists() for path in mutation.tests.split())


def test_there_are_thirty() -> None:
    assert len({mutation.right for mutation in MUTATIONS}) >= 30


@pytest.fixture(scope="module")
def copied(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("mutated")
    for name in NEEDED:
        place = folder / name
        place.parent.mkdir(parents=True, exist_ok=True)
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, place, symlinks=True, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(ROOT / name, place)
    return folder


@pytest.mark.slow
@pytest.mark.parametrize("mutation", MUTATIONS, ids=lambda mutation: mutation.name)
def test_a_wrong_formula_is_noticed(mutation: Mutation, copied: Path) -> None:
    path = copied / mutation.path
    right = path.read_text(encoding="utf-8")
    path.write_text(right.replace(mutation.right, mutation.wrong), encoding="utf-8")
    try:
        command = [
            sys.executable,
            "-m",
            "pytest",
            "-q",
            "-x",
            "-n",
            "0",
            "-p",
            "no:cacheprovider",
            *mutation.tests.split(),
        ]
        run = subprocess.run(command, cwd=copied, capture_output=True, text=True, check=False)
    finally:
        path.write_text(right, encoding="utf-8")
    assert run.returncode == 1, run.stdout[-2000:] + run.stderr[-2000:]  # 1: tests were collected, and some failed
    assert "failed" in run.stdout
