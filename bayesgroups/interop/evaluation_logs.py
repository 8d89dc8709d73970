"""Evaluation logs of several systems as one table: files, folders, or both, of Inspect and lm-evaluation-harness."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from bayesgroups.data.keywords import checked_keywords
from bayesgroups.errors import InputError, SchemaError, near_misses
from bayesgroups.interop.inspect_logs import inspect_samples
from bayesgroups.interop.lm_eval import harness_samples, task_of
from bayesgroups.interop.log_scores import Unscored, chosen_score, settled

if TYPE_CHECKING:
    import pandas as pd

KEYS = ["system", "task", "item", "epoch"]
"""Columns that one answer is known by."""
Logs = str | Path


@checked_keywords
def read_logs(
    source: Logs | Sequence[Logs] | Mapping[str, Logs], *, score: str | None = None, task: str | None = None,
    filter: str | None = None, unscored: Unscored = "error",
) -> pd.DataFrame:  # fmt: skip
    """Read the logs of several systems as one table, a row per answer, for `bayesgroups.paired_tally`.

    Parameters
    ----------
    source : path, sequence of paths, or mapping from names to paths
        Logs of Inspect (``.eval``, ``.json``), samples of lm-evaluation-harness (``samples_<task>_<date>.jsonl``), or folders,
        which are searched for both. In a mapping the names are those of the systems; else a system is called by its model.
    score : str, optional
        Scorer of Inspect (``match``, or ``judge_tone`` for the value ``tone`` of ``judge``) or metric of the harness (``acc``);
        needed where a log has several.
    task : str, optional
        Logs of this task alone.
    filter : str, optional
        Filter of the harness; needed where a file has several.
    unscored : {"error", "drop", "wrong"}
        Answers without a score, or with NaN, because the system, the sandbox or the scorer failed: refuse them and say how
        many there are, leave them out, or grade them 0. Logs that were cut short are refused as well, or read as far as they go.

    Returns
    -------
    pandas.DataFrame
        One row per system, item and epoch: ``system``, ``task``, ``item`` (with its task before it, as ``arc/7``, where there are
        several tasks), ``epoch`` (1 in the harness), ``score``, ``error`` (empty where there was none) and the columns
        ``metadata_<key>`` or ``doc_<field>`` for subgroups and clusters.

    Raises
    ------
    InputError
        If nothing is there to read, a log lacks the score or has several and none was chosen, an answer has no score and
        ``unscored`` does not say what becomes of it, or two logs have answers of one system to the same item.
    SchemaError
        If a file is no log.

    Notes
    -----
    An answer that is left out is missing for its system alone: `bayesgroups.paired_tally` leaves the item out of the pairs with
    this system and counts it. If a system fails on items that are hard, that is kinder to it than ``unscored="wrong"``.

    References
    ----------
    https://inspect.aisi.org.uk/eval-logs.html;
    https://github.com/EleutherAI/lm-evaluation-harness/blob/main/docs/interface.md

    Examples
    --------
    >>> import tempfile
    >>> def log(model, values):
    ...     samples = [{"id": i, "epoch": 1, "metadata": {"language": "sw"}, "scores": {"match": {"value": value}}}
    ...                for i, value in enumerate(values)]
    ...     return json.dumps({"version": 2, "eval": {"model": model, "task": "arc"}, "samples": samples})
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     for name, values in {"new": "CCI", "old": "CII"}.items():
    ...         _ = (Path(folder) / f"{name}.json").write_text(log(f"lab/{name}", values))
    ...     rows = read_logs(folder)
    >>> rows.groupby("system")["score"].sum().to_dict()
    {'lab/new': 2.0, 'lab/old': 1.0}
    """
    import pandas as pd

    frames, tasks = [], set()
    for system, path in _files(source):
        if path.suffix == ".jsonl" and task not in (None, task_of(path)):
            tasks.add(task_of(path))
            continue
        samples, scores, status = _samples(path, filter)
        tasks.add(str(samples["task"].iloc[0]))
        if task not in (None, *samples["task"].iloc[:1]):
            continue
        if status != "success" and unscored == "error":
            raise InputError(
                f"file {str(path)!r} has the status {status!r} and {len(samples)} samples, so others may lack; finish it, as "
                "inspect eval-retry, or read what it has with unscored='drop' or unscored='wrong'"
            )
        column = chosen_score(path, scores, score)
        rest = samples.drop(columns=[*scores, *(["filter"] if "filter" in samples else [])])
        named = rest if system is None else rest.assign(system=system)
        frames.append(named.assign(score=samples[column], log=str(path)))
    if not frames:
        raise InputError(f"no log is of task {task!r}; {near_misses(str(task), sorted(tasks))}")
    rows = pd.concat(frames, ignore_index=True)
    if len(set(rows["task"])) > 1:
        rows["item"] = rows["task"] + "/" + rows["item"]
    _refuse_twice(rows)
    first = [*KEYS, "score", "error"]
    rest = [name for name in rows.columns if name not in (*first, "log")]
    return settled(pd.DataFrame(rows[[*first, *rest]]), unscored)


def _files(source: Logs | Sequence[Logs] | Mapping[str, Logs]) -> list[tuple[str | None, Path]]:
    """Logs by the names of their systems, None where the log itself names it, in the order of their paths."""
    if isinstance(source, Mapping):
        named: list[tuple[str | None, Path]] = [(str(name), Path(path)) for name, path in source.items()]
    else:
        paths = [source] if isinstance(source, str | Path) else list(source)
        strange = next((path for path in paths if not isinstance(path, str | Path)), None)
        if strange is not None:
            raise InputError(f"source must be paths of logs or of folders; one is a {type(strange).__name__}")
        named = [(None, Path(path)) for path in paths]
    if not named:
        raise InputError("source has no path; name a log, or a folder of logs")
    return [(name, file) for name, path in named for file in ([path] if not path.is_dir() else _of_folder(path))]


def _of_folder(folder: Path) -> list[Path]:
    files = sorted(path for path in folder.rglob("*") if path.is_file() and _is_log(path))
    if not files:
        raise InputError(
            f"folder {str(folder)!r} has no log of Inspect (.eval, .json) and no samples of lm-evaluation-harness "
            "(samples_*.jsonl, written with --log_samples)"
        )
    return files


def _is_log(path: Path) -> bool:
    """True for a file that is a log by its name; a ``.json`` must have an evaluation and samples, for others lie beside it."""
    if path.suffix == ".json":
        try:
            content = json.loads(path.read_text(encoding="utf-8"))
        except ValueError as problem:
            raise SchemaError(f"file {str(path)!r} is no JSON: {problem}") from problem
        return isinstance(content, dict) and {"eval", "samples"} <= set(content)
    return path.suffix == ".eval" or (path.suffix == ".jsonl" and path.name.startswith("samples_"))


def _samples(path: Path, filter: str | None) -> tuple[pd.DataFrame, list[str], str]:
    """Samples of a file, the columns that are scores, and its status; both kinds have epochs and errors."""
    if path.suffix == ".jsonl":
        samples, scores = harness_samples(path, filter)
        return samples.assign(epoch=1, error=""), scores, "success"
    return inspect_samples(path)


def _refuse_twice(rows: pd.DataFrame) -> None:
    """An error that names both logs of an answer that is there twice."""
    twice = rows.duplicated(KEYS)
    if not twice.any():
        return
    second = rows.loc[twice].iloc[0]
    first = rows.loc[(rows[KEYS] == second[KEYS]).all(axis=1)].iloc[0]
    logs = " and ".join(dict.fromkeys([repr(first["log"]), repr(second["log"])]))
    raise InputError(
        f"system {second['system']!r} has two answers to item {second['item']!r} (epoch {second['epoch']}), in {logs}; leave one "
        "log out, or name the systems, as {'new': 'new.eval', 'old': 'old.eval'}"
    )
