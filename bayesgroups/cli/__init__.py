"""The command line: a command for every public question.

Exit codes: 0 all is well; 1 a report is not usable; 2 the input cannot be used; 130 interrupted; 141 nobody reads what is
printed any more, as behind ``| head -1`` (files are written before). An error in the input is one message on stderr;
anything else is a bug and shows its traceback.
"""

from __future__ import annotations

import gc
import sys
import warnings
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from cyclopts import App, CycloptsError, Group
from rich.text import Text

from bayesgroups import __version__
from bayesgroups.cli import analysis, demo, estimate, log_comparison, logs, pages, questions, study, tally
from bayesgroups.cli.consoles import errors, pages_of_help, protect_streams, silence_output
from bayesgroups.cli.hidden_dask import hide_dask
from bayesgroups.cli.inputs import check_header
from bayesgroups.cli.interrupts import delivered_interrupts, without_interrupts
from bayesgroups.cli.invocations import invocation
from bayesgroups.cli.options import RowOptions
from bayesgroups.cli.paths import check_paths
from bayesgroups.cli.waiting import paused, sign_of_life
from bayesgroups.errors import BayesgroupsError, NotUsableError, refused_by_system

OBJECTS_PER_COLLECTION = 100_000
"""New objects between two looks for cycles in a process of the command line; modules that are loaded would cause hundreds."""
USABLE, NOT_USABLE, BAD_INPUT, INTERRUPTED, UNREAD = 0, 1, 2, 130, 141

app = App(
    name="bayesgroups",
    version=__version__,
    help_format="plaintext",  # of this page alone: the parser of Markdown takes a quarter of its time
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

Then ask: how unequal, good enough for everyone, which model? Or keep a whole analysis as a file:

    bayesgroups init analysis.toml
    bayesgroups run analysis.toml

Every question prints JSON with --json. Completion for your shell: bayesgroups --install-completion

Exit codes: 0 fine, 1 a report is not usable, 2 the input cannot be used, 141 nobody reads the output.
""",
)
PIPELINE: dict[str, tuple[Callable[..., int], ...]] = {
    "From rows to reports": (
        demo.demo, tally.tally, estimate.estimate, pages.compare, pages.show, pages.write_html,
        pages.export,
    ),
    "From evaluation logs": (
        log_comparison.compare_logs, log_comparison.write_systems_html, logs.read_logs, logs.read_inspect, logs.read_lm_eval,
    ),
    "Whole analyses": (analysis.init, analysis.run, study.study),
    "Other sources": (
        tally.tally_from_counts, tally.tally_from_estimates, tally.add_tallies, tally.two_way_clusters,
    ),
}  # fmt: skip
"""The commands that are written by hand. Their modules import nothing heavy before they run."""
ORDER = (
    "From rows to reports",
    "From evaluation logs",
    "What do priors say?",
    "Whole analyses",
    "Other sources",
    *questions.GROUPS,
)
"""Titles of all groups of commands, in the order in which one needs them."""
for title in dict.fromkeys(ORDER):
    group = Group(title, sort_key=ORDER.index(title))
    for position, command in enumerate(PIPELINE.get(title, ())):
        app.command(command, group=group, sort_key=position, help_format="markdown")
    for position, question in enumerate(questions.GROUPS.get(title, ())):
        name = question.name.replace("_", "-")
        place = f"{questions.__name__}:{question.name}"
        after = len(PIPELINE.get(title, ()))
        app.command(
            place, name=name, help=question.help, group=group, sort_key=after + position, help_format="markdown"
        )
app.register_install_completion_command()


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
    words = list(sys.argv[1:] if arguments is None else arguments)
    with delivered_interrupts() as interrupts:
        try:
            return _answered(words)
        except KeyboardInterrupt as stop:
            return _stopped(stop)
        except Exception as problem:
            if not interrupts.sent:
                raise
            return _stopped(problem)


def main() -> None:
    """Run the command of this process and leave with its exit code."""
    gc.set_threshold(OBJECTS_PER_COLLECTION)
    hide_dask()
    sys.exit(run())


def _answered(words: list[str]) -> int:
    """The exit code of a command, its errors said."""
    try:
        with warnings.catch_warnings(), invocation(words):
            warnings.showwarning = _note
            with sign_of_life(" ".join(["bayesgroups", *words[:1]]), errors()):
                code = _call(words)
            sys.stdout.flush()
    except NotUsableError as problem:
        return _complain(_spoken(problem, words), NOT_USABLE)
    except BayesgroupsError as problem:
        return _complain(_spoken(problem, words), BAD_INPUT)
    except CycloptsError as problem:
        return _complain(problem, BAD_INPUT)
    except MemoryError as problem:
        reason = f": {problem}" if str(problem) else ""
        return _complain(f"not enough memory{reason}; ask for fewer subgroups, metrics or draws at once", BAD_INPUT)
    except ImportError as problem:
        if "failed to map segment" not in str(problem):  # a library that finds no room
            raise
        return _complain("not enough memory to load a library; leave the process more", BAD_INPUT)
    except BrokenPipeError:
        silence_output()
        return UNREAD
    except OSError as problem:  # such as a name that is too long
        return _complain(str(refused_by_system(problem)), BAD_INPUT)
    return code if isinstance(code, int) else USABLE


def _stopped(stop: BaseException) -> int:
    """The exit code of a command that was interrupted; what it held is let go while nobody is told of half made objects."""
    with without_interrupts():
        chain: BaseException | None = stop
        while chain is not None:
            chain.__traceback__ = None
            chain = chain.__context__
        gc.collect()
        return _complain("interrupted; files are as they were or whole", INTERRUPTED)


def _call(words: list[str]) -> object:
    """Call the command that is typed, after a look at the files it names."""
    command, bound, _ = app.parse_args(words, console=pages_of_help(), exit_on_error=False, print_error=False)
    check_paths(command, bound)
    data, rows = bound.arguments.get("data"), bound.arguments.get("rows")
    if isinstance(data, Path) and isinstance(rows, RowOptions):
        check_header(data, rows)
    return command(*bound.args, **bound.kwargs)


def _spoken(problem: BayesgroupsError, words: list[str]) -> str:
    """The message of an error with the options of the command that was typed in place of the arguments of Python."""
    from bayesgroups.cli.messages import calls_of, options_of, spoken

    command = app.parse_commands(words)[1][-1]
    options = options_of(command)
    calls = calls_of(app)
    return spoken(str(problem), options, calls, lambda name: _options_of_call(name, calls)) if options else str(problem)


def _options_of_call(name: str, calls: Mapping[str, str]) -> Mapping[str, str]:
    """Options of the command that is typed for a function."""
    from bayesgroups.cli.messages import options_of

    return options_of(app[calls[name].partition(" ")[2]])


def _note(message: Warning | str, *_: object, **__: object) -> None:
    with paused():
        errors().print(Text(f"Note: {' '.join(str(message).split())}"))


def _complain(problem: object, code: int) -> int:
    message = " ".join(str(problem).split())
    errors().print(Text.assemble(("bayesgroups: ", "bold red"), message))
    if isinstance(problem, CycloptsError):
        errors().print(Text("Try 'bayesgroups --help', or --help after a command."))
    return code
