"""One door for every dataframe: opening it, and bringing its columns to their common names."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import narwhals.stable.v2 as nw
from narwhals.exceptions import DuplicateError

from bayesgroups.data.columns import absent_attribute, graded, missing_values, number, refuse_missing, weights
from bayesgroups.data.labels import add_labels
from bayesgroups.data.roles import Roles, check_arguments
from bayesgroups.data.texts import level_text
from bayesgroups.errors import InputError, MissingDependencyError, near_misses

Missing = Literal["error", "level", "drop"]
MISSING_LEVEL = "(missing)"
"""The level that missing attribute values form with ``missing="level"``."""


@dataclass(frozen=True)
class Rows:
    """Rows ready to be summed.

    ``frame``, a narwhals DataFrame (a LazyFrame where rows stay where they are), has the attributes as ``__by_0__`` ..., the
    expressions of `bayesgroups.data.metrics` as columns, ``__weight__``, ``__cluster__`` and ``__feature_0__`` ... where asked.
    ``declared`` holds the levels that a categorical column declares, observed or not; ``notes`` what was decided on the way
    (threshold, rows dropped ...).
    """

    frame: Any
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
        If the source is no dataframe, two columns have one name, the file does not exist, is damaged or of another kind,
        or there are no rows.
    MissingDependencyError
        If a Parquet file is given and pyarrow is not installed.

    Notes
    -----
    In CSV files only the empty field is missing: the texts ``NA`` and ``None`` stay levels as they are.

    Examples
    --------
    >>> import pandas as pd
    >>> from bayesgroups.data.frames import open_frame
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
        except DuplicateError as problem:
            twice = str(problem).partition("\n")[2].strip("- ")
            raise InputError(f"the frame has columns of one name ({twice}); rename one") from None
        frame = opened.collect() if isinstance(opened, nw.LazyFrame) else opened
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
    check_arguments(roles)
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
        columns.append(number(frame, feature, f"features[{i}]").alias(f"__feature_{i}__"))
    if roles.weights is not None:
        columns.append(weights(frame, roles.weights).alias("__weight__"))
    if roles.cluster is not None:
        refuse_missing(frame, roles.cluster, "cluster")
        columns.append(frame[roles.cluster].cast(nw.String).alias("__cluster__"))
    if roles.loss is not None:
        columns.append(number(frame, roles.loss, "loss").alias("__loss__"))
    if roles.correct is not None:
        columns.append(graded(frame, roles.correct).alias("__correct__"))
    score = None
    if roles.y_score is not None:
        score = number(frame, roles.y_score, "y_score")
        columns.append(score.alias("__y_score__"))
    classes = add_labels(frame, roles, score, columns, notes, decides)
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


def _attributes(
    frame: nw.DataFrame[Any], by: Sequence[str], missing: Missing, notes: dict[str, Any]
) -> nw.DataFrame[Any]:
    """Add the attributes as ``__by_i__`` columns, missing values treated as asked."""
    for name in by:
        absent = missing_values(frame[name])
        absences = int(absent.cast(nw.Int64).sum())
        if absences and missing == "error":
            raise absent_attribute(name, absences, len(frame))
        if absences and missing == "drop":
            notes["rows_dropped"] = notes.get("rows_dropped", 0) + absences
            frame = frame.filter(~absent)
    if len(frame) == 0:
        raise InputError("no rows are left after dropping those with a missing attribute")
    if missing != "level":
        return frame.with_columns(*[frame[name].alias(f"__by_{i}__") for i, name in enumerate(by)])
    keys = []
    for i, name in enumerate(by):
        column = frame[name]
        if bool(missing_values(column).any()):
            text = nw.new_series(
                name,
                [
                    MISSING_LEVEL if gone else level_text(value)
                    for value, gone in zip(column, missing_values(column), strict=True)
                ],
                nw.String,
                backend=frame.implementation,
            )
            column = text
        keys.append(column.alias(f"__by_{i}__"))
    return frame.with_columns(*keys)
