"""The command line: ``bayesgroups demo | tally | estimate | compare``.

Exit codes: 0 all is well; 1 a report is not usable; 2 the input cannot be used; 130 interrupted. An error in
the input is one message on stderr; anything else is a bug and shows its traceback.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

from cyclopts import App, CycloptsError
from rich.text import Text

from bayesgroups import __version__
from bayesgroups.cli import compare, demo, estimate, tally
from bayesgroups.cli.consoles import errors, protect_streams
from bayesgroups.errors import BayesgroupsError, NotUsableError

USABLE, NOT_USABLE, BAD_INPUT, INTERRUPTED = 0, 1, 2, 130

app = App(
    name="bayesgroups",
    version=__version__,
    help_format="markdown",
    result_action="return_value",
    suppress_keyboard_interrupt=False,
    help="""How well an AI system works for each group of people, the Bayesian and the frequentist way.

Start here, no data needed:

    bayesgroups demo

Then with your own rows, one row per decision, as CSV or Parquet:

    bayesgroups tally rows.csv --by race --by sex --metric fnr \\
        --y-true outcome --y-pred decision --output fnr.tally.nc
    bayesgroups estimate fnr.tally.nc --output fnr.nc --html fnr.html
    bayesgroups compare fnr.nc other.nc

Exit codes: 0 fine, 1 a report is not usable, 2 the input cannot be used.
""",
)
# In the order in which one needs them. Their modules import nothing heavy before they run.
app.command(demo.demo, sort_key=1)
app.command(tally.tally, sort_key=2)
app.command(estimate.estimate, sort_key=3)
app.command(compare.compare, sort_key=4)


def run(arguments: Sequence[str] | None = None) -> int:
    """Run one command.

    Parameters
    ----------
    arguments : sequence of str, optional
        The words after ``bayesgroups``; those of the process when left out.

    Returns
    -------
    int
        The exit code.

    Examples
    --------
    >>> run(["--version"])
    0.1.0
    0
    """
    protect_streams()
    try:
        code = app(list(sys.argv[1:] if arguments is None else arguments), exit_on_error=False, print_error=False)
    except NotUsableError as problem:
        return _complain(problem, NOT_USABLE)
    except (BayesgroupsError, CycloptsError) as problem:
        return _complain(problem, BAD_INPUT)
    except KeyboardInterrupt:
        return _complain("interrupted; files are as they were or whole", INTERRUPTED)
    return code if isinstance(code, int) else USABLE


def main() -> None:
    """Run the command of this process and leave with its exit code."""
    sys.exit(run())


def _complain(problem: object, code: int) -> int:
    message = " ".join(str(problem).split())
    errors().print(Text.assemble(("bayesgroups: ", "bold red"), message))
    if isinstance(problem, CycloptsError):
        errors().print(Text("Try 'bayesgroups --help', or --help after a command."))
    return code
