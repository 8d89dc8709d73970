"""Generators of hostile cases by category; each case runs, and raises `WrongAnswerError` where a recount says otherwise."""

from __future__ import annotations

import contextlib
import inspect
import json
import math
import tempfile
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr

import bayesgroups as bg
from bayesgroups.cli import BAD_INPUT, run
from bayesgroups.data.netcdf import SEAL
from bayesgroups.data.texts import level_text
from bayesgroups.errors import InputError
from bayesgroups.estimators import ESTIMATORS
from tests.fuzz.calls import calls

Case = Callable[[np.random.Generator, Path], None]
METRICS = ["sel", "acc", "tpr", "fnr", "fpr", "tnr", "ppv", "npv", "fdr", "for", "f1", "auc", "mean", "correct", "prev"]
NAMES = ["g", "age group", "", "a\nb", "weight", "mean", "outcome", "lower", "kind", "tau", "race/ethnicity", "=1", "é", ".",
         "\x00", "x" * 260, "subgroup", "__by_0__", "0", "level"]  # fmt: skip
VALUES: list[Any] = [None, True, 0, -1, 2, 1.5, math.nan, math.inf, -math.inf, 1e-320, 1e308, 10**400, "", "zz", "a", b"x", [],
                     ["q"], {}, {"a": 1}, (), object(), np.int64(3), np.float32(0.5), pd.Series([1]), print]  # fmt: skip


class WrongAnswerError(Exception):
    """A number of the package is not that of a recount."""


def pick(rng: np.random.Generator, choices: Any) -> Any:
    return choices[int(rng.integers(len(choices)))]


def rows_of(rng: np.random.Generator, name: str = "g") -> pd.DataFrame:
    """Rows with a strange column of levels, outcomes, decisions, scores, losses and weights."""
    size = int(rng.integers(1, 60))
    levels = pick(
        rng, [["a", "b", "c"], [1, 2], [1.0, 2.5], [True, False], ["a", "a|b", "\\", " "], ["", "é"], ["=1", "-2"]]
    )
    outcome: Any = rng.integers(0, 2, size)
    return pd.DataFrame(
        {
            name: [levels[i] for i in rng.integers(len(levels), size=size)],
            "h": rng.choice(["x", "y"], size),
            "y": pick(rng, [outcome, outcome.astype(bool), outcome.astype(float), outcome.astype("int8")]),
            "p": rng.integers(0, 2, size),
            "s": pick(rng, [rng.random(size), rng.integers(0, 3, size).astype("float32"), rng.normal(size=size) * 1e6]),
            "l": pick(
                rng, [rng.random(size), rng.random(size) * 10.0 ** float(rng.integers(-150, 140)), np.zeros(size)]
            ),
        }
    )


def as_other(rng: np.random.Generator, rows: pd.DataFrame) -> Any:
    """The same rows as another kind of frame, or as they are where that kind has no column for such values."""
    kind = pick(rng, ["pandas", "dict", "polars", "polars lazy", "pyarrow", "duckdb", "categorical"])
    with contextlib.suppress(Exception):  # each kind has its own exceptions
        if kind.startswith("polars"):
            import polars as pl

            frame = pl.from_pandas(rows)
            return frame.lazy() if kind.endswith("lazy") else frame
        if kind == "pyarrow":
            import pyarrow as pa

            return pa.Table.from_pandas(rows, preserve_index=False)
        if kind == "duckdb":
            import duckdb

            return duckdb.connect().from_df(rows)
    if kind == "categorical":
        return rows.assign(h=rows["h"].astype("category"))
    return {name: rows[name].to_list() for name in rows} if kind == "dict" else rows


