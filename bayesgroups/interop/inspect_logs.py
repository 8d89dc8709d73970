"""Logs of Inspect as frames: one row per sample, with its scores and metadata."""

from __future__ import annotations

import io
import json
import math
import struct
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bayesgroups.data.keywords import checked_keywords
from bayesgroups.errors import InputError, MissingDependencyError, SchemaError

if TYPE_CHECKING:
    import pandas as pd

MIN_SUSPECT, MAX_PACKED = 100_000_000, 200
"""Bytes of a part of a log, and times its packed size, up to which it is read."""
ZSTANDARD = 93
"""Number of the compression in ZIP files; Python opens it from 3.14 on."""
GRADES = {"C": 1.0, "I": 0.0, "P": 0.5, "N": 0.0}
"""Correct, incorrect, partially correct, no answer: what Inspect itself makes of them."""
WORDS = {"yes": 1.0, "true": 1.0, "no": 0.0, "false": 0.0}


@checked_keywords
def read_inspect(path: str | Path) -> pd.DataFrame:
    """Read an evaluation log of Inspect, without Inspect.

    Parameters
    ----------
    path : str or Path
        A log, ``.eval`` or ``.json``.

    Returns
    -------
    pandas.DataFrame
        One row per sample and epoch: ``item``, ``epoch``, ``system`` (the model), ``task``, ``error`` (empty where there was
        none), a column ``score_<scorer>`` per scorer (and per key, ``score_<scorer>_<key>``, where a score has several), and
        ``metadata_<key>`` per key of the samples' metadata. With one scorer its column is there as ``score`` as well. Grades
        are numbers, C 1, P 0.5, I and N 0; a sample without a score has NaN. Tally grades of 1 and 0 as ``metrics="correct",
        correct="score"``, and scores with partial credit as ``metrics="mean", loss="score", larger_is_better=True``. With several
        epochs an item has several rows: add ``cluster="item"``.

    Raises
    ------
    InputError
        If the file does not exist or a score is no number.
    SchemaError
        If it is no log of Inspect.
    MissingDependencyError
        If the log is compressed with Zstandard, and neither Python 3.14 nor pyarrow is there to open it.

    References
    ----------
    https://inspect.aisi.org.uk/eval-logs.html

    Examples
    --------
    >>> import tempfile
    >>> log = {"version": 2, "eval": {"model": "a/b", "task": "t"}, "samples": [
    ...     {"id": 1, "epoch": 1, "metadata": {"language": "sw"}, "scores": {"match": {"value": "C"}}}]}
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     place = Path(folder) / "log.json"
    ...     _ = place.write_text(json.dumps(log))
    ...     frame = read_inspect(place)
    >>> frame[["item", "system", "metadata_language", "score"]].values.tolist()
    [['1', 'a/b', 'sw', 1.0]]
    """
    frame, scores, _ = inspect_samples(Path(path))
    if len(scores) == 1:
        frame["score"] = frame[scores[0]]
    return frame


def inspect_samples(source: Path) -> tuple[pd.DataFrame, list[str], str]:
    """Samples of a log as `read_inspect` gives them, the columns of them that are scores, and the status of the log."""
    import pandas as pd

    if not source.is_file():
        raise InputError(f"file {str(source)!r} does not exist")
    header, samples = _parts(source)
    about = header.get("eval") if isinstance(header.get("eval"), dict) else {}
    rows = [_row(source, about or {}, sample) for sample in samples]
    if not rows:
        raise SchemaError(f"file {str(source)!r} has no samples; was the evaluation cancelled?")
    frame = pd.DataFrame(rows)
    scores = [str(name) for name in frame.columns if str(name).startswith("score_")]
    return frame, scores, str(header.get("status", "success"))


