"""The declaration of a command that asks a public function: what the function's own signature cannot say."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from bayesgroups.cli.signatures import opening_of

if TYPE_CHECKING:
    import xarray as xr

    from bayesgroups.views.tables.answers import Column


def as_it_is(value: Any) -> Any:
    """The value itself."""
    return value


def no_notes(answer: xr.Dataset) -> list[str]:
    """No lines below the tables."""
    return []


def call(function: Callable[..., Any], arguments: Mapping[str, Any]) -> Any:
    """The answer of a function that takes the arguments as they are."""
    return function(**arguments)


@dataclass(frozen=True)
class Table:
    """The tables of an answer.

    ``along`` has dims, separated by blanks: a table runs along the first that the answer has, and there is one per combination of
    others. ``columns`` are headings and variables, as in `bayesgroups.views.tables.answer_table`, ``order`` variables that sort
    subgroups by the answer, see there. ``prepare`` makes a Dataset of the function's answer, ``printed`` what tables show of it,
    ``notes`` lines below the tables, ``question`` is the name of the question of an answer, where one command has several.
    """

    along: str
    columns: Mapping[str, Column]
    order: tuple[str, ...] = ()
    prepare: Callable[[Any], xr.Dataset] = as_it_is
    printed: Callable[[xr.Dataset], xr.Dataset] = as_it_is
    notes: Callable[[xr.Dataset], list[str]] = no_notes
    question: Callable[[xr.Dataset], str] | None = None


@dataclass(frozen=True)
class Question:
    """A command that asks a public function.

    ``function`` is its module inside the package and name, as ``"questions.priors.predictive.prior_predictive"``, ``example`` lines
    that one can type, without ``bayesgroups``. ``reads`` has a reader for each parameter that a shell cannot give, or that an
    option of the rows gives; a reader of something that is no parameter hands it to ``ask``. ``table`` is left out where the answer
    is a tally, which is written, or a ``report``. ``spelled`` has options with another name than their parameter, because another
    option has that name; ``steps`` functions on the way to the arguments, whose options are options of the command. ``ask`` takes
    the function, its arguments by name and the steps, with their options filled in; ``command`` is the name in Python, where it is
    not that of the function.
    """

    function: str
    example: str
    reads: Mapping[str, Callable[..., Any]]
    table: Table | None = None
    spelled: Mapping[str, str] = field(default_factory=dict)
    steps: tuple[str, ...] = ()
    ask: Callable[..., Any] = call
    command: str = ""
    report: bool = False

    @property
    def name(self) -> str:
        """Name of the command in Python."""
        return self.command or self.function.rpartition(".")[2]

    @property
    def help(self) -> str:
        """The opening of the function's docstring, and the example."""
        lines = "\n".join(f"    bayesgroups {line}" for line in self.example.splitlines())
        return f"{opening_of(self.function)}\n\nFor example:\n\n{lines}"
