"""Readers of arguments that a shell cannot type: tallies, reports, tables and objects, each from a file or from text.

The parameters of a reader are options of every command whose function takes what it reads; a positional one is the file.
"""
# Annotations are read when a command is made, so they are no texts here.

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import Parameter

from bayesgroups.cli import inputs
from bayesgroups.cli.estimate import Settings
from bayesgroups.cli.estimators import Word, chosen
from bayesgroups.cli.options import ROWS, Names, RowOptions
from bayesgroups.data.file_names import is_netcdf

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd
    import xarray as xr
    from numpy.typing import NDArray

    from bayesgroups.estimators.base import Estimator
    from bayesgroups.questions.certification import Definition

GOALS = ("performance", "fairness")
CELLS = ["subgroup", "label", "predicted"]
Data = Annotated[Path, Parameter(help="A report or a tally (.nc), or rows (.csv, .parquet).")]
TallyOrRows = Annotated[Path, Parameter(help="A tally (.nc), or rows (.csv, .parquet).")]
Scores = Annotated[Path, Parameter(help="A tally with an auc (.nc), or rows (.csv, .parquet).")]
SavedTally = Annotated[Path, Parameter(help="A tally of the kind that this command needs (.nc).")]
CalibrationTally = Annotated[
    Path | None, Parameter(help="A tally with the cells of other rows, all with outcomes (.nc), for rogan_gladen.")
]
Report = Annotated[Path, Parameter(help="A report with its draws (.nc).")]
System = Annotated[Path, Parameter(help="A report per system (.nc); a system is called by the name of its file.")]
Method = Annotated[
    Path,
    Parameter(help="Runs of each method, with the columns of the setting, performance, fairness (.csv, .parquet)."),
]
Assumed = Annotated[
    Path | None,
    Parameter(help="A report whose Bayesian estimates are assumed; the estimates of the tally when left out."),
]
Counts = Annotated[
    Path, Parameter(help="Confusion counts with the columns subgroup, label, predicted, count (.csv, .parquet).")
]
Classes = Annotated[
    Path,
    Parameter(
        help="A report or tally of metrics per class such as 'tpr[cat]' (.nc), or confusion counts as a table with the "
        "columns subgroup, label, predicted, count (.csv, .parquet)."
    ),
]
Fairness = Annotated[
    str,
    Parameter(
        help="The metric that is aggregated, or one of several classes such as tpr of 'tpr[cat]' and 'tpr[dog]'."
    ),
]
Candidates = Annotated[
    Path,
    Parameter(
        help="Candidates with the columns candidate, performance, fairness (.csv, .parquet), or with draws (.nc)."
    ),
]
TestData = Annotated[
    Path | None, Parameter(help="The same candidates on test data; looked at after the selection only.")
]
By = Annotated[
    Names, Parameter(help="Column that makes a setting; repeat it. Rows that agree in them are runs of one candidate.")
]
RunDraws = Annotated[int, Parameter(help="Bootstrap draws over the runs of a setting; 0 for averages alone.")]
Seed = Annotated[int, Parameter(help="Source of all randomness.")]
Judgements = Annotated[Path, Parameter(help="One row per judgement (.csv, .parquet).")]
Answers = Annotated[
    Path,
    Parameter(help="Answers: a row per item and a column per system, or a row per item and system (.csv, .parquet)."),
]
SystemNames = Annotated[
    Names,
    Parameter(
        name="--compare",
        help="A system to compare, as name=column or the name alone. Repeat it for all of them.",
        negative=(),
    ),
]
EstimatorName = Annotated[Word, Parameter(help="Whose priors: a word, or module:Class of your own.")]
EstimatorSettings = Annotated[
    Settings, Parameter(help="A setting of the estimator, as --set tau_scale=1; repeat it for several.")
]
DefinitionName = Annotated[
    str | None, Parameter(help="Name of a definition; a wrong one lists them. The first when left out.")
]
Tolerance = Annotated[float, Parameter(help="Tolerance of gaps and log ratios.")]
Standard = Annotated[float, Parameter(help="What the optimist and the pessimist hold every subgroup to.")]
Level = Annotated[float, Parameter(help="Their one-sided confidence.")]
Kind = Annotated[
    Literal["confidence", "credible"],
    Parameter(help="Confidence sets by a bootstrap, or credible sets from a posterior."),
]
Bins = Annotated[int, Parameter(help="Number of bins of equal width.")]
Lowest = Annotated[float, Parameter(help="Lower edge of the first bin.")]
Highest = Annotated[float, Parameter(help="Upper edge of the last bin.")]


