"""What the functions take and a shell cannot type: tallies, reports, tables and objects, each from a file or from words.

The parameters of a reader are options of every command whose function takes what it reads; a positional one is the file.
"""
# Annotations are read when a command is made, so they are no texts here.

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from bayesgroups.cli import inputs
from bayesgroups.cli.estimate import Settings, Word
from bayesgroups.cli.options import ROWS, Names, RowOptions

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd
    import xarray as xr
    from numpy.typing import NDArray

    from bayesgroups.estimators.base import Estimator
    from bayesgroups.questions.certification import Definition

GOALS = ("performance", "fairness")
CELLS = ["subgroup", "label", "predicted"]


def source(data: Path, /, rows: RowOptions = ROWS) -> "xr.Dataset | xr.DataTree":
    """A tally or a report.

    Parameters
    ----------
    data
        A report or a tally (.nc), or rows (.csv, .parquet).
    rows
        What is in the rows; leave these out for a report or tally.
    """
    return inputs.source_of(data, rows)


def directed_source(data: Path, /, rows: RowOptions = ROWS) -> "xr.Dataset | xr.DataTree":
    """A tally or a report, for a question that takes a direction itself.

    Parameters
    ----------
    data
        A report or a tally (.nc), or rows (.csv, .parquet).
    rows
        What is in the rows; of these a report or tally takes --larger-is-better alone, which replaces its directions.
    """
    return inputs.source_of(data, inputs.without_direction(rows, data))


def direction(rows: RowOptions = ROWS) -> bool | None:
    """Direction of all metrics, an option of the rows."""
    return rows.larger_is_better


def tally(data: Path, /, rows: RowOptions = ROWS) -> "xr.Dataset":
    """A tally.

    Parameters
    ----------
    data
        A tally (.nc), or rows (.csv, .parquet).
    rows
        What is in the rows; leave these out for a tally.
    """
    return inputs.tally_of(data, rows)


def auc_tally(data: Path, /, rows: RowOptions = ROWS) -> "xr.Dataset":
    """A tally with the scores that curves need.

    Parameters
    ----------
    data
        A tally with an auc (.nc), or rows (.csv, .parquet).
    rows
        What is in the rows.
    """
    return inputs.auc_tally_of(data, rows)


def curve_metrics(rows: RowOptions = ROWS) -> tuple[str, ...]:
    """Metrics of a curve, an option of the rows."""
    return rows.metric or ("sel", "tpr", "fpr")


def saved_tally(tally: Path, /) -> "xr.Dataset":
    """A tally that is there.

    Parameters
    ----------
    tally
        A tally (.nc), of the kind that this command needs.
    """
    from bayesgroups.tallies import files

    return files.open_tally(tally)


def report(report: Path, /) -> "xr.DataTree":
    """A report.

    Parameters
    ----------
    report
        A report with its draws (.nc).
    """
    return inputs.report_of(report)


def reports(*reports: Path) -> "dict[str, xr.DataTree]":
    """Reports by the names of their files.

    Parameters
    ----------
    reports
        A report per system (.nc); a system is called by the name of its file.
    """
    return {name: inputs.report_of(path) for name, path in _named(reports, "a system").items()}


def truth(assume: Path | None = None) -> "xr.DataArray | None":
    """Assumed values.

    Parameters
    ----------
    assume
        A report whose Bayesian estimates are assumed; the estimates of the tally when left out.
    """
    if assume is None:
        return None
    return inputs.report_of(assume)["estimates"].to_dataset()["estimate"].sel(approach="bayesian", drop=True)


def estimator(estimator: Word = "partial_pooling", settings: Settings = ()) -> "Estimator":
    """An estimator with its settings.

    Parameters
    ----------
    estimator
        Whose priors; the documentation has a page for each.
    settings
        A setting of the estimator, as --set tau_scale=1; repeat it for several.
    """
    import logging

    from bayesgroups.cli.estimate import parsed
    from bayesgroups.estimators.named import estimator_named

    logging.getLogger("pymc").setLevel(logging.WARNING)  # it tells which variables it draws
    return estimator_named(estimator, parsed(settings))


def definition(
    definition: str | None = None, tolerance: float = 0.05, standard: float = 0.8, level: float = 0.95
) -> "Definition":
    """A published definition of fairness.

    Parameters
    ----------
    definition
        Name of a definition; a wrong one lists them. The first when left out.
    tolerance
        Of gaps and log ratios.
    standard
        What the optimist and the pessimist hold every subgroup to.
    level
        Their one-sided confidence.
    """
    from bayesgroups.errors import InputError, near_misses
    from bayesgroups.questions.certification import definitions

    published = {each.name: each for each in definitions(tolerance, standard=standard, level=level)}
    name = next(iter(published)) if definition is None else definition
    if name not in published:
        raise InputError(f"definition {name!r} does not exist; {near_misses(name, published)}")
    return published[name]


def bin_edges(bins: int = 1000, lowest: float = 0.0, highest: float = 1.0) -> "NDArray[np.float64]":
    """Edges of bins of equal width.

    Parameters
    ----------
    bins
        Number of bins of equal width.
    lowest
        Lower edge of the first bin.
    highest
        Upper edge of the last bin.
    """
    import numpy as np

    from bayesgroups.errors import InputError

    if bins < 1:
        raise InputError(f"--bins must be 1 or larger; got {bins}")
    return np.linspace(lowest, highest, bins + 1)


