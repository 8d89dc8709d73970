"""``bayesgroups run | init``: a whole analysis as a file."""

from __future__ import annotations

from pathlib import Path

from rich.text import Text

from bayesgroups.cli.options import Escape, Flag, Written


def run(analysis: Path, *, outputs_anywhere: Flag = False, escape_formulas: Escape = True, json: Flag = False) -> int:
    """Run the analysis of a TOML file; running it again gives the same bytes.

    For example:

        bayesgroups init analysis.toml
        bayesgroups run analysis.toml

    The exit code is 1 when a report is not usable.

    Parameters
    ----------
    analysis
        The file.
    outputs_anywhere
        Let the file write outside of the folder in which it lies.
    json
        Print the names of the outputs and what is usable as JSON.
    """
    from bayesgroups.cli import consoles
    from bayesgroups.cli.analysis_files import run_analysis
    from bayesgroups.cli.results import print_text
    from bayesgroups.views.tables.records import as_text

    with consoles.counting("running") as progress:
        finished = run_analysis(
            analysis, progress=progress, outputs_anywhere=outputs_anywhere, escape_formulas=escape_formulas
        )
    broken = finished.not_usable
    outputs = [str(path) for path in finished.plan.outputs]
    if json:
        usable = {name: name not in broken for name in finished.reports}
        print_text(as_text({"schema": "bayesgroups.run", "schema_version": 1, "outputs": outputs, "usable": usable}))
        return 1 if broken else 0
    console = consoles.output()
    for path in outputs:
        console.print(Text(f"Wrote {path}"))
    if broken:
        console.print(Text.assemble(("NOT usable", "bold red"), f": {', '.join(broken)}; see their diagnostics."))
        return 1
    console.print(
        Text.assemble(("Usable", "bold green"), f": {', '.join(finished.reports) or 'no report was asked for'}.")
    )
    return 0


def init(analysis: Written = Path("analysis.toml"), *, replace: Flag = False) -> int:
    """Write an analysis to start from, with comments.

    For example:

        bayesgroups init analysis.toml

    Parameters
    ----------
    analysis
        The file.
    replace
        Replace a file that is there.
    """
    from bayesgroups.cli import consoles
    from bayesgroups.cli.analysis_files.template import template
    from bayesgroups.data.files import write_text
    from bayesgroups.errors import InputError

    if analysis.exists() and not replace:
        raise InputError(f"file {str(analysis)!r} is there already; choose another name, or add --replace")
    text = template().replace("run analysis.toml", f"run {analysis}", 1)
    write_text(analysis, text)
    consoles.output().print(
        Text(f"Wrote {analysis}. Name your rows and columns in it, then: bayesgroups run {analysis}")
    )
    return 0
