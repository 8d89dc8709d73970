"""Scaling of time and memory: rows of a tally, subgroups, attributes and levels of the exact engines.

    python -m examples.comparisons.scaling --output docs/scaling.csv

takes about five minutes on two cores; with ``--axes levels attributes`` only those are measured again, and the other lines of
the file stay. Every size is measured in a process of its own, whose
peak is the memory; the exponent of an axis is the slope of log seconds on log size over its upper half, and says that seconds
grow as size to that power.
"""

from __future__ import annotations

import argparse
import csv
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
import xarray as xr

from bayesgroups.errors import EngineError, InputError
from bayesgroups.studies.execution import HERE, Executor
from examples.commands import add_options, executor
from examples.records import as_csv, write

SIZES = {
    "rows": (10**5, 10**6, 10**7, 10**8),
    "subgroups": (32, 320, 3_200, 32_000, 100_000),
    "attributes": (1, 2, 3, 4, 5),
    "binary": (1, 2, 3, 4, 5, 6),
    "levels": (2, 8, 32, 128, 500),
}
DRAWS = 200
"""Draws of the axis of subgroups; 4,000 on the others."""
FILE = 10**6
"""Rows of the file that is read again and again where there are more."""
REPETITIONS, LONG = 2, 5.0
"""Runs of one size, and seconds of a run that is not repeated."""


@dataclass(frozen=True)
class Scaling:
    """One line of the record.

    Attributes
    ----------
    axis : str
        ``rows`` (tally of 4 metrics from Parquet, an AUC among them), ``subgroups`` (partial pooling of counts), ``attributes``
        (crossed effects of counts, 3 levels each, all orders), ``binary`` (the same, 2 levels each) or ``levels`` (crossed
        effects of two attributes, one with 4 levels).
    size : int
    seconds : float
        Of the processor, over all threads: the fewest of `REPETITIONS` runs.
    megabytes : float
        Peak of the process, Python and libraries included.
    exponent : float
        Of the axis.
    """

    axis: str
    size: int
    seconds: float
    megabytes: float
    exponent: float


def study(*, executor: Executor = HERE, most: int = 10**8, axes: Sequence[str] = tuple(SIZES)) -> list[Scaling]:
    """Measure every size of some axes.

    Parameters
    ----------
    executor : Executor
        Where measurements are kept; times mean something with one worker only.
    most : int
        Largest number of rows.
    axes : sequence of str
        What is measured.

    Returns
    -------
    list of Scaling
    """
    sizes = [(axis, size) for axis in SIZES if axis in axes for size in SIZES[axis] if axis != "rows" or size <= most]
    with tempfile.TemporaryDirectory() as folder:
        work = partial(_in_a_process, sizes, folder)
        answers = executor.run("scaling", work, len(sizes), settings={"sizes": sizes})
    lines = []
    for axis in dict.fromkeys(axis for axis, _ in sizes):
        each = [(size, *answer) for (name, size), answer in zip(sizes, answers, strict=True) if name == axis]
        power = exponent([size for size, *_ in each], [seconds for _, seconds, _ in each])
        lines += [Scaling(axis, size, seconds, megabytes, power) for size, seconds, megabytes in each]
    return lines


def read(path: Path) -> list[Scaling]:
    r"""The lines of a record, those of axes that are no longer measured left out.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "scaling.csv"
    ...     _ = path.write_text("axis,size,seconds,megabytes,exponent\nlevels,8,0.5,90.0,1.0\n")
    ...     read(path)
    [Scaling(axis='levels', size=8, seconds=0.5, megabytes=90.0, exponent=1.0)]
    """
    with path.open(encoding="utf-8", newline="") as file:
        return [
            Scaling(
                line["axis"], int(line["size"]), *(float(line[name]) for name in ("seconds", "megabytes", "exponent"))
            )
            for line in csv.DictReader(file)
            if line["axis"] in SIZES
        ]


