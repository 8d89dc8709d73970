"""Output of every question: a table per metric, or the one shape of JSON, and a file where one is asked for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from rich.text import Text

from bayesgroups.cli.options import AnswerOptions

if TYPE_CHECKING:
    import xarray as xr

    from bayesgroups.views.tables.answers import Column


def check_form(wanted: AnswerOptions) -> None:
    """Refuse a file whose ending no answer has, before anything is computed."""
    if wanted.output is not None:
        from bayesgroups.data.outputs import check_ending
        from bayesgroups.views.tables.answer_files import ENDINGS

        check_ending(wanted.output, "an answer", ENDINGS)


def publish(
    answer: xr.Dataset,
    question: str,
    wanted: AnswerOptions,
    *,
    rows: str | None,
    columns: Mapping[str, Column],
    source: xr.Dataset | xr.DataTree | None = None,
    printed: xr.Dataset | None = None,
    order: Sequence[str] = (),
    shown: Mapping[str, str] | None = None,
    notes: Sequence[str] = (),
) -> int:
    """Print an answer, as tables or as JSON, and write it where asked; the exit code is 1 if its report is not usable.

    ``question`` is the name of the function, ``source`` the tally or report that was asked, ``rows`` the dim along which a table
    runs (one table per combination of the other dims), ``columns`` headings and variables, as in
    `bayesgroups.views.tables.answer_table`, ``printed`` what tables show of the answer where that is not all of it, ``order`` what
    sorts subgroups by the answer, ``shown`` labels as people read them, and ``notes`` lines below the tables.
    """
    from bayesgroups.cli.consoles import output

    usable = _usable(answer, source)
    if wanted.output is not None:
        from bayesgroups.views.tables.answer_files import save_answer

        save_answer(answer, question, wanted.output, usable=usable, escape_formulas=wanted.escape_formulas)
    if wanted.json:
        print_json(answer, question, usable=usable)
    else:
        from bayesgroups.views.tables.answers import answer_headlines

        console = output()
        seen = answer if printed is None else printed
        for sentence in answer_headlines(seen, question) if wanted.show else []:
            console.print(Text(sentence, style="bold"))
        for table in _tables(seen, rows, columns, wanted, order, shown or {}):
            console.print(table)
            console.print()
        noted = [f"Note: {answer.attrs['note']}"] if "note" in answer.attrs else []
        for line in (*notes, *_left_out(answer, shown or {}), *noted):
            console.print(Text(line))
    if wanted.output is not None and not wanted.json:
        output().print(Text(f"Wrote the answer to {wanted.output}"))
    return _verdict(usable, wanted)


def print_json(answer: xr.Dataset, question: str, *, usable: bool | None) -> None:
    """Print the one shape of JSON."""
    from bayesgroups.views.tables.records import answer_document, as_text

    print_text(as_text(answer_document(answer, question, usable=usable)))


def print_text(text: str) -> None:
    """Print text as it is, with no folding and no markup."""
    import sys

    from bayesgroups.cli.waiting import stopped

    stopped()
    sys.stdout.write(text + "\n")


def _tables(
    answer: xr.Dataset,
    rows: str | None,
    columns: Mapping[str, Column],
    wanted: AnswerOptions,
    order: Sequence[str],
    shown: Mapping[str, str],
) -> list[object]:
    """One table per combination of dims beside the one of the rows."""
    import itertools

    from bayesgroups.views.tables.answers import answer_table
    from bayesgroups.views.tables.records import remarks_of

    used = [name for column in columns.values() for name in ((column,) if isinstance(column, str) else column)]
    sorting = order if rows == "subgroup" and wanted.sort == "answer" else ()
    keys = [name.removeprefix("-") for name in sorting]
    used = [name for name in dict.fromkeys([*used, *keys]) if name in answer]
    held = {head: column for head, column in columns.items() if all(name in used for name in _names(column))}
    part = answer[used]
    remarks = remarks_of(
        answer, [column if isinstance(column, str) else column[0] for column in held.values()], part.dims
    )
    part = part if remarks is None else part.assign(remark=remarks)
    noted = None if remarks is None else "remark"
    most = max((part[name].dims for name in used), key=len, default=())
    dims = [str(dim) for dim in dict.fromkeys([*most, *part.dims]) if dim != rows]
    if not wanted.show:
        return []
    tables: list[object] = []
    for labels in itertools.product(*(part[dim].values for dim in dims)):
        at = dict(zip(dims, labels, strict=True))
        title = ", ".join(
            shown.get(str(label), str(label)) if dim == "subgroup" else str(label) for dim, label in at.items()
        )
        tables.append(
            answer_table(
                part.sel(at),
                rows,
                held,
                title=title,
                remark=noted,
                limit=wanted.show,
                order=sorting,
                shown=shown,
            )
        )
    return tables


def _left_out(answer: xr.Dataset, shown: Mapping[str, str]) -> list[str]:
    """A sentence per metric that leaves somebody out, or one for all where they leave out the same."""
    from bayesgroups.report.view import left_out_sentence, plain

    if "left_out" not in answer:
        return []
    names = answer["left_out"]
    along = [str(label) for dim in names.dims for label in answer[dim].values] if names.dims else [""]
    sentences = dict(
        zip(along, [left_out_sentence(text, shown) for text in names.values.astype(str).ravel()], strict=True)
    )
    if len(set(sentences.values())) == 1:
        return [sentence for sentence in list(sentences.values())[:1] if sentence]
    return [f"{plain(name)}: {sentence}" for name, sentence in sentences.items() if sentence]


def _names(column: Column) -> tuple[str, ...]:
    return (column,) if isinstance(column, str) else tuple(column)


def _usable(answer: xr.Dataset, source: xr.Dataset | xr.DataTree | None) -> bool | None:
    """Verdict on the report or the fits behind an answer: whether diagnostics were passed, None where there are none."""
    import xarray as xr

    if "usable" in answer and not answer["usable"].values.all():
        return False
    return bool(int(source.attrs["usable"])) if isinstance(source, xr.DataTree) else None


def _verdict(usable: bool | None, wanted: AnswerOptions) -> int:
    if usable is not False:
        return 0
    from bayesgroups.cli.consoles import errors

    if not wanted.json:
        errors().print(
            Text("NOT usable: a fit behind this answer failed its diagnostics, so it must not be relied on.")
        )
    return 1
