"""Samples of lm-evaluation-harness as frames: one row per document, with its metrics and fields."""

from __future__ import annotations

import json
import math
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bayesgroups.data.keywords import checked_keywords
from bayesgroups.errors import InputError, SchemaError, near_misses
from bayesgroups.interop.inspect_logs import scalar

if TYPE_CHECKING:
    import pandas as pd

_NAME = re.compile(r"samples_(?P<task>.+?)(?:_\d{4}-\d{2}-\d{2}T[\d.:-]+)?$")


@checked_keywords
def read_lm_eval(path: str | Path, *, filter: str | None = None) -> pd.DataFrame:
    """Read the samples that lm-evaluation-harness writes with ``--log_samples``.

    Parameters
    ----------
    path : str or Path
        A file ``samples_<task>_<date>.jsonl``.
    filter : str, optional
        Which filter's answers; needed where there are several, because every document has a line for each of them.

    Returns
    -------
    pandas.DataFrame
        One row per document: ``item`` (its ``doc_id``), ``task`` and ``system`` (of the names of the file and its folder),
        ``filter``, a column per metric whose values are numbers, and ``doc_<field>`` per field of the document. Tally a metric of
        1 and 0, such as ``acc`` or ``exact_match``, as ``metrics="correct", correct="acc"``.

    Raises
    ------
    InputError
        If the file does not exist, or has several filters and none was chosen, or not the chosen one.
    SchemaError
        If a line is no sample, or no metric is a number.

    References
    ----------
    https://github.com/EleutherAI/lm-evaluation-harness/blob/main/docs/interface.md

    Examples
    --------
    >>> import tempfile
    >>> line = {"doc_id": 0, "doc": {"language": "sw"}, "filter": "none", "metrics": ["acc"], "acc": 1.0}
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     place = Path(folder) / "samples_xcopa_2026-01-31T10-00-00.000000.jsonl"
    ...     _ = place.write_text(json.dumps(line))
    ...     frame = read_lm_eval(place)
    >>> frame[["item", "task", "doc_language", "acc"]].values.tolist()
    [['0', 'xcopa', 'sw', 1.0]]
    """
    return harness_samples(Path(path), filter)[0]


def harness_samples(source: Path, filter: str | None) -> tuple[pd.DataFrame, list[str]]:
    """Samples of a file as `read_lm_eval` gives them, and the columns of them that are metrics."""
    import pandas as pd

    if not source.is_file():
        raise InputError(f"file {str(source)!r} does not exist")
    samples = _samples(source)
    filters = sorted({str(sample.get("filter", "none")) for sample in samples})
    if filter is None and len(filters) > 1:
        raise InputError(
            f"file {str(source)!r} has the filters {', '.join(map(repr, filters))}; choose one, as filter={filters[0]!r}"
        )
    if filter is not None and filter not in filters:
        raise InputError(f"file {str(source)!r} has no filter {filter!r}; {near_misses(filter, filters)}")
    chosen = [sample for sample in samples if filter in (None, str(sample.get("filter", "none")))]
    about = {"task": task_of(source), "system": source.parent.name}
    metrics = _metrics(source, chosen)
    return pd.DataFrame([_row(sample, about, metrics) for sample in chosen]), metrics


def task_of(source: Path) -> str:
    """The task that a file of samples is named by.

    >>> task_of(Path("samples_xcopa_2026-01-31T10-00-00.000000.jsonl"))
    'xcopa'
    """
    match = _NAME.match(source.stem)
    return match["task"] if match else source.stem


def _row(sample: dict[str, Any], about: dict[str, str], metrics: list[str]) -> dict[str, Any]:
    doc = sample["doc"] if isinstance(sample["doc"], dict) else {"text": sample["doc"]}
    row: dict[str, Any] = {"item": str(sample["doc_id"]), **about, "filter": str(sample.get("filter", "none"))}
    row |= {name: math.nan if sample.get(name) is None else float(sample[name]) for name in metrics}
    return row | {f"doc_{key}": scalar(value) for key, value in doc.items()}


def _samples(source: Path) -> list[dict[str, Any]]:
    samples = []
    try:
        lines = source.read_text(encoding="utf-8").splitlines()
    except UnicodeDecodeError as problem:
        raise SchemaError(f"file {str(source)!r} holds no samples of lm-evaluation-harness: {problem}") from problem
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            sample = json.loads(line)
        except ValueError as problem:
            raise SchemaError(f"file {str(source)!r}, line {number}: no JSON ({problem})") from problem
        if not isinstance(sample, dict) or "doc_id" not in sample or "doc" not in sample:
            raise SchemaError(f"file {str(source)!r}, line {number}: no sample, it lacks 'doc_id' or 'doc'")
        samples.append(sample)
    if not samples:
        raise SchemaError(f"file {str(source)!r} has no samples")
    return samples


def _metrics(source: Path, samples: list[dict[str, Any]]) -> list[str]:
    """Metrics that are a number, or null, in every sample; perplexities, which are pairs, are none."""
    named = samples[0].get("metrics")
    guessed = [name for name in samples[0] if name.startswith(("acc", "exact_match", "f1"))]
    graded = []
    for name in list(named) if isinstance(named, list) else guessed:
        values = [sample[name] for sample in samples if sample.get(name) is not None]
        if values and all(isinstance(value, int | float) for value in values):
            graded.append(name)
    if not graded:
        names = list(named) if isinstance(named, list) else guessed
        raise SchemaError(f"file {str(source)!r}: none of the metrics {names} is a number in every sample")
    return graded
