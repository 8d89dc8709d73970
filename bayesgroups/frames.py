"""One door for every dataframe: opening, the roles of columns, and what must hold of each column."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import narwhals.stable.v2 as nw

from bayesgroups.errors import InputError, MissingDependencyError, near_misses
from bayesgroups.thresholds import selection_threshold

Missing = Literal["error", "level", "drop"]
MISSING_LEVEL = "(missing)"
"""The level that missing attribute values form with ``missing="level"``."""


@dataclass(frozen=True)
class Roles:
    """Which column plays which part; the arguments of `bayesgroups.tally` in one place."""

    by: tuple[str, ...]
    y_true: str | None = None
    y_pred: str | None = None
    y_score: str | None = None
    loss: str | None = None
    threshold: float | None = None
    selection_rate: float | None = None
    positive: object = None
    features: tuple[str, ...] = ()
    cluster: str | None = None
    weights: str | None = None

    def columns(self) -> dict[str, str]:
        """Every column named, by the argument that names it."""
        single = {"y_true": self.y_true, "y_pred": self.y_pred, "y_score": self.y_score, "loss": self.loss}
        named = {role: column for role, column in single.items() if column is not None}
        named |= {f"by[{i}]": column for i, column in enumerate(self.by)}
        named |= {f"features[{i}]": column for i, column in enumerate(self.features)}
        named |= {"cluster": self.cluster} if self.cluster is not None else {}
        named |= {"weights": self.weights} if self.weights is not None else {}
        return named


@dataclass(frozen=True)
class Rows:
    """Rows ready to be summed.

    ``frame`` has the attributes as ``__by_0__`` ..., the expressions of `bayesgroups.metrics` as columns,
    ``__weight__``, ``__cluster__`` and ``__feature_0__`` ... where asked. ``declared`` holds the levels that a
    categorical column declares, observed or not; ``notes`` what was decided on the way (threshold, rows dropped ...).
    """

    frame: nw.DataFrame[Any]
    declared: dict[str, list[Any]]
    classes: tuple[str, ...]
    notes: dict[str, Any]


def open_frame(source: object) -> nw.DataFrame[Any]:
    """Open a dataframe of any kind, or a CSV or Parquet file.

    Parameters
    ----------
    source : dataframe, str or Path
        pandas, polars, pyarrow or any other frame that narwhals knows (lazy ones are collected), or a file.

    Returns
    -------
    narwhals DataFrame

    Raises
    ------
    InputError
        If the source is no dataframe, the file does not exist, is damaged or of another kind, or there are no rows.
    MissingDependencyError
        If a Parquet file is given and pyarrow is not installed.

    Notes
    -----
    In CSV files only the empty field is missing: the texts ``NA`` and ``None`` stay levels as they are.

    Examples
    --------
    >>> import pandas as pd
    >>> from bayesgroups.frames import open_frame
    >>> open_frame(pd.DataFrame({"sex": ["f", "m"]})).columns
    ['sex']
    """
    if isinstance(source, str | Path):
        frame = _read(Path(source))
    else:
        try:
            opened = nw.from_native(source)  # type: ignore[call-overload]
        except TypeError:
            raise InputError(
                f"frame must be a dataframe (pandas, polars, pyarrow ...) or the path of a CSV or Parquet file; "
                f"got {type(source).__name__}"
            ) from None
        frame = opened.collect() if isinstance(opened, nw.LazyFrame) else opened
    if len(set(frame.columns)) < len(frame.columns):
        twice = sorted({name for name in frame.columns if list(frame.columns).count(name) > 1})
        raise InputError(f"the frame has two columns named {twice[0]!r}; rename one")
    if len(frame) == 0:
        raise InputError("the frame has no rows; nothing can be tallied")
    return frame


def prepare(frame: nw.DataFrame[Any], roles: Roles, *, missing: Missing = "error", decides: bool = True) -> Rows:
    """Check every column that has a role and bring the roles to their common names.

    Parameters
    ----------
    frame : narwhals DataFrame
        From `open_frame`.
    roles : Roles
        Which column plays which part.
    missing : {"error", "level", "drop"}
        What to do with rows whose attribute is missing.
    decides : bool
        Whether a metric needs two classes (a positive one); without it, outcomes may have any number of classes.

    Returns
    -------
    Rows

    Raises
    ------
    InputError
        If a column is absent, has missing or infinite values, labels are not binary where they must be, a weight
        is negative, or arguments contradict one another.
    """
    _check_arguments(roles)
    for argument, column in roles.columns().items():
        if column not in frame.columns:
            raise InputError(
                f"column {column!r} ({argument}=) is not in the frame; {near_misses(column, frame.columns)}"
            )
    declared = {
        name: [str(level) for level in frame[name].cat.get_categories().to_list()]
        for name in roles.by
        if isinstance(frame[name].dtype, nw.Categorical | nw.Enum)
    }
    notes: dict[str, Any] = {"missing": missing}
    frame = _attributes(frame, roles.by, missing, notes)
    columns: list[Any] = []
    for i, feature in enumerate(roles.features):
        columns.append(_number(frame, feature, f"features[{i}]").alias(f"__feature_{i}__"))
    if roles.weights is not None:
        columns.append(_weights(frame, roles.weights).alias("__weight__"))
    if roles.cluster is not None:
        _no_missing(frame, roles.cluster, "cluster")
        columns.append(frame[roles.cluster].cast(nw.String).alias("__cluster__"))
    if roles.loss is not None:
        columns.append(_number(frame, roles.loss, "loss").alias("__loss__"))
    score = None
    if roles.y_score is not None:
        score = _number(frame, roles.y_score, "y_score")
        columns.append(score.alias("__y_score__"))
    classes = _labels(frame, roles, score, columns, notes, decides)
    return Rows(frame.with_columns(*columns) if columns else frame, declared, classes, notes)


def _read(path: Path) -> nw.DataFrame[Any]:
    import pandas as pd

    if not path.exists():
        raise InputError(f"file {str(path)!r} does not exist")
    suffixes = [suffix.lower() for suffix in path.suffixes]
    try:
        if ".parquet" in suffixes[-1:] or ".pq" in suffixes[-1:]:
            return nw.from_native(pd.read_parquet(path), eager_only=True)
        if ".csv" in suffixes[-2:]:
            return nw.from_native(pd.read_csv(path, keep_default_na=False, na_values=[""]), eager_only=True)
    except ImportError:
        raise MissingDependencyError(
            "reading Parquet needs pyarrow; install it with: pip install 'bayesgroups[parquet]'"
        ) from None
    except (OSError, ValueError) as problem:  # the parsers of pandas and pyarrow raise ValueErrors of many names
        reason = str(problem).split("\n", maxsplit=1)[0]
        raise InputError(f"file {str(path)!r} cannot be read as rows: {reason}") from problem
    raise InputError(
        f"file {str(path)!r}: expected .csv (also .csv.gz) or .parquet; got {''.join(suffixes) or 'no suffix'}"
    )


def _check_arguments(roles: Roles) -> None:
    if not roles.by:
        raise InputError("by= names no column; name at least one attribute, as by=['sex', 'age']")
    if len(set(roles.by)) < len(roles.by):
        raise InputError(f"by= names a column twice: {list(roles.by)}")
    given = [name for name in ("threshold", "selection_rate") if getattr(roles, name) is not None]
    if len(given) == 2:
        raise InputError("threshold= and selection_rate= are both given; a decision has one rule, so leave one out")
    if given and roles.y_pred is not None:
        raise InputError(f"y_pred= and {given[0]}= are both given; a decision comes from one of them, so leave one out")
    if given and roles.y_score is None:
        raise InputError(f"{given[0]}= turns a score into a decision, but y_score= is not given")
    if roles.threshold is not None and not math.isfinite(roles.threshold):
        raise InputError(f"threshold= must be a finite number; got {roles.threshold}")


def _attributes(
    frame: nw.DataFrame[Any], by: Sequence[str], missing: Missing, notes: dict[str, Any]
) -> nw.DataFrame[Any]:
    """Add the attributes as ``__by_i__`` columns, missing values treated as asked."""
    for name in by:
        absent = _missing(frame[name])
        number = int(absent.cast(nw.Int64).sum())
        if number and missing == "error":
            raise InputError(
                f"attribute {name!r} is missing in {number} of {len(frame)} rows; "
                "say missing='level' to make them a subgroup of their own, or missing='drop' to leave them out"
            )
        if number and missing == "drop":
            notes["rows_dropped"] = notes.get("rows_dropped", 0) + number
            frame = frame.filter(~absent)
    if len(frame) == 0:
        raise InputError("no rows are left after dropping those with a missing attribute")
    if missing != "level":
        return frame.with_columns(*[frame[name].alias(f"__by_{i}__") for i, name in enumerate(by)])
    keys = []
    for i, name in enumerate(by):
        column = frame[name]
        if bool(_missing(column).any()):
            text = nw.new_series(
                name,
                [
                    MISSING_LEVEL if gone else level_text(value)
                    for value, gone in zip(column, _missing(column), strict=True)
                ],
                nw.String,
                backend=frame.implementation,
            )
            column = text
        keys.append(column.alias(f"__by_{i}__"))
    return frame.with_columns(*keys)


def level_text(value: object) -> str:
    """A level of an attribute as text: whole floats as integers, everything else as Python prints it.

    Examples
    --------
    >>> from bayesgroups.frames import level_text
    >>> level_text(1.0), level_text(True), level_text("18-34")
    ('1', 'True', '18-34')
    """
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value)


def _missing(column: nw.Series[Any]) -> nw.Series[Any]:
    return column.is_null() | column.is_nan() if column.dtype.is_float() else column.is_null()


def _first(flags: nw.Series[Any]) -> int:
    return int(flags.arg_true()[0])


def _no_missing(frame: nw.DataFrame[Any], name: str, argument: str) -> None:
    absent = _missing(frame[name])
    if bool(absent.any()):
        number = int(absent.cast(nw.Int64).sum())
        raise InputError(
            f"column {name!r} ({argument}=) has {number} missing value{'s' if number > 1 else ''}, "
            f"the first in row {_first(absent)}; fill or drop these rows before the tally"
        )


def _number(frame: nw.DataFrame[Any], name: str, argument: str) -> nw.Series[Any]:
    """The column as finite float64."""
    _no_missing(frame, name, argument)
    column = frame[name]
    if not (column.dtype.is_numeric() or column.dtype == nw.Boolean):
        raise InputError(f"column {name!r} ({argument}=) must hold numbers; got {column.dtype} such as {column[0]!r}")
    number = column.cast(nw.Float64)
    finite = number.is_finite()
    if not bool(finite.all()):
        row = _first(~finite)
        raise InputError(f"column {name!r} ({argument}=) must be finite; row {row} has {number[row]}")
    return number


def _weights(frame: nw.DataFrame[Any], name: str) -> nw.Series[Any]:
    weight = _number(frame, name, "weights")
    if bool((weight < 0).any()):
        row = _first(weight < 0)
        raise InputError(f"column {name!r} (weights=) must not be negative; row {row} has {weight[row]}")
    if float(weight.sum()) == 0:
        raise InputError(f"column {name!r} (weights=) is 0 in every row")
    return weight


def _labels(
    frame: nw.DataFrame[Any], roles: Roles, score: nw.Series[Any] | None, columns: list[Any],
    notes: dict[str, Any], decides: bool,
) -> tuple[str, ...]:  # fmt: skip
    """Add outcome and decision to ``columns`` and return the classes there are."""
    values: list[Any] = []
    for argument in ("y_true", "y_pred"):
        name = getattr(roles, argument)
        if name is not None:
            _no_missing(frame, name, argument)
            values += [value for value in frame[name].unique().to_list() if value not in values]
    thresholded = roles.threshold is not None or roles.selection_rate is not None
    positive = _positive(values, roles) if (decides or thresholded) and values else None
    truth = decision = None
    if roles.y_true is not None:
        label = frame[roles.y_true]
        columns.append(label.cast(nw.String).alias("__label_true__"))
        if positive is not None:
            truth = (label == positive).cast(nw.Float64)
            columns.append(truth.alias("__y_true__"))
    if roles.y_pred is not None:
        label = frame[roles.y_pred]
        columns.append(label.cast(nw.String).alias("__label_pred__"))
        if positive is not None:
            decision = (label == positive).cast(nw.Float64)
            columns.append(decision.alias("__y_pred__"))
    elif thresholded and score is not None:
        threshold = roles.threshold
        if roles.selection_rate is not None:
            found = selection_threshold(score.to_numpy(), roles.selection_rate)
            threshold, notes["selection_rate_attained"] = found.threshold, found.attained
        notes["threshold"] = threshold
        decision = (score >= threshold).cast(nw.Float64)
        columns.append(decision.alias("__y_pred__"))
    if truth is not None and decision is not None:
        columns.append((truth == decision).cast(nw.Float64).alias("__agrees__"))
    elif roles.y_true is not None and roles.y_pred is not None:
        columns.append(_agreement(frame, roles.y_true, roles.y_pred).alias("__agrees__"))
    if positive is not None:
        notes["positive"] = level_text(positive)
    return tuple(sorted({str(value) for value in values}))


def _positive(values: Sequence[Any], roles: Roles) -> Any:
    """The label that counts as positive."""
    columns = " and ".join(repr(name) for name in (roles.y_true, roles.y_pred) if name is not None)
    shown = ", ".join(repr(value) for value in sorted(values, key=str)[:5])
    if len(values) > 2:
        rate = "tpr" if roles.y_pred is not None else "auc"
        hint = "; decisions are 0 or 1: for a score use y_score= with threshold=" if _fractional(values) else ""
        raise InputError(
            f"labels in {columns} are not binary: {len(values)} values ({shown}{', ...' if len(values) > 5 else ''}); "
            f"{rate} and its like need two, so use metrics of one class such as 'tpr[{min(values, key=str)}]'{hint}"
        )
    if roles.positive is not None:
        if roles.positive not in values and len(values) == 2:
            raise InputError(f"positive={roles.positive!r} is not a label in {columns}; the labels are {shown}")
        return roles.positive
    if all(value in (0, 1) for value in values):
        return True if all(isinstance(value, bool) for value in values) else 1
    raise InputError(
        f"labels in {columns} are {shown}; say which one is positive, as positive={max(values, key=str)!r}"
    )


def _agreement(frame: nw.DataFrame[Any], y_true: str, y_pred: str) -> nw.Series[Any]:
    """Whether outcome and decision are the same label, for any number of classes."""
    true, pred = (set(frame[name].unique().to_list()) for name in (y_true, y_pred))
    if not true & pred:
        raise InputError(
            f"columns {y_true!r} (y_true=) and {y_pred!r} (y_pred=) have no label in common: "
            f"{sorted(map(str, true))[:3]} and {sorted(map(str, pred))[:3]}; give both the same labels"
        )
    return (frame[y_true] == frame[y_pred]).cast(nw.Float64)


def _fractional(values: Sequence[Any]) -> bool:
    return any(isinstance(value, float) and not value.is_integer() for value in values)


def as_json(notes: Mapping[str, Any]) -> str:
    """Settings as one JSON string, the only form in which a NetCDF attribute can hold them.

    Examples
    --------
    >>> from bayesgroups.frames import as_json
    >>> as_json({"threshold": 0.21, "by": ["sex"]})
    '{"by": ["sex"], "threshold": 0.21}'
    """
    return json.dumps(dict(notes), sort_keys=True, default=str, ensure_ascii=False)