def exponent(sizes: Sequence[float], seconds: Sequence[float]) -> float:
    """Slope of log seconds on log size over the upper half of the sizes.

    Raises
    ------
    InputError
        If there are fewer than two sizes.

    Examples
    --------
    >>> round(exponent([1, 10, 100, 1000], [0.5, 0.6, 1.0, 10.0]), 3)
    1.0
    """
    if len(sizes) < 2:
        raise InputError(f"an exponent needs two sizes or more; got {len(sizes)}")
    upper = min(len(sizes) // 2, len(sizes) - 2)
    return float(np.polyfit(np.log(sizes[upper:]), np.log(seconds[upper:]), 1)[0])


def peak_megabytes() -> float:
    """The largest memory that this process has used, in MB.

    Linux says so of a process by itself; the figure that other systems have starts from that of the parent process.

    Examples
    --------
    >>> peak_megabytes() > 10
    True
    """
    status = Path("/proc/self/status")
    if status.exists():
        line = next(line for line in status.read_text(encoding="ascii").splitlines() if line.startswith("VmHWM:"))
        return int(line.split()[1]) / 1000
    import resource

    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1000


def _in_a_process(sizes: Sequence[tuple[str, int]], folder: str, piece: int) -> tuple[float, float]:
    axis, size = sizes[piece]
    command = [sys.executable, "-m", "examples.comparisons.scaling", "--measure", axis, str(size), "--folder", folder]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    seconds, megabytes = json.loads(done.stdout)
    return float(seconds), float(megabytes)


def measure(axis: str, size: int, folder: Path) -> tuple[float, float]:
    """Seconds of one size, and the peak of this process in megabytes.

    Raises
    ------
    InputError
        If the axis is unknown.
    EngineError
        If the exact engine has no usable answer.
    """
    ready = {"rows": _rows, "subgroups": _subgroups, "attributes": _attributes, "binary": _binary, "levels": _levels}
    if axis not in ready:
        raise InputError(f"axis={axis!r} is not one of {', '.join(map(repr, ready))}")
    run = ready[axis](size, folder)
    times: list[float] = []
    while not times or (len(times) < REPETITIONS and times[-1] < LONG):
        start = time.process_time()
        run()
        times.append(time.process_time() - start)
    return min(times), peak_megabytes()


def _rows(size: int, folder: Path) -> Callable[[], object]:
    import duckdb

    from bayesgroups.tallies import tally

    number = min(size, FILE)
    path = folder / f"{number}.parquet"
    if not path.is_file():
        duckdb.execute(
            "COPY (SELECT 'g' || (i % 5) AS g, 'h' || (i % 7) AS h, (hash(i) % 2)::INT AS y, (hash(i + 1) % 1000) / 1000 AS s, "
            f"(hash(i + 2) % 4096) / 1024 AS v FROM range({number}) t(i)) TO '{path}'"
        )
    connection = duckdb.connect(config={"memory_limit": "1GB"})
    connection.execute("SET enable_progress_bar = false")

    def run() -> object:
        rows = connection.read_parquet([str(path)] * (size // number))
        return tally(rows, ["g", "h"], ["fnr", "sel", "mean", "auc"], y_true="y", y_score="s", threshold=0.5, loss="v")

    return run


def _counts(levels: Sequence[int]) -> xr.Dataset:
    import itertools

    import pandas as pd

    from bayesgroups.tallies import tally_from_counts

    rng = np.random.default_rng(1)
    who = pd.DataFrame(list(itertools.product(*map(range, levels))), columns=list("abcdef")[: len(levels)])
    effects = [rng.normal(0, 0.3, number) for number in levels]
    logit = -1 + rng.normal(0, 0.2, len(who))
    for name, effect in zip(who, effects, strict=True):
        logit += effect[who[name]]
    n = np.maximum(rng.lognormal(3, 1, len(who)).astype(int), 1)
    return tally_from_counts(rng.binomial(n, 1 / (1 + np.exp(-logit))), n, who.astype(str))


def _subgroups(size: int, _: Path) -> Callable[[], object]:
    from bayesgroups.inference.collapsed.partial_pooling import sample

    return partial(sample, _counts([size]), seed=1, draws=DRAWS)


def _crossed(levels: Sequence[int], order: int | None = None) -> Callable[[], object]:
    from bayesgroups.inference.collapsed.crossed_effects import sample

    counts = _counts(levels)

    def run() -> object:
        posterior = sample(counts, seed=1, order=order)
        failed = [f"{check.name} is {check.value:.3g}" for check in posterior.checks if not check.passed]
        if failed:
            raise EngineError(f"crossed effects of {levels} levels have no usable answer: {', '.join(failed)}")
        return posterior

    return run


def _attributes(size: int, _: Path) -> Callable[[], object]:
    return _crossed([3] * size)


def _binary(size: int, _: Path) -> Callable[[], object]:
    return _crossed([2] * size)


def _levels(size: int, _: Path) -> Callable[[], object]:
    return _crossed([size, 4], order=1)


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the study and write its record, or measure one size."""
    parser = argparse.ArgumentParser(
        prog="python -m examples.comparisons.scaling", description="How time and memory grow."
    )
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--output", type=Path, help="the CSV file to write")
    what.add_argument("--measure", nargs=2, metavar=("AXIS", "SIZE"), help="print seconds and megabytes of one size")
    parser.add_argument("--most", type=int, default=10**8, help="largest number of rows")
    parser.add_argument(
        "--axes", nargs="+", choices=SIZES, default=list(SIZES), help="measure these, and keep the others"
    )
    parser.add_argument(
        "--folder", type=Path, default=Path(tempfile.gettempdir()), help="where files of rows are written"
    )
    add_options(parser)
    given = parser.parse_args(arguments)
    if given.measure:
        axis, size = given.measure
        sys.stdout.write(json.dumps(measure(axis, int(size), given.folder)) + "\n")
        return
    with executor(given) as run:
        lines = study(executor=run, most=given.most, axes=given.axes)
    if given.output.is_file():
        lines += [line for line in read(given.output) if line.axis not in given.axes]
    lines.sort(key=lambda line: list(SIZES).index(line.axis))
    write(given.output, as_csv(lines))


if __name__ == "__main__":
    main()
