"""Published trade-offs of debiasing methods on Bios, beside ours: areas, selection, aggregation.

python -m examples.published.fair_enough.model_selection --data FOLDER/bios_pfc --output docs/examples/model_selection.md
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import xarray as xr

from bayesgroups.questions.disparities.aggregation import aggregate
from bayesgroups.questions.disparities.class_scores import confusion_scores
from bayesgroups.questions.tradeoffs.areas import auc_pfc
from bayesgroups.questions.tradeoffs.criteria import CRITERIA
from bayesgroups.questions.tradeoffs.frontier import pareto_frontier
from bayesgroups.questions.tradeoffs.runs import points_from_runs
from bayesgroups.questions.tradeoffs.selection import select_model
from bayesgroups.questions.tradeoffs.uncertainty import compare_auc_pfc
from examples import pictures
from examples.pages import PAGES, blocks, fill
from examples.published.data.bios import Split, load_bios_confusion, load_bios_runs
from examples.published.fair_enough import confusion_figures, published_tables
from examples.published.fair_enough import model_selection_figures as figures
from examples.published.fair_enough.model_selection_page import (
    AGGREGATES,
    ANCHOR,
    AUC,
    METHODS,
    THRESHOLDS,
    AggregateLine,
    AreaLine,
    PictureTables,
    SelectionLine,
    numbers,
)

if TYPE_CHECKING:
    import pandas as pd

PAGE = PAGES / "model_selection.md"
DRAWS, SEED = 2000, 1
EPOCH = "9.00"
"""The checkpoint whose aggregates were published."""
SMOOTHING = 1e-5
"""What the published code adds to counts, so that an absent class has a rate of one half."""


@dataclass(frozen=True)
class Candidates:
    """Candidates of one method on both splits, at the means of their runs, and with draws of those means."""

    dev: xr.Dataset
    test: xr.Dataset
    dev_draws: xr.Dataset
    test_draws: xr.Dataset


def candidates(runs: pd.DataFrame, *, draws: int = DRAWS, seed: int = SEED) -> dict[str, Candidates]:
    """Average the runs of each setting, per published method, with a bootstrap over seeds."""
    by_method = {}
    for i, (name, code) in enumerate(METHODS.items()):
        runs_of_method = runs.loc[runs["method"] == code]
        parts = [_points(runs_of_method, split, number, seed + i) for number in (0, draws) for split in ("dev", "test")]
        by_method[name] = Candidates(*parts)
    return by_method


def _points(runs: pd.DataFrame, split: str, draws: int, seed: int) -> xr.Dataset:
    named = runs.rename(columns={f"{split}_{goal}": goal for goal in ("performance", "fairness")})
    return points_from_runs(named, "config", draws=draws, seed=seed)


def plain_model(runs: pd.DataFrame) -> tuple[float, float]:
    """Performance and fairness of the model that was not debiased, on development data."""
    vanilla_runs = runs.loc[runs["method"] == "Vanilla"]
    performance, fairness = (
        float(np.mean(np.asarray(vanilla_runs[f"dev_{goal}"]))) for goal in ("performance", "fairness")
    )
    return performance, fairness


def areas(by_method: Mapping[str, Candidates]) -> list[AreaLine]:
    """Compare the areas under the frontiers with the published column."""
    compared = compare_auc_pfc({name: splits.test_draws for name, splits in by_method.items()}, anchor=ANCHOR)
    lines = []
    for name, splits in by_method.items():
        area = auc_pfc(splits.test, anchor=ANCHOR)
        row = compared.sel(system=name)
        # The settings are chosen on development data, and the curve through them is drawn on test data.
        honest = splits.test.sel(candidate=pareto_frontier(splits.dev)["candidate"].values)
        lines.append(
            AreaLine(
                name, AUC[name], float(area), int(area["frontier_size"]), float(auc_pfc(honest, anchor=ANCHOR)),
                float(row["lower"].sel(level=0.95)), float(row["upper"].sel(level=0.95)), float(row["probability_best"]),
            )
        )  # fmt: skip
    return lines


def selections(by_method: Mapping[str, Candidates], plain: tuple[float, float]) -> list[SelectionLine]:
    """Select by every criterion, as published and on development data alone."""
    printed = published_tables.printed_selections()["test_distance"].to_dict()
    lines = []
    for criterion in CRITERIA:
        for name, splits in by_method.items():
            front = pareto_frontier(splits.test)["candidate"].values
            vanilla = plain if "@" in criterion else None
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", UserWarning)  # nobody feasible: said in the table
                published = select_model(
                    splits.dev.sel(candidate=front),
                    criterion,
                    test=splits.test,
                    threshold=THRESHOLDS.get(criterion),
                    fallback=True,
                )
                ours = select_model(splits.dev_draws, criterion, test=splits.test, vanilla=vanilla)
            assert published is not None
            lines.append(
                SelectionLine(
                    criterion, name, published.candidate, 100 * published.test_dto, round(float(printed[criterion, name]), 2),
                    published.feasible, *_ours(ours),
                )
            )  # fmt: skip
    return lines


def _ours(selection: object) -> tuple[float, ...]:
    names = ("test_performance", "test_fairness", "test_dto")
    if selection is None:
        return (np.nan,) * 5
    percent = (100 * float(getattr(selection, name)) for name in names)
    return (*percent, float(getattr(selection, "probability")), 100 * float(getattr(selection, "regret")))  # noqa: B009


def aggregates(counts: xr.DataArray) -> list[AggregateLine]:
    """Recompute the published aggregates of one checkpoint, with and without the constant that its code adds."""
    scores = confusion_scores(counts)
    smoothed, centre = with_constant(counts)
    lines = []
    for (unit, group, classes), published in AGGREGATES.items():
        same = aggregate(smoothed, unit, group_power=group, class_power=classes, center=centre)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # the classes that are absent: said on the page
            ours = aggregate(scores, unit, group_power=group, class_power=classes, undefined="drop")
        lines.append(AggregateLine(unit, group, classes, published, float(same), float(ours)))
    return lines


def with_constant(counts: xr.DataArray) -> tuple[xr.DataArray, xr.DataArray]:
    """True positive rates per class and subgroup, and over all subgroups, with the published constant."""
    scores = confusion_scores(counts)
    rows = scores["count"]
    hits = (scores.fillna(0) * rows).drop_vars("count")
    total, hit = rows.sum("subgroup").drop_vars("count", errors="ignore"), hits.sum("subgroup")
    rate = (hits + SMOOTHING) / (rows.drop_vars("count", errors="ignore") + 2 * SMOOTHING)
    return rate, (hit + SMOOTHING) / (total + 2 * SMOOTHING)


def fairness_of_checkpoints(path: str | Path, split: Split) -> xr.DataArray:
    """Quadratic mean over classes of the sum of gaps over subgroups, as the experiments define unfairness, per checkpoint."""
    rate, centre = with_constant(load_bios_confusion(path, split))
    return aggregate(rate, group_power="sum_gap", class_power="quadratic_mean", center=centre)


def draw(
    runs: pd.DataFrame, by_method: Mapping[str, Candidates], folder: Path, output: Path, *, seed: int
) -> PictureTables:
    """Draw the figures beside the page and make the tables that go with them."""
    by_iteration = figures.iterations(runs)
    counts, on_dev = load_bios_confusion(folder, "test"), load_bios_confusion(folder, "dev")
    means = {name: splits.test for name, splits in by_method.items()}
    points = figures.posterior_points(counts, seed=seed)
    plain = figures.plug_in(counts)
    with pictures.style():
        drawn = {
            "1": confusion_figures.rates_figure(on_dev),
            "3": figures.iteration_figure(by_iteration),
            "4": figures.methods_figure({name: splits.test_draws for name, splits in by_method.items()}, ANCHOR),
            "5": figures.parts_figure(by_method["INLP"].test, ANCHOR),
            "6": confusion_figures.confusion_figure(on_dev),
            "7": figures.ideal_figure(by_method["INLP"].test, ANCHOR),
            "posterior": figures.posterior_figure(points, plain),
        }
    pictures.save({f"model_selection_{name}.svg": figure for name, figure in drawn.items()}, output.parent)
    return PictureTables(
        figures.iteration_table(by_iteration),
        figures.part_table(means, ANCHOR),
        figures.ideal_table(means, ANCHOR),
        confusion_figures.gap_table(on_dev),
        figures.posterior_table(points, plain),
    )


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the numbers of the comparison and fill them into its page."""
    program = "python -m examples.published.fair_enough.model_selection"
    parser = argparse.ArgumentParser(prog=program, description="Published trade-offs on Bios beside ours.")
    parser.add_argument("--data", type=Path, required=True, help="folder of the Bios files")
    parser.add_argument("--output", type=Path, required=True, help="the Markdown page to write")
    parser.add_argument("--draws", type=int, default=DRAWS, help="bootstrap draws over seeds")
    parser.add_argument("--seed", type=int, default=SEED)
    given = parser.parse_args(arguments)
    runs = load_bios_runs(given.data)
    by_method = candidates(runs, draws=given.draws, seed=given.seed)
    drawn = draw(runs, by_method, given.data, given.output, seed=given.seed)
    selected = selections(by_method, plain_model(runs))
    again = published_tables.selections_again(runs, {(line.criterion, line.method): line.setting for line in selected})
    made = numbers(
        areas(by_method),
        selected,
        aggregates(load_bios_confusion(given.data, "dev").sel(epoch=EPOCH, drop=True)),
        plain=plain_model(runs),
        tried=settings_tried(by_method),
        pictures=drawn,
    ) | {
        "agreement": published_tables.agreement(again),
        "table 5": published_tables.selection_table(again),
        "table 4": published_tables.equal_distance_table(),
    }
    fill(given.output, made, prose=PAGE)
    print("\n\n".join(blocks(given.output.read_text(encoding="utf-8")).values()))


def settings_tried(by_method: Mapping[str, Candidates]) -> dict[str, int]:
    """Number of settings that were tried per method."""
    return {name: splits.dev.sizes["candidate"] for name, splits in by_method.items()}


if __name__ == "__main__":
    main()