def source(data: Data, /, rows: RowOptions = ROWS) -> "xr.Dataset | xr.DataTree":
    """A tally or a report."""
    return inputs.source_of(data, rows)


def directed_source(data: Data, /, rows: RowOptions = ROWS) -> "xr.Dataset | xr.DataTree":
    """A tally or a report, for a question that takes the direction itself: it is no fact of the rows then."""
    return inputs.source_of(data, inputs.without_direction(rows, data))


def direction(rows: RowOptions = ROWS) -> bool | None:
    """Direction of all metrics, an option of the rows that a report or a tally takes too."""
    return rows.larger_is_better


def tally(data: TallyOrRows, /, rows: RowOptions = ROWS) -> "xr.Dataset":
    """A tally."""
    return inputs.tally_of(data, rows)


def auc_tally(data: Scores, /, rows: RowOptions = ROWS) -> "xr.Dataset":
    """A tally with the scores that curves need."""
    return inputs.auc_tally_of(data, rows)


def curve_metrics(rows: RowOptions = ROWS) -> tuple[str, ...]:
    """Metrics of a curve, an option of the rows."""
    return rows.metric or ("sel", "tpr", "fpr")


def saved_tally(tally: SavedTally, /) -> "xr.Dataset":
    """A tally that was saved."""
    return _saved(tally, "tally")


def tally_of_pairs(tally: SavedTally, /) -> "xr.Dataset":
    """A tally of systems on the same items."""
    return _saved(tally, "paired-tally")


def tally_of_disagreement(tally: SavedTally, /) -> "xr.Dataset":
    """A tally of judgements that others disagree with."""
    return _saved(tally, "disagreement-tally")


def calibration(calibration: CalibrationTally = None) -> "xr.Dataset | None":
    """A tally of other rows with outcomes."""
    return None if calibration is None else _saved(calibration, "tally")


def report(report: Report, /) -> "xr.DataTree":
    """A report."""
    return inputs.report_of(report)


def reports(*reports: System) -> "dict[str, xr.DataTree]":
    """Reports by the names of their files."""
    return {name: inputs.report_of(path) for name, path in _named(reports, "a system").items()}


def truth(assume: Assumed = None) -> "xr.DataArray | None":
    """Assumed values."""
    if assume is None:
        return None
    return inputs.report_of(assume)["estimates"].to_dataset()["estimate"].sel(approach="bayesian", drop=True)


def estimator(estimator: EstimatorName = "partial_pooling", settings: EstimatorSettings = ()) -> "Estimator":
    """An estimator with its settings."""
    import logging

    logging.getLogger("pymc").setLevel(logging.WARNING)  # it tells which variables it draws
    return chosen(estimator, settings)


def definition(
    definition: DefinitionName = None, tolerance: Tolerance = 0.05, standard: Standard = 0.8, level: Level = 0.95
) -> "Definition":
    """A published definition of fairness."""
    from bayesgroups.errors import InputError, near_misses
    from bayesgroups.questions.certification import definitions

    published = {each.name: each for each in definitions(tolerance, standard=standard, level=level)}
    name = next(iter(published)) if definition is None else definition
    if name not in published:
        raise InputError(f"definition {name!r} does not exist; {near_misses(name, published)}")
    return published[name]


def bin_edges(bins: Bins = 1000, lowest: Lowest = 0.0, highest: Highest = 1.0) -> "NDArray[np.float64]":
    """Edges of bins of equal width."""
    import numpy as np

    from bayesgroups.errors import InputError

    if bins < 1:
        raise InputError(f"--bins must be 1 or larger; got {bins}")
    return np.linspace(lowest, highest, bins + 1)


