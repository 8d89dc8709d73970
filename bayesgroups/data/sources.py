"""Rows of any kind: frames in memory, lazy frames of any engine, files larger than memory, and frames that come one by one."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeGuard

import narwhals.stable.v2 as nw

from bayesgroups.data.frames import Frame, open_rows
from bayesgroups.data.row_files import CSV, PARQUET, file_kind, files_named
from bayesgroups.data.texts import level_text
from bayesgroups.errors import BayesgroupsError, EngineError, InputError, MissingDependencyError

LARGE_FILE_BYTES = 256 * 2**20
"""Size in bytes from which a single Parquet file is left to DuckDB, where that is installed."""
ENGINES = {"duckdb": "DuckDB", "polars": "polars", "dask": "Dask", "pyspark": "Spark", "pyspark[connect]": "Spark"}


@dataclass(frozen=True)
class Source:
    """Rows as a frame, lazy where the engine plans queries; the rows in memory, where they are; their files, and an owner.

    The ``owner`` is whatever must live as long as the frame.
    """

    frame: Frame
    memory: nw.DataFrame[Any] | None = None
    files: tuple[str, ...] = ()
    owner: Any = field(default=None, repr=False)

    @property
    def engine(self) -> str:
        """The name of the engine that does the work."""
        name = str(self.frame.implementation.value).lower()
        return ENGINES.get(name, name)

    @property
    def ordered(self) -> bool:
        """True if rows have numbers."""
        return self.memory is not None or self.engine == "polars"

    def is_complete(self, name: str) -> bool:
        """True if a column is known to have no missing value."""
        return self.memory is not None and self.memory[name].null_count() == 0

    def declared_levels(self, name: str) -> list[str] | None:
        """The levels that a categorical column declares, ``None`` for any other column."""
        dtype = self.frame.collect_schema().get(name)
        if not isinstance(dtype, nw.Categorical | nw.Enum):
            return None
        if self.memory is not None:
            return [level_text(level) for level in self.memory[name].cat.get_categories().to_list()]
        if isinstance(dtype, nw.Enum):
            return list(dtype.categories)
        if self.engine == "Dask":
            categories = self.frame.to_native().dtypes[name].categories
            return None if "__UNKNOWN_CATEGORIES__" in categories else [str(level) for level in categories]
        return None

    def collect(self, query: Frame) -> nw.DataFrame[Any]:
        """The small answer to a query over the frame, in memory; a failure names the file that cannot be read."""
        if isinstance(query, nw.DataFrame):
            return query
        try:
            return query.collect(engine="streaming") if self.engine == "polars" else query.collect()
        except BayesgroupsError:
            raise
        except Exception as problem:  # every engine has exceptions of its own
            raise self.failure(problem) from problem

    def failure(self, problem: Exception) -> BayesgroupsError:
        """Message for a failure of the engine: the file that cannot be read, or the engine's own report."""
        for name in self.files:
            try:
                self._try(name)
            except InputError as damaged:
                return damaged
        return EngineError(
            f"{self.engine} could not read all rows, so nothing was tallied: {type(problem).__name__}: {_short(problem)}"
        )

    def _try(self, name: str) -> None:
        """Read one file alone, every value of it."""
        try:
            relation = _relation(self.owner, [name])
            counts = ", ".join(f"count({column})" for column in map(_quoted, relation.columns))
            hashes = ", ".join(f"max(hash({column}))" for column in map(_quoted, relation.columns))
            relation.aggregate(f"{counts}, {hashes}").fetchall()
        except Exception as problem:
            if "Out of Memory" in str(problem):
                return
            raise InputError(f"file {name!r} cannot be read as rows: {_short(problem)}") from problem


def open_source(source: object) -> Source:
    """Rows opened: a frame in memory or a lazy one, or files, which are left where they are if they are large or many.

    Taken are what `open_rows` takes (Parquet files of at least `LARGE_FILE_BYTES` are left to DuckDB), the path of a directory,
    a pattern such as ``"rows/*.parquet"``, and a source that is open already.
    """
    if isinstance(source, Source):
        return source
    if isinstance(source, str | Path):
        text = str(source)
        files = files_named(source)
        if files is not None:
            return _open_files(text, files)
        large = (
            text.lower().endswith(PARQUET) and Path(text).is_file() and Path(text).stat().st_size >= LARGE_FILE_BYTES
        )
        if large and _has_duckdb():
            return _open_files(text, [text])
    frame = source if isinstance(source, nw.DataFrame | nw.LazyFrame) else open_rows(source)
    if isinstance(frame, nw.LazyFrame):
        return Source(frame)
    return Source(frame.lazy() if frame.implementation.is_polars() else frame, memory=frame)


