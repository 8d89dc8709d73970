"""Reading the file of an analysis: every key is known, every file has an ending that can be written."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, get_args

from bayesgroups.cli.analysis_files.questions import Question, kind_of, question_named, settings_of
from bayesgroups.data.outputs import check_ending
from bayesgroups.errors import InputError, near_misses
from bayesgroups.estimators.base import Estimator
from bayesgroups.estimators.checked_fits import Inference
from bayesgroups.estimators.named import estimator_class, estimator_named
from bayesgroups.forwarding import present_keywords
from bayesgroups.report.levels import LEVELS
from bayesgroups.views.tables.answer_files import ENDINGS

TOP = ("title", "seed", "created_at", "folder", "rows", "tally", "estimators", "questions", "comparison")
TALLY = (
    "file", "by", "metrics", "y_true", "y_pred", "y_score", "loss", "correct", "threshold", "selection_rate", "positive",
    "features", "cluster", "cluster_analysis", "shared_clusters", "weights", "missing", "unlabelled", "time", "pooled_variance",
    "confusion", "row_covariates", "larger_is_better", "level_names", "output",
)  # fmt: skip
FIT = ("word", "seed", "inference", "level", "output", "html", "json", "csv")
QUESTION = ("ask", "of", "output")
COMPARISON = ("of", "output")


@dataclass(frozen=True)
class Fit:
    """One estimator of an analysis, and the files that its report becomes."""

    name: str
    estimator: Estimator
    seed: int
    inference: Any
    level: float
    files: Mapping[str, Path]


@dataclass(frozen=True)
class Asked:
    """One question of an analysis."""

    name: str
    question: Question
    of: str
    settings: Mapping[str, Any]
    output: Path


@dataclass(frozen=True)
class Plan:
    """An analysis that can be run.

    Attributes
    ----------
    path : Path
        The file it was read from; other paths are relative to its folder.
    title : str
    seed : int
    created_at : str
        What reports carry for the time they were made.
    folder : Path
        Where outputs go.
    rows : str or None
        Path or pattern of the rows.
    tally : mapping
        Arguments of `bayesgroups.tally`, or ``file`` with a saved tally, and ``output``.
    fits : tuple of Fit
    questions : tuple of Asked
    comparison : Path or None
        Where the reports are laid side by side, and ``compared``, which ones.
    """

    path: Path
    title: str
    seed: int
    created_at: str | None
    folder: Path
    rows: str | None
    tally: Mapping[str, Any]
    fits: tuple[Fit, ...]
    questions: tuple[Asked, ...]
    comparison: Path | None
    compared: tuple[str, ...]

    @property
    def level_names(self) -> Mapping[str, Mapping[str, str]]:
        """Names of levels that people read, by attribute and level."""
        return _level_names(self.tally)

    @property
    def outputs(self) -> tuple[Path, ...]:
        """Every file that running it writes."""
        fits = [path for fit in self.fits for path in fit.files.values()]
        tally_file = [self.folder / self.tally["output"]] if "output" in self.tally else []
        other = [self.comparison] if self.comparison else []
        return (*tally_file, *fits, *(asked.output for asked in self.questions), *other)


def read_plan(path: str | Path) -> Plan:
    """Read and check the file of an analysis, before anything is computed.

    Parameters
    ----------
    path : str or Path
        A TOML file, as `bayesgroups.cli.analysis_files.template` shows it.

    Returns
    -------
    Plan

    Raises
    ------
    InputError
        If the file does not exist or is not TOML, a key is unknown (the message has the nearest) or missing, a value has the
        wrong type, an estimator or question does not exist, or two outputs have one name.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     place = Path(folder) / "analysis.toml"
    ...     _ = place.write_text('sed = 1')
    ...     read_plan(place)
    Traceback (most recent call last):
    bayesgroups.errors.InputError: analysis.toml: unknown key 'sed'; did you mean 'seed'?
    """
    source = Path(path)
    if not source.is_file():
        raise InputError(f"file {str(source)!r} does not exist; 'bayesgroups init' writes one to start from")
    try:
        return _plan(source, tomllib.loads(source.read_text(encoding="utf-8")))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as problem:
        raise InputError(f"{source.name} is not a TOML file: {problem}") from problem
    except InputError as problem:
        raise InputError(f"{source.name}: {problem}") from problem


def _plan(path: Path, given: Mapping[str, Any]) -> Plan:
    _known(given, TOP, "")
    tally = _table(given, "tally")
    _known(tally, TALLY, "tally.")
    rows = _text(given, "rows", "")
    if ("file" in tally) == (rows is not None):
        raise InputError("give either rows = 'rows.csv' and what is in them, or file = 'saved.tally.nc' in [tally]")
    if rows is not None:
        for name in ("by", "metrics"):
            if name not in tally:
                raise InputError(f"[tally] lacks {name!r}; name at least one, as {name} = ['...']")
    else:
        extra = next((name for name in tally if name not in ("file", "level_names", "output")), None)
        if extra:
            raise InputError(
                f"tally.{extra} says what is in rows, but tally.file is a tally and has that; leave it out"
            )
    _level_names(tally)
    seed = _seed(given, "")
    folder = path.parent / (_text(given, "folder", "") or ".")
    fits = tuple(
        _fit(name, _table(_table(given, "estimators"), name, "estimators."), folder, seed)
        for name in _table(given, "estimators")
    )
    names = [fit.name for fit in fits]
    asked = _table(given, "questions")
    questions = tuple(_question(name, _table(asked, name, "questions."), folder, names) for name in asked)
    comparison = _table(given, "comparison")
    _known(comparison, COMPARISON, "comparison.")
    compared = tuple(_names(comparison, "of", names, "comparison.")) if comparison else ()
    plan = Plan(
        path=path, title=_text(given, "title", "") or "", seed=seed, created_at=_text(given, "created_at", ""),
        folder=folder, rows=rows, tally=tally, fits=fits, questions=questions,
        comparison=_answer(comparison, folder, "comparison.") if comparison else None, compared=compared,
    )  # fmt: skip
    written = [str(output) for output in plan.outputs]
    twice = next((name for name in written if written.count(name) > 1), None)
    if twice:
        raise InputError(f"two outputs are called {Path(twice).name!r}; give each a name of its own")
    return plan


def _level_names(tally: Mapping[str, Any]) -> dict[str, dict[str, str]]:
    names = _table(tally, "level_names", "tally.")
    where = "tally.level_names."
    return {
        attribute: {level: _text(given, level, f"{where}{attribute}.") or "" for level in given}
        for attribute, given in ((name, _table(names, name, where)) for name in names)
    }


def _fit(name: str, given: Mapping[str, Any], folder: Path, seed: int) -> Fit:
    where = f"estimators.{name}."
    word = _text(given, "word", where)
    if word is None:
        raise InputError(f"[estimators.{name}] lacks 'word', as word = 'partial_pooling'")
    settings = {key: value for key, value in given.items() if key not in FIT}
    try:
        estimator = estimator_named(word, settings)
    except InputError as problem:
        close = [key for key in settings if key not in estimator_settings(word)]
        hint = near_misses(close[0], (*estimator_settings(word), *FIT)) if close else ""
        raise InputError(f"[estimators.{name}] {f'unknown key {close[0]!r}; {hint}' if hint else problem}") from problem
    inference = _text(given, "inference", where) or "auto"
    engines = get_args(Inference)
    if inference not in engines:
        raise InputError(f"{where}inference={inference!r} is not one of {', '.join(map(repr, engines))}")
    level = given.get("level", 0.95)
    if level not in LEVELS:
        raise InputError(f"{where}level = {level!r} is not in a report; choose one of {', '.join(map(str, LEVELS))}")
    files = {}
    for kind, ending in (("output", ".nc"), ("html", ".html"), ("json", ".json"), ("csv", ".csv")):
        wanted = _text(given, kind, where)
        if wanted is not None:
            if Path(wanted).suffix.lower() != ending:
                raise InputError(f"{where}{kind} = {wanted!r} must end in {ending}")
            files[kind] = folder / wanted
    return Fit(name, estimator, _seed(given, where, seed), inference, level, files)


def estimator_settings(word: str) -> list[str]:
    """Names of the settings of an estimator; none for a word that does not exist."""
    try:
        return list(estimator_class(word)().settings())
    except InputError:
        return []


def _question(name: str, given: Mapping[str, Any], folder: Path, fits: list[str]) -> Asked:
    where = f"questions.{name}."
    asked = _text(given, "ask", where)
    if asked is None:
        raise InputError(f"[questions.{name}] lacks 'ask', as ask = 'disparity'")
    question = question_named(asked)
    settings = present_keywords(question, {key: value for key, value in given.items() if key not in QUESTION})
    _known(settings, (*settings_of(question), *QUESTION), where)
    kind = kind_of(question)
    of = _text(given, "of", where) or ("tally" if kind == "tally" else "")
    sources = {"tally": ["tally"], "report": fits, "either": ["tally", *fits]}[kind]
    if of not in sources:
        raise InputError(f"{where}of = {of!r} must be one of {', '.join(map(repr, sources)) or 'the estimators'}")
    return Asked(name, question, of, settings, _answer(given, folder, where))


def _answer(given: Mapping[str, Any], folder: Path, where: str) -> Path:
    wanted = _text(given, "output", where)
    if wanted is None:
        raise InputError(f"[{where[:-1]}] lacks 'output', as output = 'answer.json'")
    check_ending(Path(wanted), "an answer", ENDINGS)
    return folder / wanted


def _known(given: Mapping[str, Any], keys: Iterable[str], where: str) -> None:
    allowed = list(keys)
    for key in given:
        if key not in allowed:
            raise InputError(f"unknown key {where + key!r}; {near_misses(key, allowed)}")


def _table(given: Mapping[str, Any], key: str, where: str = "") -> Mapping[str, Any]:
    value = given.get(key, {})
    if not isinstance(value, Mapping):
        raise InputError(f"{where}{key} must be a table, [{where}{key}]; got {value!r}")
    return value


def _text(given: Mapping[str, Any], key: str, where: str) -> str | None:
    value = given.get(key)
    if value is None or isinstance(value, str):
        return value
    raise InputError(f"{where}{key} must be a text in quotes; got {value!r}")


def _names(given: Mapping[str, Any], key: str, allowed: list[str], where: str) -> list[str]:
    names = given.get(key, allowed)
    if not isinstance(names, list) or not names:
        raise InputError(f"{where}{key} must be a list of estimators, as ['a', 'b']; got {names!r}")
    for name in names:
        if name not in allowed:
            raise InputError(f"{where}{key} names {name!r}; {near_misses(str(name), allowed)}")
    return names


def _seed(given: Mapping[str, Any], where: str, default: int = 0) -> int:
    seed = given.get("seed", default)
    if isinstance(seed, bool) or not isinstance(seed, int) or seed < 0:
        raise InputError(f"{where}seed must be a whole number, 0 or larger; got {seed!r}")
    return seed
