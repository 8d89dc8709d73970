"""Running an analysis: the same file, rows and versions give the same bytes."""

from __future__ import annotations

import os
import shlex
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import xarray as xr

from bayesgroups.cli.analysis_files.plans import Fit, Plan, read_plan
from bayesgroups.cli.analysis_files.questions import ask
from bayesgroups.data.csv_files import write_csv
from bayesgroups.data.file_names import check_ending
from bayesgroups.data.files import write_text
from bayesgroups.data.keywords import checked_keywords
from bayesgroups.data.outputs import check_outputs
from bayesgroups.errors import InputError
from bayesgroups.estimators.estimate import estimate
from bayesgroups.questions.compare import compare
from bayesgroups.report.schema import save_report
from bayesgroups.tallies.files import open_tally, save_tally
from bayesgroups.tallies.labels import name_levels
from bayesgroups.views.tables.answer_files import save_answer
from bayesgroups.views.tables.frames import report_frame
from bayesgroups.views.tables.records import as_text
from bayesgroups.views.tables.report_documents import report_document

Progress = Callable[[str, int, int], None]

UNDATED = "not recorded"
"""The time that reports of an analysis carry unless it names one: with that of the clock no two runs would agree."""


@dataclass(frozen=True)
class Finished:
    """Results of a finished analysis.

    Attributes
    ----------
    plan : Plan
    tally : xr.Dataset
    reports : dict
        Reports by the names of their estimators.
    answers : dict
        Answers by the names of their questions.
    """

    plan: Plan
    tally: xr.Dataset
    reports: dict[str, xr.DataTree]
    answers: dict[str, xr.Dataset]

    @property
    def not_usable(self) -> list[str]:
        """Names of the reports that failed their diagnostics."""
        return [name for name, report in self.reports.items() if not int(report.attrs["usable"])]


@checked_keywords
def run_analysis(
    path: str | Path,
    *,
    progress: Progress | None = None,
    outputs_anywhere: bool = False,
    escape_formulas: bool = False,
) -> Finished:
    r"""Run the analysis of a TOML file and write its outputs.

    Parameters
    ----------
    path : str or Path
        The file; `bayesgroups.cli.analysis_files.template` is one, with comments. Paths in it are relative to its folder.
    progress : callable, optional
        Called with (what is done now, number of steps done, number of steps).
    outputs_anywhere : bool
        Whether the file may name outputs, or a folder of them, outside of the folder in which it lies.
    escape_formulas : bool
        As in `bayesgroups.views.tables.exports.export_report`, for every ``.csv``.

    Returns
    -------
    Finished
        The tally, the reports and the answers. Outputs are the same bytes whenever the same file is run on the same rows
        with the same versions of the packages: the seed is in the file, and reports carry the time that it names
        (``created_at``), or else that of ``SOURCE_DATE_EPOCH``, or none.

    Raises
    ------
    InputError
        If the file, the rows or a setting cannot be used; the message names the key.
    SchemaError
        If a saved tally is none.

    Examples
    --------
    >>> import tempfile
    >>> text = '''
    ... seed = 1
    ... rows = "rows.csv"
    ... [tally]
    ... by = ["sex"]
    ... metrics = ["sel"]
    ... y_pred = "hired"
    ... [estimators.pooled]
    ... word = "partial_pooling"
    ... [questions.gap]
    ... ask = "disparity"
    ... of = "pooled"
    ... measures = ["max_min_difference"]
    ... output = "gap.json"
    ... '''
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = (Path(folder) / "rows.csv").write_text("sex,hired\n" + "f,1\nf,0\nm,1\nm,0\nx,1\n" * 9)
    ...     _ = (Path(folder) / "analysis.toml").write_text(text)
    ...     finished = run_analysis(Path(folder) / "analysis.toml")
    ...     sorted(place.name for place in Path(folder).glob("*.json"))
    ['gap.json']
    >>> finished.answers["gap"].sizes["measure"], finished.not_usable
    (1, [])
    """
    plan = read_plan(path)
    if not outputs_anywhere:
        _check_folder(plan)
    _make_folders(plan)
    _check_outputs(plan)
    steps = 1 + len(plan.fits) + len(plan.questions)
    tell = progress or (lambda name, done, total: None)
    tell("tally", 0, steps)
    tally = _tally(plan)
    if "output" in plan.tally:
        save_tally(tally, plan.folder / plan.tally["output"])
    reports: dict[str, xr.DataTree] = {}
    for i, fit in enumerate(plan.fits):
        tell(fit.name, 1 + i, steps)
        report = stamp(estimate(tally, fit.estimator, seed=fit.seed, inference=fit.inference), _time(plan))
        report.attrs["command"] = shlex.join(["bayesgroups", "run", plan.path.name])
        _write(report, fit, escape_formulas)
        reports[fit.name] = report
    answers: dict[str, xr.Dataset] = {}
    for i, asked in enumerate(plan.questions):
        tell(asked.name, 1 + len(plan.fits) + i, steps)
        source = tally if asked.of == "tally" else reports[asked.of]
        try:
            answer = ask(asked.question, source, asked.settings, seed=plan.seed)
        except InputError as problem:
            raise InputError(f"{plan.path.name}: [questions.{asked.name}] {problem}") from problem
        usable = None if asked.of == "tally" else bool(int(reports[asked.of].attrs["usable"]))
        save_answer(answer, asked.question.__name__, asked.output, usable=usable, escape_formulas=escape_formulas)
        answers[asked.name] = answer
    finished = Finished(plan, tally, reports, answers)
    if plan.comparison is not None:
        table = compare({name: reports[name] for name in plan.compared})
        usable = not finished.not_usable
        save_answer(table, "compare", plan.comparison, usable=usable, escape_formulas=escape_formulas)
    return finished