def is_stream(source: object) -> TypeGuard[Iterator[object]]:
    """True if a source gives frames one by one: a generator, or the reader of ``pandas.read_csv(chunksize=)``."""
    return hasattr(source, "__next__")


def _open_files(text: str, files: list[str]) -> Source:
    kinds = {file_kind(name) for name in files}
    if not files:
        raise InputError(f"{text!r} names no file; expected .csv (also .csv.gz) or .parquet files there")
    if len(kinds) > 1 or None in kinds:
        wrong = next((name for name in files if file_kind(name) is None), None)
        mixture = f"{wrong!r} among them" if wrong else "Parquet and CSV files"
        raise InputError(f"{text!r} must name files of one kind, .parquet or .csv (also .csv.gz); found {mixture}")
    if not _has_duckdb():
        raise MissingDependencyError(
            "reading many or large files needs DuckDB; install it with: pip install 'bayesgroups[duckdb]'"
        )
    import duckdb

    # Spilled rows go where temporary files go, and not, as is the default, to the working directory.
    connection = duckdb.connect(config={"temp_directory": tempfile.gettempdir(), "preserve_insertion_order": False})
    connection.execute("SET enable_progress_bar = false")  # standard output belongs to the caller
    limit = _memory_limit()
    if limit is not None:
        connection.execute(f"SET memory_limit = '{limit // 2**20} MiB'")
    try:
        return Source(nw.from_native(_relation(connection, files)), files=tuple(files), owner=connection)
    except duckdb.Error as problem:
        for name in files:
            Source(nw.from_native(connection.sql("SELECT 1")), owner=connection)._try(name)
        raise InputError(f"files {text!r} cannot be read together as rows: {_short(problem)}") from problem


def _relation(connection: Any, files: list[str]) -> Any:
    literal = ["".join(f"[{letter}]" if letter in "*?[" else letter for letter in name) for name in files]
    _check_files(connection, files, literal)
    if file_kind(files[0]) == "parquet":
        return connection.read_parquet(literal)
    # As for a single file: only the empty field is missing, and dates stay the texts that they are.
    listed = ", ".join("'" + name.replace("'", "''") + "'" for name in literal)
    return connection.sql(
        f"FROM read_csv([{listed}], header = true, nullstr = '', "
        "auto_type_candidates = ['BOOLEAN', 'BIGINT', 'DOUBLE', 'VARCHAR'])"
    )


def _check_files(connection: Any, files: list[str], literal: list[str]) -> None:
    """Refuse files that DuckDB would not read exactly once each."""
    read = [name for (name,) in connection.execute("SELECT file FROM glob($1)", [literal]).fetchall()]
    if sorted(read) != sorted(files):
        wrong = next((name for name in files if read.count(name) != 1), files[0])
        raise InputError(
            f"file {wrong!r} cannot be read as rows: DuckDB takes its name for {read.count(wrong)} files; rename the file "
            r"or its folder, without '*', '?', '[' and '\'"
        )


def _memory_limit() -> int | None:
    """Bytes DuckDB may use where the process has a limit of its own: half, since Python and its libraries need some too."""
    try:
        import resource
    except ImportError:  # not on this platform
        return None
    limit, _ = resource.getrlimit(resource.RLIMIT_AS)
    return None if limit == resource.RLIM_INFINITY else limit // 2


def _has_duckdb() -> bool:
    from importlib.util import find_spec

    return find_spec("duckdb") is not None


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _short(problem: BaseException) -> str:
    """The line that names a file, as in the long reports of Spark; else the first that says something."""
    lines = [line.strip() for line in str(problem).splitlines() if line.strip()]
    named = [line for line in lines if any(kind in line for kind in (*PARQUET, *CSV))]
    return (named or lines or [type(problem).__name__])[0][:1000]