def recount(rows: pd.DataFrame, by: list[str], metric: str) -> dict[tuple[str, ...], tuple[float, float]]:
    """Estimate and count of a metric by the texts of levels, row by row."""
    answer: dict[tuple[str, ...], tuple[float, float]] = {}
    for key, part in rows.groupby(by, sort=False, observed=True):
        # A mean is of losses alone: outcomes and decisions may be anything then.
        y, p = (pd.to_numeric(part[name], errors="coerce").to_numpy(dtype=float) for name in ("y", "p"))
        every = np.ones(len(part), dtype=bool)
        counts, value = {
            "sel": (every, p), "acc": (every, y == p), "tpr": (y == 1, p), "fnr": (y == 1, 1 - p), "fpr": (y == 0, p),
            "tnr": (y == 0, 1 - p), "ppv": (p == 1, y), "fdr": (p == 1, 1 - y), "npv": (p == 0, 1 - y), "for": (p == 0, y),
            "prev": (every, y), "mean": (every, part["l"].to_numpy(dtype=float)),
        }[metric]  # fmt: skip
        chosen = np.asarray(value, dtype=float)[counts]
        answer[tuple(level_text(level) for level in key)] = (
            float(chosen.mean()) if len(chosen) else math.nan,
            len(chosen),
        )
    return answer


def frames(rng: np.random.Generator, folder: Path) -> None:
    name = pick(rng, ["g", "age group", "weight"])
    rows = rows_of(rng, name)
    if rng.random() < 0.3:
        column = pick(rng, list(rows))
        place = int(rng.integers(len(rows)))
        rows[column] = rows[column].astype(object)
        rows.loc[place, column] = pick(rng, [None, math.nan, "zz", math.inf, -5])
    metric = pick(rng, METRICS[:10] + ["mean", "prev"])
    tally = bg.tally(as_other(rng, rows), [name, "h"], [metric], y_true="y", y_pred="p", loss="l")
    check(tally, rows, [name, "h"], metric)


def digits(rows: pd.DataFrame) -> float:
    """Rounding of means, which are exact to the digits of the largest loss of all rows, of which they are differences."""
    return 1e-14 * float(rows["l"].astype(float).abs().max())


def check(tally: xr.Dataset, rows: pd.DataFrame, by: list[str], metric: str) -> None:
    """Estimates and counts beside a recount of the rows."""
    expected = recount(rows, by, metric)
    close = digits(rows) if metric == "mean" else 0.0
    for i in range(tally.sizes["subgroup"]):
        key = tuple(str(tally[name].values[i]) for name in by)
        value, number = expected.get(key, (math.nan, 0))
        if not np.allclose(tally["estimate"].values[0, i], value, rtol=1e-9, atol=close, equal_nan=True):
            raise WrongAnswerError(f"{metric} of {key}: {tally['estimate'].values[0, i]}, not {value}")
        if tally["count"].values[0, i] != number:
            raise WrongAnswerError(f"count of {key}: {tally['count'].values[0, i]}, not {number}")


def counts(rng: np.random.Generator, folder: Path) -> None:
    size = int(rng.integers(1, 8))
    trials: Any = rng.integers(0, 10 ** int(rng.integers(1, 12)), size).astype(object)
    successes: Any = np.array([int(rng.integers(0, n + 1)) for n in trials], dtype=object)
    if rng.random() < 0.4:
        pick(rng, [trials, successes])[int(rng.integers(size))] = pick(rng, VALUES)
    subgroups = pd.DataFrame({"g": [f"s{i}" for i in range(size)]})
    tally = bg.tally_from_counts(list(successes), list(trials), subgroups)
    for k, n, estimate in zip(successes, trials, tally["estimate"].values[0], strict=True):
        if n and not math.isclose(float(k) / float(n), estimate, rel_tol=1e-12):
            raise WrongAnswerError(f"{k} of {n} is {estimate}")


def estimates(rng: np.random.Generator, folder: Path) -> None:
    size = int(rng.integers(1, 6))
    values = list(rng.normal(size=size) * 10.0 ** float(rng.integers(-140, 140)))
    variances: list[Any] = list(rng.random(size) * 10.0 ** float(rng.integers(-300, 140)))
    if rng.random() < 0.4:
        variances[0] = pick(rng, VALUES)
    tally = bg.tally_from_estimates(values, variances, pd.DataFrame({"g": [f"s{i}" for i in range(size)]}))
    same = np.array_equal(tally["estimate"].values[0], np.where(np.isnan(tally["estimate"].values[0]), np.nan, values),
                          equal_nan=True)  # fmt: skip
    if not same:
        raise WrongAnswerError(f"estimates {values} became {tally['estimate'].values[0]}")