def confusion(confusion: Path, /) -> "xr.DataArray":
    """Confusion counts of a table, absent cells 0.

    Parameters
    ----------
    confusion
        Confusion counts with the columns subgroup, label, predicted, count (.csv, .parquet).
    """
    from bayesgroups.errors import InputError

    frame = inputs.table_of(confusion, (*CELLS, "count"))
    twice = frame[frame.duplicated(CELLS)]
    if len(twice):
        raise InputError(
            f"file {str(confusion)!r} has two counts of the cell {twice.iloc[0][CELLS].tolist()}; add them up"
        )
    classes = sorted({str(value) for name in CELLS[1:] for value in frame[name]})
    texts = frame.assign(**{name: frame[name].astype(str) for name in CELLS})
    grid: xr.DataArray = texts.set_index(CELLS)["count"].to_xarray().fillna(0)
    return grid.reindex(label=classes, predicted=classes, fill_value=0)


def classes(data: Path, /) -> "xr.Dataset | xr.DataTree | xr.DataArray":
    """A tally or a report with metrics per class, or confusion counts.

    Parameters
    ----------
    data
        A report or tally of metrics per class such as 'tpr[cat]' (.nc), or confusion counts as a table with the columns
        subgroup, label, predicted, count (.csv, .parquet).
    """
    return inputs.source_of(data, ROWS) if data.suffix.lower() == ".nc" else confusion(data)


def class_metric(
    metric: Literal["tpr", "fnr", "tnr", "fpr", "ppv", "fdr", "npv", "for", "f1", "sel", "acc"] = "tpr",
) -> str:
    """The metric per class.

    Parameters
    ----------
    metric
        The metric per class.
    """
    return metric


def fairness_metric(fairness: str) -> str:
    """The metric that candidates are fair by.

    Parameters
    ----------
    fairness
        The metric that is aggregated, or one of several classes such as tpr of 'tpr[cat]' and 'tpr[dog]'.
    """
    return fairness


def candidates(points: Path, /) -> "pd.DataFrame | xr.Dataset":
    """Candidates of a table, or with draws of a NetCDF file.

    Parameters
    ----------
    points
        Candidates with the columns candidate, performance, fairness (.csv, .parquet), or with draws (.nc).
    """
    return _candidates(points, (), 0, 0)


def settings(points: Path, /, by: Names = (), draws: int = 0, seed: int = 0) -> "pd.DataFrame | xr.Dataset":
    """Candidates, or the settings of runs.

    Parameters
    ----------
    points
        Candidates with the columns candidate, performance, fairness, or runs with the columns of --by instead of candidate
        (.csv, .parquet); or candidates with draws (.nc).
    by
        Column that makes a setting; repeat it. Rows that agree in them are runs of one candidate.
    draws
        Bootstrap draws over the runs of a setting; 0 for averages alone.
    seed
        Source of all randomness.
    """
    return _candidates(points, by, draws, seed)


def settings_on_test_data(
    test: Path | None = None, by: Names = (), draws: int = 0, seed: int = 0
) -> "pd.DataFrame | xr.Dataset | None":
    """The same candidates on test data.

    Parameters
    ----------
    test
        The same candidates on test data; looked at after the selection.
    by, draws, seed
        As for development data.
    """
    return None if test is None else _candidates(test, by, draws, seed)


def methods(*methods: Path, by: Names = (), draws: int = 0, seed: int = 0) -> "dict[str, Any]":
    """Runs of several methods by the names of their files.

    Parameters
    ----------
    methods
        Runs of each method, with the columns of the setting, performance and fairness (.csv, .parquet).
    by
        Column that makes a setting, at least one; repeat it for several.
    draws
        Bootstrap draws over the runs of a setting; 0 for averages alone.
    seed
        Source of all randomness.
    """
    from bayesgroups.errors import InputError

    if not by:
        raise InputError("name the columns that make a setting, as --by strength")
    return {name: _candidates(path, by, draws, seed) for name, path in _named(methods, "a method").items()}


def judgements(judgements: Path, /) -> Path:
    """Judgements, which are read where they are counted.

    Parameters
    ----------
    judgements
        One row per judgement (.csv, .parquet).
    """
    return judgements


def _named(paths: tuple[Path, ...], what: str) -> Mapping[str, Path]:
    from bayesgroups.errors import InputError

    named = {path.stem: path for path in paths}
    if len(named) < len(paths):
        raise InputError(f"two of the files have one name; {what} is called by the name of its file")
    return named


def _candidates(path: Path, by: tuple[str, ...], draws: int, seed: int) -> "pd.DataFrame | xr.Dataset":
    from bayesgroups.errors import InputError, SchemaError
    from bayesgroups.questions.tradeoffs import points_from_runs

    if path.suffix.lower() != ".nc":
        if by:
            return points_from_runs(inputs.table_of(path, (*by, *GOALS)), list(by), draws=draws, seed=seed)
        return inputs.table_of(path, ("candidate", *GOALS)).set_index("candidate")
    import xarray as xr

    from bayesgroups.data.files import read_netcdf

    if by:
        raise InputError(f"--by names columns of runs, and {str(path)!r} has candidates already; leave it out")
    stored = read_netcdf(path, xr.open_dataset)
    if not set(GOALS) <= set(stored.data_vars):
        raise SchemaError(f"file {str(path)!r} has no candidates; write one with: bayesgroups points-from-reports")
    return xr.Dataset({goal: stored[goal] for goal in GOALS})