def confusion(confusion: Counts, /) -> "xr.DataArray":
    """Confusion counts of a table, absent cells 0."""
    from bayesgroups.errors import InputError

    frame = inputs.table_of(confusion, (*CELLS, "count"))
    twice = frame[frame.duplicated(CELLS)]
    if len(twice):
        cell = twice.iloc[0][CELLS].tolist()
        raise InputError(f"file {str(confusion)!r} has two counts of the cell {cell}; add them up")
    labels = sorted({str(value) for name in CELLS[1:] for value in frame[name]})
    texts = frame.assign(**{name: frame[name].astype(str) for name in CELLS})
    grid: xr.DataArray = texts.set_index(CELLS)["count"].to_xarray().fillna(0)
    return grid.reindex(label=labels, predicted=labels).fillna(0)


def classes(data: Classes, /) -> "xr.Dataset | xr.DataTree | xr.DataArray":
    """A tally or a report with metrics per class, or confusion counts."""
    return inputs.source_of(data, ROWS) if is_netcdf(data) else confusion(data)


def fairness_metric(fairness: Fairness) -> str:
    """The metric that makes candidates fair."""
    return fairness


def candidates(points: Candidates, /) -> "pd.DataFrame | xr.Dataset":
    """Candidates of a table, or with draws of a NetCDF file."""
    return _candidates(points, (), 0, 0)


def settings(points: Candidates, /, by: By = (), draws: RunDraws = 0, seed: Seed = 0) -> "pd.DataFrame | xr.Dataset":
    """Candidates, or settings of which there are runs."""
    return _candidates(points, by, draws, seed)


def settings_on_test_data(
    test: TestData = None, by: By = (), draws: RunDraws = 0, seed: Seed = 0
) -> "pd.DataFrame | xr.Dataset | None":
    """The same candidates on test data."""
    return None if test is None else _candidates(test, by, draws, seed)


def methods(*methods: Method, by: By = (), draws: RunDraws = 0, seed: Seed = 0) -> "dict[str, Any]":
    """Runs of several methods by the names of their files."""
    from bayesgroups.errors import InputError

    if not by:
        raise InputError("name the columns that make a setting, as --by strength")
    return {name: _candidates(path, by, draws, seed) for name, path in _named(methods, "a method").items()}


def judgements(judgements: Judgements, /) -> Path:
    """Judgements, which are read where they are counted."""
    return judgements


def answers(answers: Answers, /) -> Path:
    """Answers of systems, which are read where they are counted."""
    return answers


def systems(systems: SystemNames = ()) -> "dict[str, str] | tuple[str, ...] | None":
    """Systems by their columns, or their names alone."""
    pairs = [text.partition("=") for text in systems]
    if pairs and all(sign for _, sign, _ in pairs):
        return {name: column for name, _, column in pairs}
    return systems or None


def kind_of_sets(kind: Kind = "confidence") -> str:
    """Confidence or credible sets."""
    return kind


def _saved(path: Path, maker: str) -> "xr.Dataset":
    """A tally of a file; an InputError for a file of another kind says which command makes it."""
    from bayesgroups.tallies import files

    inputs.check_saved(path, "tally", maker)
    return files.open_tally(path)


def _named(paths: tuple[Path, ...], what: str) -> dict[str, Path]:
    from bayesgroups.errors import InputError

    named = {path.stem: path for path in paths}
    if len(named) < len(paths):
        raise InputError(f"two of the files have one name; {what} is called by the name of its file")
    return named


def _candidates(path: Path, by: tuple[str, ...], draws: int, seed: int) -> "pd.DataFrame | xr.Dataset":
    from bayesgroups.errors import InputError, SchemaError
    from bayesgroups.questions.tradeoffs import points_from_runs

    if not is_netcdf(path):
        if by:
            return points_from_runs(inputs.table_of(path, (*by, *GOALS)), list(by), draws=draws, seed=seed)
        return inputs.table_of(path, ("candidate", *GOALS)).set_index("candidate")
    import xarray as xr

    from bayesgroups.data.netcdf import read_netcdf

    if by:
        raise InputError(f"--by names columns of runs, and {str(path)!r} has candidates already; leave it out")
    stored = read_netcdf(path, xr.open_dataset)
    if not set(GOALS) <= set(stored.data_vars):
        raise SchemaError(f"file {str(path)!r} has no candidates; write one with: bayesgroups points-from-reports")
    return xr.Dataset({goal: stored[goal] for goal in GOALS})