def bounded(rates: Mapping[str, float], answer: xr.Dataset, what: str) -> None:
    """Rates of subgroups, and limits around them where there are some."""
    for name in answer["subgroup"].values:
        one = answer.sel(subgroup=name)
        estimate, lower, upper = (one[part].values.ravel() for part in ("estimate", "lower", "upper"))
        if not np.allclose(estimate, rates[str(name)], rtol=1e-12, equal_nan=True):
            raise WrongAnswerError(f"{what}: the rate of {name} is {estimate}, not {rates[str(name)]}")
        if (lower > estimate + 1e-12).any() or (upper < estimate - 1e-12).any():
            raise WrongAnswerError(f"{what}: {estimate} of {name} is not within {lower} to {upper}")


def settings(rng: np.random.Generator, folder: Path) -> None:
    estimator = pick(rng, ESTIMATORS)
    names = list(estimator().settings())
    changed: dict[str, Any] = {pick(rng, names): pick(rng, VALUES)} if names else {}
    made = estimator(**changed)
    if estimator.word not in {"no_pooling", "complete_pooling", "james_stein"}:
        return
    successes, trials = rng.integers(0, 9, 3), rng.integers(8, 40, 3)
    tally = bg.tally_from_counts(successes, trials, pd.DataFrame({"g": ["a", "b", "c"]}))
    answer = bg.estimate(tally, made, seed=1)["estimates"].to_dataset()
    rates = {"no_pooling": successes / trials, "complete_pooling": np.full(3, successes.sum() / trials.sum())}
    if estimator.word in rates:
        given = dict(zip("abc", rates[estimator.word], strict=True))
        bounded(given, answer.sel(approach="frequentist"), f"{estimator.__name__} {changed}")


GOOD: Mapping[str, list[Any]] = {
    "level": [0.5, 0.9, 0.999], "reference": ["overall", "rest", "best", "worst", "a | x"], "using": ["tally", "auto"],
    "scale": ["difference", "ratio"], "margins": [True, False], "interval": ["auto", "wilson"], "weights": ["group", "rows"],
    "measures": ["max_min_difference"], "correction": ["none"], "standards": [0.4], "alpha": [0.5],
}  # fmt: skip
"""Values that questions answer."""


def questions(rng: np.random.Generator, folder: Path) -> None:
    successes, trials = rng.integers(0, 9, 4), rng.integers(8, 30, 4)
    tally = bg.tally_from_counts(successes, trials, pd.DataFrame({"g": list("aabb"), "h": list("xyxy")}))
    ask = pick(rng, [bg.ranks, bg.certify, bg.contrasts, bg.disparity, bg.simultaneous_intervals])
    name = pick(rng, [each for each in inspect.signature(ask).parameters if each != "source"])
    value = pick(rng, VALUES) if rng.random() < 0.5 else pick(rng, GOOD.get(name, VALUES))
    answer = ask(tally, **{name: value})
    cells = pd.DataFrame({"g": list("aabb"), "h": list("xyxy"), "k": successes, "n": trials})
    sums = {"a | x": cells[:1], "a | y": cells[1:2], "b | x": cells[2:3], "b | y": cells[3:], "everyone": cells,
            **{f"{level} | (all)": cells[cells["g"] == level] for level in "ab"},
            **{f"(all) | {level}": cells[cells["h"] == level] for level in "xy"}}  # fmt: skip
    rates = {group: float(part["k"].sum() / part["n"].sum()) for group, part in sums.items()}
    single = [rates[group] for group in list(sums)[:4]]
    if ask in (bg.certify, bg.simultaneous_intervals):
        bounded(rates, answer, f"{ask.__name__} {name}={value!r}")
    elif ask is bg.ranks:
        assert_near(answer["estimate"].values, single, f"ranks {name}={value!r}")
        order = np.sign(np.subtract.outer(single, single))  # smaller is better, if nobody says otherwise
        ranks = np.sign(np.subtract.outer(*[answer["rank"].values[0]] * 2))
        assert_near(ranks, -order if name == "larger_is_better" and value else order, f"ranks {name}={value!r}")
    elif ask is bg.disparity and name != "corrected" and "max_min_difference" in answer["measure"].values:
        spread = answer["value"].sel(measure="max_min_difference").values
        assert_near(spread, np.ptp(single), f"disparity {name}={value!r}")
    elif ask is bg.contrasts:
        for each in answer["contrast"].values:
            one = answer.sel(contrast=each)
            pair = [str(one[side].values) for side in ("subgroup", "reference")]
            if set(pair) <= set(rates):
                left, right = (rates[side] for side in pair)
                for scale, expected in (("difference", left - right), ("ratio", left / right if right else math.nan)):
                    if scale in answer["scale"].values and math.isfinite(expected):
                        assert_near(
                            one["estimate"].sel(scale=scale).values, expected, f"{each} {scale} {name}={value!r}"
                        )


