"""Actions that write files over older ones, and whether those files are whole afterwards."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
import xarray as xr

import bayesgroups as bg
from bayesgroups import cli
from bayesgroups.studies.checkpoints import Checkpoints, file_name
from bayesgroups.studies.execution import Executor
from tests.determinism import digest_of
from tests.faults.children import Action

PIECES = 40
ANALYSIS = """
seed = 1
rows = "rows.csv"
[tally]
by = ["race", "sex"]
metrics = ["fnr", "acc"]
y_true = "y"
y_pred = "d"
output = "rows.tally.nc"
[estimators.pooled]
word = "partial_pooling"
output = "pooled.nc"
html = "pooled.html"
json = "pooled.json"
csv = "pooled.csv"
"""


LOGS = Path(__file__).parents[1] / "golden" / "logs" / "inspect"


@dataclass(frozen=True)
class Deed:
    """An action; the files it writes, each with a reader that fails on one that is torn; and whether it is a long command."""

    name: str
    act: Action
    files: Mapping[str, Callable[[Path], object]]
    long: bool = False


def rows(seed: int) -> pd.DataFrame:
    """Rows of a small evaluation."""
    rng = np.random.default_rng(seed)
    size = 3000
    y = rng.integers(0, 2, size)
    return pd.DataFrame(
        {
            "race": rng.choice(list("abcd"), size), "sex": rng.choice(["f", "m"], size), "y": y,
            "d": (rng.random(size) < 0.2 + 0.5 * y).astype(int),
        }
    )  # fmt: skip


def tally(seed: int) -> xr.Dataset:
    """Counts of those rows."""
    return bg.tally(rows(seed), ["race", "sex"], ["fnr", "acc"], y_true="y", y_pred="d")


def of_tally(path: Path) -> str:
    """Digest of a saved tally; an error of one that is torn."""
    return digest_of(bg.open_tally(path))


def of_report(path: Path) -> str:
    """Digest of the draws of a saved report."""
    return digest_of(bg.open_report(path)["posterior"].to_dataset())


def of_page(path: Path) -> str:
    """Text of a page, which must have its end."""
    text = path.read_text(encoding="utf-8")
    if not text.rstrip().endswith("</html>"):
        raise ValueError("the page has no end")
    return text


def of_table(path: Path) -> str:
    """Text of a table or document, which must end with a line."""
    text = path.read_text(encoding="utf-8")
    if not text.endswith("\n"):
        raise ValueError("the last line has no end")
    return text


def piece(mark: str, position: int) -> list[float]:
    """One piece of a study, which marks on the disk that it was computed."""
    values = np.random.default_rng([3, position]).normal(size=2000).cumsum()
    with Path(mark).open("a") as file:
        file.write(f"{position}\n")
    return [float(values[-1])]


def study(folder: Path) -> int:
    """A study that keeps its pieces."""
    Executor(1, folder / "kept").run("pieces", partial(piece, str(folder / "marks")), PIECES)
    return 0


def lost_pieces(folder: Path) -> int:
    """Pieces of the study that were computed and not kept, but for the one under way."""
    marks = folder / "marks"
    computed = {int(line) for line in marks.read_text().split()} if marks.exists() else set()
    place = folder / "kept" / file_name("pieces")
    kept = Checkpoints(place, '{"name": "pieces"}').read() if place.exists() else {}
    return max(len(computed - set(kept)) - 1, 0)


def prepare(folder: Path, older: Path) -> None:
    """The folder as it is before an action: rows, an analysis file, and older files of every name."""
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(older, folder)


def make_older(folder: Path) -> None:
    """Rows, an analysis file, and files of other numbers under every name that the actions write."""
    folder.mkdir(parents=True)
    rows(2).to_csv(folder / "rows.csv", index=False)
    (folder / "analysis.toml").write_text(ANALYSIS)
    counts = tally(77)
    report = bg.estimate(counts, bg.NoPooling(), seed=7)
    for name in ("saved.tally.nc", "rows.tally.nc"):
        bg.save_tally(counts, folder / name)
    for name in ("saved.nc", "pooled.nc", "report.nc"):
        bg.save_report(report, folder / name)
    for name in ("saved.html", "pooled.html", "report.html", "systems.html"):
        bg.write_html(report, folder / name)
    for name in ("pooled.json", "pooled.csv", "answer.json", "answer.csv"):
        (folder / name).write_text("old\n")


def commanded(line: str, files: Mapping[str, Callable[[Path], object]]) -> Deed:
    """A command that takes its time and writes files."""

    def act(folder: Path) -> int:
        return cli.run(line.split())

    return Deed(" ".join(line.split()[:1]), act, files, long=True)


def long_commands() -> list[Deed]:
    """Commands that compute for seconds."""
    answer = {"answer.json": of_table}
    by = "--by race --by sex --metric fnr --y-true y"
    return [
        commanded("demo", {"report.nc": of_report, "report.html": of_page}),
        replace(commanded("estimate rows.tally.nc --estimator structured_regression --output pooled.nc", {"pooled.nc": of_report}),
                name="estimate by chains"),
        replace(commanded("estimate rows.tally.nc --inference nuts --output pooled.nc", {"pooled.nc": of_report}),
                name="estimate by NUTS"),
        replace(commanded(f"study rows.csv {by} --y-score d --threshold 0.5 --rows 400 --draws 5 --output answer.csv",
                          {"answer.csv": of_table}), name="study of estimators"),
        commanded("prior-predictive rows.tally.nc --output answer.json", answer),
        commanded("prior-sensitivity saved.nc --output answer.json", answer),
        commanded("contrasts saved.nc --output answer.json", answer),
        commanded(f"compare-logs {LOGS / 'new.eval'} {LOGS / 'old.eval'} --by metadata_language --score match --unscored wrong "
                  "--html systems.html --output answer.json", {**answer, "systems.html": of_page}),
    ]  # fmt: skip


def deeds() -> list[Deed]:
    """All actions; what they save is made once, here."""
    counts = tally(2)
    report = bg.estimate(counts, bg.PartialPooling(), seed=2)

    def save_tally(folder: Path) -> int:
        bg.save_tally(counts, folder / "saved.tally.nc")
        return 0

    def save_report(folder: Path) -> int:
        bg.save_report(report, folder / "saved.nc")
        return 0

    def write_page(folder: Path) -> int:
        bg.write_html(report, folder / "saved.html")
        return 0

    def run(folder: Path) -> int:
        return cli.run(["run", str(folder / "analysis.toml")])

    def pipeline(folder: Path) -> int:
        counted = [
            "tally",
            "rows.csv",
            "--by",
            "race",
            "--by",
            "sex",
            "--metric",
            "fnr",
            "--y-true",
            "y",
            "--y-pred",
            "d",
        ]
        steps = [
            [*counted, "--output", "rows.tally.nc"], ["estimate", "rows.tally.nc", "--output", "pooled.nc"],
            ["write-html", "pooled.nc", "--output", "pooled.html"],
        ]  # fmt: skip
        codes = []
        for step in steps:
            codes.append(cli.run(step))
            sys.stdout.flush()
            if codes[-1]:
                break
        return max(codes)

    written = {"rows.tally.nc": of_tally, "pooled.nc": of_report, "pooled.html": of_page}
    return [
        Deed("save_tally", save_tally, {"saved.tally.nc": of_tally}),
        Deed("save_report", save_report, {"saved.nc": of_report}),
        Deed("write_html", write_page, {"saved.html": of_page}, long=True),
        Deed("study", study, {}),
        Deed("run an analysis", run, written | {"pooled.json": of_table, "pooled.csv": of_table}, long=True),
        Deed("pipeline of commands", pipeline, written, long=True),
    ]
