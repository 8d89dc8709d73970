"""The command of target populations, and readers of their sizes, margins, prevalences and benchmarks."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from bayesgroups.cli import inputs
from bayesgroups.cli.options import ROWS, Flag, Names
from bayesgroups.cli.questions.question import Question
from bayesgroups.data.file_names import is_netcdf

if TYPE_CHECKING:
    import xarray as xr

Kept = Annotated[Path, Parameter(help="A report with its draws, or a tally (.nc).")]
Sizes = Annotated[
    str | None,
    Parameter(
        help="Sizes: a table with the attributes and a column count (.csv, .parquet), a tally of the population (.nc), or the "
        "word rows for the evaluated rows themselves."
    ),
]
Margins = Annotated[
    tuple[Path, ...],
    Parameter(
        name="--margin",
        negative=(),
        show_default=False,
        help="A table with some attributes and a column count; repeat it for each margin, in place of --population.",
    ),
]
Sampled = Annotated[Flag, Parameter(help="The population is a second sample of people, whose counts have an error.")]
Prior = Annotated[float, Parameter(help="With --sampled: counts added in all, for cells that the second sample lacks.")]
Positives = Annotated[
    Path | None,
    Parameter(
        help="Share of positives among the people: a table with the attributes and a column prevalence (.csv, .parquet), for "
        "metrics of positives or negatives."
    ),
]
Totals = Annotated[
    Names,
    Parameter(
        name="--benchmark",
        help="A known mean of a metric in the population, as --benchmark acc=0.7; repeat it for several.",
    ),
]


def source(source: Kept, /) -> "xr.Dataset | xr.DataTree":
    """A saved report or tally."""
    from bayesgroups.errors import InputError

    if not is_netcdf(source):
        raise InputError(
            f"file {str(source)!r}: expected a report or a tally (.nc); make one of rows with bayesgroups estimate"
        )
    return inputs.source_of(source, ROWS)


def population(population: Sizes = None, margins: Margins = (), sampled: Sampled = False, prior: Prior = 0.0) -> Any:
    """The population of the options; an InputError where there is none, or two."""
    from bayesgroups.errors import InputError
    from bayesgroups.questions.populations import PopulationSample
    from bayesgroups.tallies.files import open_tally

    if (population is None) == (not margins):
        raise InputError(
            "name the population, as --population census.csv or --population rows, or its margins, as --margin race.csv"
        )
    given: Any = population
    if population is None:
        frames = [inputs.table_of(path, ("count",)) for path in margins]
        given = {tuple(str(name) for name in frame.columns if name != "count"): frame for frame in frames}
    elif is_netcdf(Path(population)):
        given = open_tally(Path(population))
    return PopulationSample(given, prior) if sampled else given


def served(population: str) -> Any:
    """Sizes of a population from a table or a tally, a report of targets, or the word for the rows themselves."""
    return source(Path(population)) if is_netcdf(Path(population)) else population


def prevalence(prevalence: Positives = None) -> Path | None:
    """The table of prevalences, which the function reads itself."""
    return prevalence


def benchmark(benchmarks: Totals = ()) -> Any:
    """Known means by metric."""
    from bayesgroups.cli.values import pairs

    return pairs(benchmarks, option="--benchmark", kind=float)


TARGETS = (
    Question(
        "questions.populations.poststratify.poststratify",
        "poststratify fnr.nc --population rows --by race\n"
        "poststratify acc.nc --population census.csv --by race --by sex --output target.nc --html target.html\n"
        "poststratify acc.nc --margin race.csv --margin sex_age.csv",
        {"source": source, "population": population, "prevalence": prevalence, "benchmark": benchmark},
        report=True,
    ),
)