def assert_near(values: Any, expected: Any, what: str) -> None:
    if not np.allclose(values, expected, rtol=1e-10, atol=1e-12):
        raise WrongAnswerError(f"{what}: {values}, not {expected}")


def arguments(rng: np.random.Generator, folder: Path) -> None:
    """A public function that is called as it should be, but for one argument."""
    ask, given = calls()[pick(rng, list(calls()))]
    values = [*VALUES, rows_of(rng), bg.NoPooling(), xr.Dataset(), xr.DataTree(), *given.values()]
    replaced = {pick(rng, list(inspect.signature(ask).parameters)): pick(rng, values)}
    with contextlib.chdir(folder):
        ask(**{**given, **replaced})


SAVED: tuple[list[int], list[int], pd.DataFrame] = ([1, 3], [4, 9], pd.DataFrame({"g": ["a", "b"]}))
DIGEST = len(SEAL) + 32
"""Bytes after the last one of HDF5."""


@cache
def saved_bytes() -> bytes:
    """A saved tally."""
    with tempfile.TemporaryDirectory() as folder:
        return bg.save_tally(bg.tally_from_counts(*SAVED), Path(folder) / "t.nc").read_bytes()


def netcdf(rng: np.random.Generator, folder: Path) -> None:
    data = bytearray(saved_bytes())
    if rng.random() < 0.5:
        data[int(rng.integers(len(data) - 60))] ^= 1 << int(rng.integers(8))
    else:
        data = data[: int(rng.integers(len(data) - 1))]
    path = folder / "t.nc"
    path.write_bytes(bytes(data))
    found = bg.open_tally(path)
    # A file that is cut in its digest has all its data, and is read as one that never had a digest.
    if len(data) < len(saved_bytes()) - DIGEST or not found.identical(bg.tally_from_counts(*SAVED)):
        raise WrongAnswerError("a damaged file was read")


