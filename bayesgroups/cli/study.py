"""``bayesgroups study``: how well estimators do on samples of one's own labelled population."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

from cyclopts import Parameter

from bayesgroups.cli.estimators import Word, chosen
from bayesgroups.cli.options import ANSWER, AnswerOptions, Folder, Names

Words = Annotated[tuple[Word, ...], Parameter(name="--estimator", negative=())]


def study(
    population: Path,
    *,
    by: Names,
    metric: Names,
    rows: int,
    y_true: str | None = None,
    y_score: str | None = None,
    threshold: float | None = None,
    estimators: Words = ("no_pooling", "partial_pooling"),
    design: Literal["stratified", "independent"] = "stratified",
    fewest: int = 40,
    draws: int = 20,
    seed: int = 0,
    workers: int = 1,
    folder: Folder | None = None,
    level: float = 0.95,
    answer: AnswerOptions = ANSWER,
) -> int:
    r"""Draw evaluation sets of a population and hold every estimator to the truth.

    For example:

        bayesgroups study everyone.csv --by race --by sex --metric fnr --y-true outcome --y-score risk \
            --threshold 0.5 --rows 1000 --folder records

    With --folder an interrupted study goes on where it was.

    Parameters
    ----------
    population
        Many labelled rows (.csv, .parquet); they are the truth.
    by
        Column whose levels form subgroups; repeat it for intersections.
    metric
        What to measure; repeat it for several.
    rows
        Rows of an evaluation set.
    y_true
        Column of the outcome.
    y_score
        Column of the score.
    threshold
        Decide by score >= threshold.
    estimators
        An estimator; repeat it for several.
    design
        Subgroups in proportion, without replacement; or every row from all rows, with replacement.
    fewest
        Rows below which the value of a subgroup is no truth to be held to.
    draws
        Evaluation sets.
    seed
        Source of all randomness.
    workers
        Processes.
    folder
        Keep finished parts here.
    level
        Level of the intervals that are judged.
    answer
        How the answer is shown.
    """
    from bayesgroups.cli import consoles
    from bayesgroups.cli.inputs import table_of
    from bayesgroups.cli.results import check_form, publish
    from bayesgroups.errors import InputError
    from bayesgroups.studies.populations import Population
    from bayesgroups.studies.resampling import study as run
    from bayesgroups.studies.scores import measures

    check_form(answer)
    columns = [name for name in (y_true, y_score) if name is not None]
    frame = table_of(population, (*by, *columns))
    for name in by:
        if frame[name].isna().to_numpy().any():
            raise InputError(f"column {name!r} has missing values; drop those rows or name them")
        frame[name] = frame[name].astype(str)
    levels = {name: tuple(sorted(frame[name].unique())) for name in by}
    everyone = Population(
        name=population.stem, frame=frame, by=levels, metrics=metric, rows=rows, design=design, fewest=fewest,
        y_true=y_true, y_score=y_score, threshold=threshold,
    )  # fmt: skip
    entries: dict[str, Any] = {word: chosen(word) for word in estimators}
    with consoles.counting("studying") as progress:
        results = run(everyone, entries, draws=draws, seed=seed, workers=workers, folder=folder, progress=progress)
    reference = f"{estimators[0]} (frequentist)"
    table = measures(results, reference=reference, level=level)
    shown = {
        "MAE": "mae", "RMSE": "rmse", "bias": "bias", f"covered by {level:.0%}": "coverage", "width": "width",
    }  # fmt: skip
    summary = table.xs("all", level="size_class").to_xarray()
    headings = {head: name for head, name in shown.items() if name in summary}
    return publish(summary, "study", answer, rows="estimator", columns=headings)
