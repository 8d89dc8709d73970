"""Model selection: ``bayesgroups pareto-frontier | distance-to-optimum | auc-pfc | select-model | compare-auc-pfc ...``.

Candidates are a table with the columns candidate, performance and fairness, larger the better; or, where a setting was run
with several seeds, runs with the columns that make a setting (--by), which are averaged and drawn again by a bootstrap; or a
NetCDF file with their draws, as `bayesgroups.cli.candidates` writes it from reports.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import Parameter

from bayesgroups.cli.options import ANSWER, AnswerOptions, Names

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr

Reading = Literal["frontier", "polar_area", "polar_dto", "steps"]
Pair = Annotated[tuple[float, float], Parameter(negative=())]


@Parameter(name="*", group="Candidates")
@dataclass(frozen=True, kw_only=True)
class Runs:
    """Reading of the candidates and their runs.

    Parameters
    ----------
    by
        Column that makes a setting; repeat it. Rows that agree in them are runs of one candidate.
    draws
        Bootstrap draws over the runs of a setting; 0 for averages alone.
    seed
        Source of all randomness.
    """

    by: Names = ()
    draws: int = 0
    seed: int = 0


RUNS = Runs()


def pareto_frontier(points: Path, *, runs: Runs = RUNS, answer: AnswerOptions = ANSWER) -> int:
    """Keep the candidates that no other beats.

    For example:

        bayesgroups pareto-frontier models.csv
        bayesgroups pareto-frontier runs.csv --by method --by strength --draws 1000

    Parameters
    ----------
    points
        Candidates with the columns candidate, performance, fairness (.csv, .parquet).
    runs
        How candidates are read.
    answer
        How the answer is shown.
    """
    import xarray as xr

    from bayesgroups.cli.results import publish
    from bayesgroups.questions.tradeoffs import pareto_frontier as ask

    kept = ask(points_of(points, runs))
    found = kept if isinstance(kept, xr.Dataset) else _dataset(kept)
    if "draw" in found.dims:
        samples = [dim for dim in ("chain", "draw") if dim in found.dims]
        means = {goal: found[goal].mean(samples) for goal in ("performance", "fairness")}
        found = found.assign(means)
    shown = {"performance": "performance", "fairness": "fairness", "P(efficient)": "probability_efficient"}
    return publish(found, "pareto_frontier", answer, rows="candidate", columns=shown)


def distance_to_optimum(
    points: Path,
    *,
    utopia: Pair | None = None,
    weights: Pair = (1.0, 1.0),
    normalise: bool = False,
    answer: AnswerOptions = ANSWER,
) -> int:
    """Measure how far each candidate is from the ideal point.

    For example:

        bayesgroups distance-to-optimum models.csv --utopia 1 1

    Parameters
    ----------
    points
        Candidates with the columns candidate, performance, fairness (.csv, .parquet).
    utopia
        Performance and fairness of the ideal point; 1 1 when left out.
    weights
        What a unit of each goal counts.
    normalise
        Divide each goal by its ideal.
    answer
        How the answer is shown.
    """
    from bayesgroups.cli.results import publish
    from bayesgroups.questions.tradeoffs import distance_to_optimum as ask

    distance = ask(points_of(points, RUNS), utopia=utopia, weights=weights, normalise=normalise)
    found = distance.rename("distance").to_dataset().assign_attrs(distance.attrs)
    return publish(found, "distance_to_optimum", answer, rows="candidate", columns={"distance": "distance"})


def auc_pfc(
    points: Path,
    *,
    anchor: Pair,
    reading: Reading = "frontier",
    utopia: Pair | None = None,
    normalise: bool = False,
    answer: AnswerOptions = ANSWER,
) -> int:
    """Take the area under the performance-fairness curve of a method.

    For example:

        bayesgroups auc-pfc models.csv --anchor 0.3 1

    Parameters
    ----------
    points
        Candidates of one method, with the columns candidate, performance, fairness (.csv, .parquet).
    anchor
        Performance and fairness of a trivial model.
    reading
        What is integrated.
    utopia
        The ideal point of the polar readings.
    normalise
        Divide both goals by their ideal.
    answer
        How the answer is shown.
    """
    from bayesgroups.cli.results import publish
    from bayesgroups.questions.tradeoffs import auc_pfc as ask

    area = ask(points_of(points, RUNS), anchor=anchor, reading=reading, utopia=utopia, normalise=normalise)
    found = area.rename("area").to_dataset().assign_attrs(area.attrs).reset_coords()
    shown = {"area": "area", "share": "share", "efficient": "frontier_size"}
    return publish(found, "auc_pfc", answer, rows=None, columns=shown)


def select_model(
    points: Path,
    *,
    criterion: str = "DTO",
    test: Path | None = None,
    vanilla: str | None = None,
    threshold: float | None = None,
    utopia: Pair = (1.0, 1.0),
    fallback: bool = False,
    runs: Runs = RUNS,
    answer: AnswerOptions = ANSWER,
) -> int:
    """Select one candidate on development data.

    For example:

        bayesgroups select-model dev.csv --criterion DTO --test test.csv
        bayesgroups select-model dev.csv --criterion "P@F+5%" --vanilla plain

    Parameters
    ----------
    points
        Candidates on development data, with the columns candidate, performance, fairness (.csv, .parquet).
    criterion
        DTO, P, F, P@F+5% or F@P-10%, with any percentage.
    test
        The same candidates on test data; looked at after the selection.
    vanilla
        The plain model, for criteria with a percentage.
    threshold
        Least value of the constrained goal, instead of the plain model and the percentage.
    utopia
        The ideal point of distances.
    fallback
        Where no candidate meets the threshold, go without it.
    runs
        How candidates are read.
    answer
        How the answer is shown.
    """
    import dataclasses

    import xarray as xr

    from bayesgroups.cli.results import publish
    from bayesgroups.errors import InputError
    from bayesgroups.questions.tradeoffs import select_model as ask

    other = None if test is None else points_of(test, runs)
    chosen = ask(
        points_of(points, runs),
        criterion,
        test=other,
        vanilla=vanilla,
        threshold=threshold,
        utopia=utopia,
        fallback=fallback,
    )
    if chosen is None:
        raise InputError(
            f"no candidate of {str(points)!r} meets the threshold of {criterion}; lower it, or add --fallback"
        )
    found = xr.Dataset(dataclasses.asdict(chosen))
    shown = {
        "candidate": "candidate", "performance": "performance", "fairness": "fairness", "distance": "dto",
        "test performance": "test_performance", "test fairness": "test_fairness", "P(selected)": "probability",
    }  # fmt: skip
    return publish(found, "select_model", answer, rows=None, columns=shown)


def compare_auc_pfc(
    *methods: Path,
    anchor: Pair,
    runs: Runs = RUNS,
    reading: Reading = "frontier",
    utopia: Pair | None = None,
    normalise: bool = False,
    answer: AnswerOptions = ANSWER,
) -> int:
    """Compare the areas of several methods with their uncertainty.

    For example:

        bayesgroups compare-auc-pfc inlp.csv plain.csv --anchor 0.3 1 --by strength --draws 1000

    Parameters
    ----------
    methods
        Runs of each method, with the columns of the setting, performance and fairness (.csv, .parquet).
    anchor
        Performance and fairness of a trivial model.
    runs
        How candidates are read; the columns of a setting are needed.
    reading
        What is integrated.
    utopia
        The ideal point of the polar readings.
    normalise
        Divide both goals by their ideal.
    answer
        How the answer is shown.
    """
    from bayesgroups.cli.results import publish
    from bayesgroups.errors import InputError
    from bayesgroups.questions.tradeoffs import compare_auc_pfc as ask

    if not runs.by:
        raise InputError("name the columns that make a setting, as --by strength")
    named: dict[str, Any] = {path.stem: points_of(path, runs) for path in methods}
    if len(named) < len(methods):
        raise InputError("two of the files have one name; a method is called by the name of its file")
    found = ask(named, anchor=anchor, reading=reading, utopia=utopia, normalise=normalise)
    if not answer.json and answer.output is None and "level" in found.dims:
        found = found.sel(level=found["level"].values.max())
    shown = {"area": ("estimate", "lower", "upper"), "P(best)": "probability_best"}
    return publish(found, "compare_auc_pfc", answer, rows="system", columns=shown)


def points_of(path: Path, runs: Runs) -> pd.DataFrame | xr.Dataset:
    """Candidates of a table, runs of one that are averaged, or candidates with draws of a NetCDF file."""
    from bayesgroups.cli.inputs import table_of
    from bayesgroups.questions.tradeoffs import points_from_runs

    if path.suffix.lower() == ".nc":
        return _stored(path, runs)
    goals = ("performance", "fairness")
    if runs.by:
        return points_from_runs(table_of(path, (*runs.by, *goals)), list(runs.by), draws=runs.draws, seed=runs.seed)
    return table_of(path, ("candidate", *goals)).set_index("candidate")


def _stored(path: Path, runs: Runs) -> xr.Dataset:
    """Candidates with draws, as ``points-from-reports --output`` wrote them."""
    import xarray as xr

    from bayesgroups.data.files import read_netcdf
    from bayesgroups.errors import InputError, SchemaError

    if runs.by:
        raise InputError(f"--by names columns of runs, and {str(path)!r} has candidates already; leave it out")
    found = read_netcdf(path, xr.open_dataset)
    if not {"performance", "fairness"} <= set(found.data_vars):
        raise SchemaError(f"file {str(path)!r} has no candidates; write one with: bayesgroups points-from-reports")
    return xr.Dataset({goal: found[goal] for goal in ("performance", "fairness")})


def _dataset(points: pd.DataFrame) -> xr.Dataset:
    import numpy as np
    import xarray as xr

    names = np.array([str(name) for name in points.index])
    goals = {name: ("candidate", points[name].to_numpy(float)) for name in ("performance", "fairness")}
    return xr.Dataset(goals, {"candidate": names})