def toml(rng: np.random.Generator, folder: Path) -> None:
    (folder / "rows.csv").write_text("sex,hired\n" + "f,1\nf,0\nm,1\n" * 5)
    lines = [
        "seed = 1", 'rows = "rows.csv"', "[tally]", 'by = ["sex"]', 'metrics = ["sel"]', 'y_pred = "hired"',
        "[estimators.alone]", 'word = "no_pooling"', 'csv = "alone.csv"', "[questions.order]", 'ask = "ranks"', 'of = "alone"',
        'output = "order.csv"',
    ]  # fmt: skip
    place = int(rng.integers(len(lines)))
    key = lines[place].partition(" = ")[0]
    value = pick(
        rng, ["-1", "true", '""', '"zz"', "[]", "{}", "nan", '["../x"]', '"../x.csv"', "\x00", '"rows.csv"', "1e400"]
    )
    lines[place] = pick(rng, [f"{key} = {value}", lines[place][: len(lines[place]) // 2], ""])
    (folder / "analysis.toml").write_text("\n".join(lines))
    before = (folder / "rows.csv").read_bytes()
    try:
        bg.run_analysis(folder / "analysis.toml")
    finally:
        if (folder / "rows.csv").read_bytes() != before:
            raise WrongAnswerError("the rows were written over")


def command_lines(rng: np.random.Generator, folder: Path) -> None:
    if rng.random() < 0.25:
        counted_by_command(rng, folder)
        return
    path = str(folder / "t.nc")
    Path(path).write_bytes(saved_bytes())
    words = ["zz", "-1", "", "nan", "1e400", path, str(folder), "=1", "--level", "--json", "--output", "--seed", "é"]
    line = [pick(rng, ["tally", "estimate", "ranks", "certify", "show", "export", "contrasts", "write-html", "zz"])]
    with contextlib.chdir(folder):
        code = run(
            [*line, *([path] if rng.random() < 0.8 else []), *(pick(rng, words) for _ in range(rng.integers(4)))]
        )
    if code == BAD_INPUT:
        raise InputError("refused on the command line")


def counted_by_command(rng: np.random.Generator, folder: Path) -> None:
    """Rows of a CSV file that a command counts, and another gives limits for."""
    rows = rows_of(rng).assign(y=lambda frame: frame["y"].astype(int))
    rows["g"] = [f"_{level_text(level)}" for level in rows["g"]]  # texts that a CSV file gives back as texts
    place, output, answer = (folder / name for name in ("rows.csv", "t.nc", "limits.json"))
    rows.to_csv(place, index=False)
    metric = pick(rng, [*METRICS[:10], "mean", "prev"])
    columns = ["--y-true", "y", "--y-pred", "p", "--loss", "l"]
    by = [word for name in ("g", "h") for word in ("--by", name)]
    code = run(["tally", str(place), *by, "--metric", metric, *columns, "--output", str(output)])
    if code == BAD_INPUT:
        raise InputError("refused on the command line")
    tally = bg.open_tally(output)
    check(tally, rows, ["g", "h"], metric)
    if run(["simultaneous-intervals", str(output), "--output", str(answer)]) != BAD_INPUT:
        expected = recount(rows, ["g", "h"], metric)
        for record in json.loads(answer.read_text())["tables"][-1]["records"]:
            value = expected.get((record["g"], record["h"]), (math.nan, 0))[0]
            if record["estimate"] is not None and not math.isclose(
                record["estimate"], value, rel_tol=1e-9, abs_tol=digits(rows)
            ):
                raise WrongAnswerError(f"{metric} of {record} in the answer of a command, not {value}")


def metrics(rng: np.random.Generator, folder: Path) -> None:
    rows = rows_of(rng)
    wanted = pick(rng, [*METRICS, "tpr[1]", "tpr[zz]", "FNR", "zz", "", None, 3, ["sel", "sel"], []])
    given: dict[str, Any] = {name: column for name, column in (("y_true", "y"), ("y_pred", "p"), ("y_score", "s"), ("loss", "l"))
             if rng.random() < 0.7}  # fmt: skip
    bg.tally(rows, ["g"], wanted, **given)


def names(rng: np.random.Generator, folder: Path) -> None:
    name = pick(rng, NAMES)
    rows = rows_of(rng, name)
    tally = bg.tally(rows, [name], ["sel"], y_pred="p")
    bg.save_tally(tally, folder / "t.nc")
    if not bg.open_tally(folder / "t.nc").identical(tally):
        raise WrongAnswerError(f"a tally by {name!r} is another one after saving")
    if rng.random() < 0.75:
        return
    path = folder / pick(rng, ["r.nc", "*.nc", "[a].nc", "é.nc", "-x.nc", "x" * 300, "a/b.nc", ""])
    bg.save_report(bg.estimate(tally, bg.NoPooling(), seed=1), path, include=[])


CASES: Mapping[str, Case] = {
    case.__name__: case
    for case in (frames, counts, estimates, settings, questions, netcdf, toml, command_lines, metrics, names, arguments)
}
