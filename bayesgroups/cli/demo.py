"""``bayesgroups demo``: the whole way on rows with a known truth."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from rich.text import Text

from bayesgroups.cli.options import Folder

if TYPE_CHECKING:
    import xarray as xr

METRICS = ("fnr", "sel", "acc")


def demo(*, seed: int = 0, output_dir: Folder = Path()) -> int:
    """Show what the package does, on made-up rows whose truth is known.

    Estimates false negative rate, selection rate and accuracy of a risk model in 32 subgroups, alone and with
    pooling, and writes report.nc and report.html:

        bayesgroups demo
        bayesgroups demo --seed 1 --output-dir /tmp

    Parameters
    ----------
    seed
        Source of the rows and of all other randomness.
    output_dir
        Folder for report.nc and report.html.
    """
    from bayesgroups.cli import consoles
    from bayesgroups.cli.estimate import save, verdict
    from bayesgroups.cli.invocations import signed
    from bayesgroups.data.outputs import check_outputs
    from bayesgroups.datasets import demonstration
    from bayesgroups.estimators import NoPooling, PartialPooling
    from bayesgroups.estimators.estimate import estimate
    from bayesgroups.tallies import tally
    from bayesgroups.views.tables import report_table, truth_table

    page, file = output_dir / "report.html", output_dir / "report.nc"
    check_outputs([file, page], [])
    shown = demonstration(seed)
    with consoles.counting("fitting", first="reading") as progress:
        result = tally(
            shown.rows, by=shown.by, metrics=METRICS, y_true="readmitted", y_score="score", threshold=shown.threshold
        )
        alone = estimate(result, NoPooling(), seed=seed, progress=progress)
        pooled = signed(estimate(result, PartialPooling(), seed=seed, progress=progress))
    written = save(pooled, file, page, truth=shown.truth)
    console = consoles.output()
    console.print(Text(_opening(result)))
    console.print()
    table = report_table(pooled, METRICS[0], truth=shown.truth, decimals=consoles.decimals(console))
    table.title = Text("fnr, the false negative rate, with partial pooling", style="bold")
    console.print(table)
    console.print()
    console.print(truth_table({"alone": alone, "pooled": pooled}, shown.truth))
    console.print()
    for line in written:
        console.print(Text(line))
    code = verdict(console, pooled)
    console.print()
    console.print(Text(f"Next: open {page} in a browser. For your own rows: bayesgroups estimate --help"))
    return code


def _opening(tally: xr.Dataset) -> str:
    rows, subgroups = int(tally["rows"].sum()), tally.sizes["subgroup"]
    small = int((tally["rows"] < 25).sum())
    return (
        f"{rows:,} made-up hospital admissions in {subgroups} subgroups of race, gender and age, {small} of "
        "them with fewer than 25 rows. A risk model selects patients; how often does it fail whom? Here the "
        "truth is known."
    )