def stamp(report: xr.DataTree, made: str) -> xr.DataTree:
    """The same report with another time of its making, in every group that carries one."""
    stamped = report.copy()
    for node in stamped.subtree:
        if "created_at" in node.attrs:
            node.attrs = {**node.attrs, "created_at": made}
    return stamped


def _time(plan: Plan) -> str:
    if plan.created_at is not None:
        return plan.created_at
    from bayesgroups.report.schema import made_at

    return made_at() if os.environ.get("SOURCE_DATE_EPOCH") else UNDATED


def _check_folder(plan: Plan) -> None:
    """Refuse outputs outside of the folder of the analysis, links followed: it may come from somebody else."""
    home = plan.path.parent.resolve()
    for output in plan.outputs:
        if not output.resolve().is_relative_to(home):
            raise InputError(
                f"{plan.path.name}: output {str(output)!r} lies outside of the folder of the analysis, {str(home)!r}; name a "
                "place in it, or allow all places with outputs_anywhere=True"
            )


def _make_folders(plan: Plan) -> None:
    try:
        for output in plan.outputs:
            output.parent.mkdir(parents=True, exist_ok=True)
    except OSError as problem:
        raise InputError(f"folder {str(plan.folder)!r} cannot be made: {problem.strerror}") from problem


def _check_outputs(plan: Plan) -> None:
    """Refuse an output that cannot be written, would replace the analysis, its rows or its tally, or has another format's name."""
    sources = [plan.rows] if plan.rows is not None else [str(plan.tally["file"])]
    try:
        check_outputs(plan.outputs, [plan.path, *(plan.path.parent / source for source in sources)])
        if "output" in plan.tally:
            check_ending(plan.folder / plan.tally["output"], "a tally", "NetCDF4")
    except InputError as problem:
        raise InputError(f"{plan.path.name}: {problem}") from problem


def _tally(plan: Plan) -> xr.Dataset:
    from bayesgroups.tallies import tally

    given: dict[str, Any] = {name: value for name, value in plan.tally.items() if name not in ("level_names", "output")}
    try:
        result: xr.Dataset = (
            open_tally(plan.path.parent / str(given["file"]))
            if plan.rows is None
            else tally(plan.path.parent / plan.rows, **given)
        )
        result = name_levels(result, plan.level_names)
    except InputError as problem:
        raise InputError(f"{plan.path.name}: [tally] {problem}") from problem
    return result


def _write(report: xr.DataTree, fit: Fit, escape_formulas: bool) -> None:
    if "output" in fit.files:
        save_report(report, fit.files["output"])
    if "html" in fit.files:
        from bayesgroups.views.html import write_html

        write_html(report, fit.files["html"], level=fit.level)
    if "json" in fit.files:
        text = as_text(report_document(report)) + "\n"
        write_text(fit.files["json"], text)
    if "csv" in fit.files:
        table = report_frame(report, level=fit.level)
        write_csv(fit.files["csv"], table, escape_formulas=escape_formulas)
