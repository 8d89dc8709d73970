"""From evaluation logs to a verdict: ``bayesgroups compare-logs``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Literal

from rich.text import Text

from bayesgroups.cli.log_options import LOGS, LogOptions
from bayesgroups.cli.options import ANSWER, AnswerOptions, Larger, Names, Output, Page

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr


def compare_logs(
    *logs: Path,
    by: Names = (),
    options: LogOptions = LOGS,
    baseline: str | None = None,
    cluster: str | None = None,
    larger_is_better: Larger = None,
    missing: Literal["error", "level", "drop"] = "error",
    level: float = 0.95,
    seed: int = 0,
    html: Page | None = None,
    answer: AnswerOptions = ANSWER,
) -> int:
    """Say which system is better and for whom, from evaluation logs of all of them.

    For example:

        bayesgroups compare-logs new.eval old.eval --by metadata_language --score match --unscored wrong --html page.html
        bayesgroups compare-logs logs/ --by doc_language --score acc --task xcopa --baseline lab__old

    Systems are paired by items, and repetitions of an item are averaged. The exit code is 1 when a check of the computation failed.

    Parameters
    ----------
    logs
        Logs of Inspect (.eval, .json), samples of lm-evaluation-harness (.jsonl), or folders of them.
    by
        Column whose levels form subgroups, such as metadata_language or doc_language; repeat it for intersections.
    baseline
        The system that all others are compared with; all pairs when left out.
    cluster
        Column of clusters of items that are not independent (documents, templates).
    larger_is_better
        Direction of scores other than 1 (right) and 0; needed for these.
    missing
        What to do with items whose attribute is missing.
    level
        Probability of the intervals.
    seed
        Source of all randomness.
    html
        Write the page with the order of all systems and every pair to this file.
    """
    from bayesgroups.cli import results
    from bayesgroups.cli.questions.systems import SYSTEMS
    from bayesgroups.questions.systems import compare_systems, leaderboard
    from bayesgroups.tallies.labels import shown_labels

    results.check_form(answer)
    rows = options.rows(logs)
    tally = _paired(rows, by, baseline, cluster, larger_is_better, missing)
    if html is not None:
        _write(tally, html, level, seed)
    tables = {question.name: question.table for question in SYSTEMS}
    board = leaderboard(tally, level=level, seed=seed).sel(subgroup=["(all)"])
    differences = compare_systems(tally, level=level, correction="holm_all", overall=True, seed=seed)
    asked = {"leaderboard": board, "compare_systems": differences}
    for name, told in asked.items():
        table = tables[name]
        assert table is not None, "both questions have tables"
        if name == "compare_systems" or not answer.json:
            results.publish(
                told, name, answer if name == "compare_systems" else AnswerOptions(show=answer.show, sort=answer.sort),
                rows=table.along, columns=table.columns, shown=shown_labels(tally), order=table.order,
            )  # fmt: skip
    if html is not None and not answer.json:
        from bayesgroups.cli.consoles import output

        output().print(Text(f"Wrote the page to {html}"))
    return 0 if differences["usable"].values.all() else 1


def write_systems_html(
    tally: Path, *, output: Output, level: float = 0.95, correction: Literal["holm_all", "holm", "none"] = "holm_all",
    interval: Literal["newcombe", "tango", "wald"] = "newcombe", seed: int = 0,
) -> int:  # fmt: skip
    """Write which of several systems is better, and for whom, as one page that needs nothing else.

    For example:

        bayesgroups write-systems-html pairs.tally.nc --output systems.html

    Parameters
    ----------
    tally
        A tally of systems, as written by 'bayesgroups paired-tally' (.nc).
    output
        The page.
    level
        Probability of the intervals.
    correction
        What limits and p-values hold for together: all pairs and subgroups, the pairs of each subgroup, or none.
    interval
        Frequentist limits of right and wrong answers.
    seed
        Source of all randomness.
    """
    from bayesgroups.cli import consoles
    from bayesgroups.cli.invocations import command_line
    from bayesgroups.tallies.files import open_tally
    from bayesgroups.views.html import write_systems_html as write

    told = open_tally(tally).assign_attrs(command=command_line())
    page = write(told, output, level=level, correction=correction, interval=interval, seed=seed)
    consoles.output().print(Text(f"Wrote the page to {page}"))
    return 0


def _paired(
    rows: pd.DataFrame, by: Names, baseline: str | None, cluster: str | None, larger_is_better: bool | None,
    missing: Literal["error", "level", "drop"],
) -> xr.Dataset:  # fmt: skip
    """The tally of systems of the rows of logs: of right and wrong answers, or of means of other scores."""
    from bayesgroups.errors import InputError
    from bayesgroups.tallies.paired_rows import paired_tally

    if not by:
        columns = [str(name) for name in rows.columns if str(name).startswith(("metadata_", "doc_"))]
        raise InputError(f"name the column of the subgroups, as --by {columns[0]}; the logs have {', '.join(columns)}"
                         if columns else "the logs have no metadata to form subgroups by; add it to the samples")  # fmt: skip
    graded = bool(rows["score"].isin([0.0, 1.0]).all())
    if not graded and larger_is_better is None:
        raise InputError(
            "scores other than 1 and 0 do not say which is better; give --larger-is-better or --smaller-is-better"
        )
    return paired_tally(
        rows, list(by), list(dict.fromkeys(rows["system"])), system="system", item="item",
        epoch="epoch" if len(set(rows["epoch"])) > 1 else None, baseline=baseline, cluster=cluster, missing=missing,
        correct="score" if graded else None, loss=None if graded else "score",
        larger_is_better=None if graded else larger_is_better,
    )  # fmt: skip


def _write(tally: xr.Dataset, html: Path, level: float, seed: int) -> None:
    from bayesgroups.cli.invocations import command_line
    from bayesgroups.views.html import write_systems_html

    write_systems_html(tally.assign_attrs(command=command_line()), html, level=level, seed=seed)