def _row(source: Path, about: dict[str, Any], sample: dict[str, Any]) -> dict[str, Any]:
    if not isinstance(sample, dict) or "id" not in sample:
        raise SchemaError(f"file {str(source)!r}: a sample has no 'id', so it is no log of Inspect")
    error = sample.get("error") or ""
    row: dict[str, Any] = {
        "item": str(sample["id"]),
        "epoch": int(sample.get("epoch", 1)),
        "system": str(about.get("model", "")),
        "task": str(about.get("task", "")),
        "error": str(error.get("message", "error")) if isinstance(error, dict) else str(error),
    }
    for scorer, score in (sample.get("scores") or {}).items():
        value = score.get("value") if isinstance(score, dict) else score
        each = value.items() if isinstance(value, dict) else [(None, value)]
        for key, item in each:
            name = f"score_{scorer}" if key is None else f"score_{scorer}_{key}"
            row[name] = _number(source, row["item"], name, item)
    return row | {f"metadata_{key}": scalar(value) for key, value in (sample.get("metadata") or {}).items()}


def _number(source: Path, item: str, name: str, value: object) -> float:
    if value is None:
        return math.nan
    if isinstance(value, bool | int | float):
        return float(value)
    text = str(value)
    if text in GRADES:
        return GRADES[text]
    if text.lower() in WORDS:
        return WORDS[text.lower()]
    try:
        return float(text)
    except ValueError:
        raise InputError(
            f"file {str(source)!r}, item {item!r}: {name} is {text!r}, which is no number and no grade"
        ) from None


def scalar(value: object) -> object:
    """Value of a field as it is if it fits a cell of a frame, else as JSON."""
    return value if value is None or isinstance(value, str | int | float | bool) else json.dumps(value, sort_keys=True)


def _parts(source: Path) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """The header and the samples of a log, in whichever form."""
    try:
        if zipfile.is_zipfile(source):
            with zipfile.ZipFile(source) as archive:
                return _archived(archive)
        log = json.loads(source.read_text(encoding="utf-8"))
    except (ValueError, KeyError, zipfile.BadZipFile, UnicodeDecodeError) as problem:
        raise SchemaError(f"file {str(source)!r} is no log of Inspect: {problem}") from problem
    if not isinstance(log, dict) or "eval" not in log:
        raise SchemaError(f"file {str(source)!r} is no log of Inspect: it has no 'eval'")
    return log, log.get("samples") or []


def _archived(archive: zipfile.ZipFile) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """From the summaries where they are whole, else from the samples; the journal has both for a run that was cut short."""
    names = archive.namelist()
    start = next((name for name in ("header.json", "_journal/start.json") if name in names), None)
    if start is None:
        raise KeyError("it has no header.json")
    header = json.loads(_content(archive, start)) | ({"status": "started"} if start.startswith("_") else {})
    if "summaries.json" in names:
        return header, json.loads(_content(archive, "summaries.json"))
    kept = sorted(name for name in names if name.startswith("samples/") and name.endswith(".json"))
    return header, [json.loads(_content(archive, name)) for name in kept]


def _content(archive: zipfile.ZipFile, name: str) -> bytes:
    entry = archive.getinfo(name)
    if entry.file_size > max(MIN_SUSPECT, MAX_PACKED * entry.compress_size):
        raise ValueError(
            f"{name!r} in it would take {entry.file_size / 1e6:.0f} MB, and has {entry.compress_size / 1e6:.1f} MB packed, as in "
            "no log"
        )
    if entry.compress_type != ZSTANDARD or hasattr(zipfile, "ZIP_ZSTANDARD"):
        return archive.read(name)
    try:
        import pyarrow as pa
    except ImportError as problem:
        raise MissingDependencyError(
            "the log is compressed with Zstandard; use Python 3.14, or: pip install 'bayesgroups[parquet]'"
        ) from problem
    content: bytes = pa.input_stream(io.BytesIO(_packed(archive, entry)), compression="zstd").read()
    return content


def _packed(archive: zipfile.ZipFile, entry: zipfile.ZipInfo) -> bytes:
    """The bytes of an entry as they are stored: after a header of 30 bytes, the name and what else the header tells of."""
    stream = archive.fp
    if stream is None:
        raise KeyError("it is closed")
    stream.seek(entry.header_offset)
    head = stream.read(30)
    name_length, extra_length = struct.unpack("<HH", head[26:30])
    stream.seek(entry.header_offset + 30 + name_length + extra_length)
    return stream.read(entry.compress_size)
