"""The study of published trade-offs: it runs on made-up files, and the committed page has the published numbers."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import bayesgroups as bg
from bayesgroups.questions.tradeoffs import CRITERIA
from examples.pages import blocks
from examples.published.data import load_bios_confusion, load_bios_runs
from examples.published.data.bios import PROFESSIONS
from examples.published.fair_enough.confusion_figures import gap_table
from examples.published.fair_enough.model_selection import candidates, main, plain_model, selections
from examples.published.fair_enough.model_selection_figures import (
    iteration_table,
    iterations,
    plug_in,
    posterior_points,
    posterior_table,
)
from examples.published.fair_enough.model_selection_page import AGGREGATES, ANCHOR, AUC, METHODS, THRESHOLDS
from examples.published.fair_enough.published_tables import (
    TABLE_4,
    equal_distance_table,
    equal_distances,
    printed_selections,
    selection_table,
    selections_again,
)
from tests.public_data import public_data
from tests.recovery.remade import assert_same_page
from tests.studies.prose import prose

FIGURES = ("1", "3", "4", "5", "6", "7", "posterior")
PAGE = Path(__file__).parents[2] / "docs" / "examples" / "model_selection.md"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Made-up runs and counts in the form of the public files."""
    rng = np.random.default_rng(1)
    rows = []
    for method in [*METHODS.values(), "Vanilla"]:
        for config in range(1 if method == "Vanilla" else 6):
            for run in range(2):
                at = 0.8 - 0.05 * config
                goals = np.array([at, 1.3 - at] * 2) - 0.1 * rng.random(4)
                rows.append([method, f"x={config}", f"{method}_{config}_{run}", *goals])
    columns = ["method", "config", "run", "dev_performance", "dev_fairness", "test_performance", "test_fairness"]
    path = tmp_path_factory.mktemp("bios")
    pd.DataFrame(rows, columns=columns).to_csv(path / "bios_both_results.csv", index=False)
    cells = [
        (epoch, split, group, true, said, rng.integers(0, 30))
        for epoch in ("9.00", "5.00") for split in ("dev", "test") for group in range(4) for true in range(3)
        for said in range(3)
    ]  # fmt: skip
    names = ["epoch", "split", "group", "true_class", "pred_class", "count"]
    pd.DataFrame(cells, columns=names).to_csv(path / "bios_both_confusion.csv", index=False)
    return path


@pytest.mark.record
def test_main_writes_the_page(folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    output = tmp_path / "docs" / "page.md"
    main(["--data", str(folder), "--draws", "20", "--output", str(output)])
    text = output.read_text(encoding="utf-8")
    steps = iteration_table(iterations(load_bios_runs(folder)))
    made = blocks(text)
    rows = {
        "areas": 4, "parts": 4, "ideal points": 4, "selections": 28, "table 5": 28, "table 4": 5, "gaps": 3,
        "aggregates": len(AGGREGATES), "posterior": 1,
    }  # fmt: skip
    assert {name: made[name].count("\n| ") - 1 for name in rows} == rows
    assert made["iterations"] == steps
    assert prose(text) == prose(PAGE.read_text(encoding="utf-8"))
    drawn = sorted(path.name for path in output.parent.glob("*.svg"))
    assert drawn == [f"model_selection_{name}.svg" for name in FIGURES]
    assert all(f"({name})" in text for name in drawn)
    assert str(folder) not in text
    assert capsys.readouterr().out.strip() == "\n\n".join(made.values())


def test_selections_are_on_development_data(folder: Path) -> None:
    runs = load_bios_runs(folder)
    found = candidates(runs, draws=50)
    lines = selections(found, plain_model(runs))
    assert [line.criterion for line in lines[::4]] == list(CRITERIA)
    by_hand = bg.select_model(found["Adv"].dev, test=found["Adv"].test)
    line = next(line for line in lines if (line.criterion, line.method) == ("DTO", "Adv"))
    assert by_hand is not None
    assert line.dto == pytest.approx(100 * by_hand.test_dto)
    assert 0 <= line.probability <= 1
    assert line.published == 38.98


def test_tables_are_complete() -> None:
    assert list(AUC) == list(METHODS)
    printed = printed_selections()
    assert list(printed.index) == [(criterion, method) for criterion in CRITERIA for method in METHODS]
    best = {printed["test_distance"][criterion].idxmin() for criterion in CRITERIA}
    assert best == set(METHODS)


def test_printed_distances_belong_to_printed_goals() -> None:
    """Of both splits, to the rounding of six digits: no digit of the table was copied wrongly."""
    printed = printed_selections()
    for split in ("test", "dev"):
        off = np.hypot(100 - printed[f"{split}_performance"], 100 - printed[f"{split}_fairness"])
        assert off.to_numpy() == pytest.approx(printed[f"{split}_distance"].to_numpy(), abs=2e-6)


def test_every_value_of_table_5_comes_back() -> None:
    """Means and standard deviations over seeds of 28 selections on both splits, from the public runs."""
    runs = load_bios_runs(public_data("bios_pfc") / "bios_pfc")
    chosen = {}
    for method, splits in candidates(runs, draws=1).items():
        front = bg.pareto_frontier(splits.test)["candidate"].values
        for criterion in CRITERIA:
            threshold = THRESHOLDS.get(criterion)
            selection = bg.select_model(splits.dev.sel(candidate=front), criterion, threshold=threshold)
            assert selection is not None
            chosen[criterion, method] = selection.candidate
    again = selections_again(runs, chosen)
    printed = printed_selections().reindex(index=again.index, columns=again.columns)
    assert again.to_numpy() == pytest.approx(printed.to_numpy(), abs=6e-7)
    shown = blocks(PAGE.read_text(encoding="utf-8"))
    assert_same_page(selection_table(again.reindex(printed_selections().index)), shown["table 5"])
    assert shown["agreement"].startswith("280 of 280 printed values")


def test_table_4_comes_back() -> None:
    for ours, printed in zip(equal_distances(), TABLE_4, strict=True):
        assert ours == pytest.approx(printed, abs=0.05)
    assert equal_distance_table() == blocks(PAGE.read_text(encoding="utf-8"))["table 4"]


def test_gaps_rest_on_few_people() -> None:
    counts = load_bios_confusion(public_data("bios_pfc") / "bios_pfc", "dev")
    made = gap_table(counts)
    assert_same_page(made, blocks(PAGE.read_text(encoding="utf-8"))["gaps"])
    first = made.splitlines()[2].strip("| ").split(" | ")
    of_class = counts.sel(epoch="9.00", label=str(PROFESSIONS.index(first[0].replace(" ", "_"))))
    right = of_class.sel(predicted=of_class["label"].item())
    rates = (right / of_class.sum("predicted")).values
    pooled = float(right.sum() / of_class.sum())
    assert float(first[5]) == pytest.approx(np.abs(rates - pooled).sum(), abs=0.005)


def rows(head: str) -> list[list[str]]:
    section = PAGE.read_text(encoding="utf-8").split(f"## {head}\n")[1].split("\n## ")[0]
    table = [line.strip("| ").split(" | ") for line in section.splitlines() if line.startswith("| ")]
    return table[2:]


def test_the_committed_page_has_the_published_areas() -> None:
    areas = {
        row[0]: [float(re.split(" to ", value)[0]) for value in row[1:]] for row in rows("Area under the frontier")
    }
    for method, (published, ours, *_) in areas.items():
        assert published == ours == round(100 * AUC[method], 2)
    assert areas["INLP"][3] == 40.21
    assert areas["DAdv"][5] + areas["A-Adv"][5] > 0.95
    assert max(areas["DAdv"][5], areas["A-Adv"][5]) < 0.9


def test_the_committed_page_has_the_published_selections() -> None:
    table = [line.split("|")[1:-1] for line in PAGE.read_text(encoding="utf-8").splitlines() if line.startswith("| ")]
    cells = {(row[0].strip(), row[1].strip()): [value.strip() for value in row[2:]] for row in table if len(row) == 9}
    cells = {key: value for key, value in cells.items() if key[0] in CRITERIA}
    assert len(cells) == 28
    for (criterion, method), printed in printed_selections()["test_distance"].items():
        said, pipeline, *_ = cells[criterion, method]
        assert float(said.strip("*")) == float(pipeline) == round(printed, 2)
    assert sum(row[0].startswith("**") for row in cells.values()) == len(CRITERIA)
    assert float(cells["DTO", "INLP"][2]) == 47.48


def test_the_committed_page_has_the_published_aggregates() -> None:
    found = rows("Aggregation from confusion counts")
    assert [float(row[3]) for row in found] == list(AGGREGATES.values())
    assert [row[3] for row in found] == [row[4] for row in found]


def test_the_committed_page_has_its_figures_and_their_numbers() -> None:
    text = PAGE.read_text(encoding="utf-8")
    for name in FIGURES:
        assert f"(model_selection_{name}.svg)" in text
        assert (PAGE.parent / f"model_selection_{name}.svg").is_file()
    parts = {
        row[0]: [float(value.split(" ")[0]) for value in row[1:]]
        for row in rows("Frontiers and parts of their areas")[: len(METHODS)]
    }
    for method, (whole, *some) in parts.items():
        assert whole == round(100 * AUC[method], 2)
        assert max(some) < whole
    found = rows("A frontier with a posterior")
    plain, drawn = ([float(row[i].split(" ")[0]) for row in found] for i in (3, 4))
    gain = np.subtract(drawn, plain)
    assert (gain > 9).all()
    assert (gain < 13).all()
    assert np.argsort(plain).tolist() == np.argsort(drawn).tolist()
    assert [row[5] for row in found][-1] == "1.00"


def test_a_checkpoint_becomes_a_candidate_with_draws(folder: Path) -> None:
    points = posterior_points(load_bios_confusion(folder, "test"), seed=3)
    assert points["candidate"].values.tolist() == ["epoch 9"]
    right = load_bios_confusion(folder, "test").sel(epoch="9.00")
    share = sum(float(right.sel(label=k, predicted=k).sum()) for k in right["label"].values) / float(right.sum())
    assert float(points["performance"].mean()) == pytest.approx(share, abs=0.02)
    area = bg.auc_pfc(points, anchor=ANCHOR)
    assert area.dims == ("chain", "draw")


@pytest.mark.slow
def test_the_command_makes_the_table_of_the_posterior() -> None:
    points = posterior_points(load_bios_confusion(public_data("bios_pfc") / "bios_pfc", "test"), seed=1)
    made = posterior_table(points, plug_in(load_bios_confusion(public_data("bios_pfc") / "bios_pfc", "test")))
    assert_same_page(made, blocks(PAGE.read_text(encoding="utf-8"))["posterior"])


@pytest.mark.slow
def test_the_command_makes_the_page(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The whole page, from the public runs."""
    output = tmp_path / "model_selection.md"
    folder = public_data("bios_pfc") / "bios_pfc"
    main(["--data", str(folder), "--draws", "2000", "--seed", "1", "--output", str(output)])
    assert_same_page(output.read_text(encoding="utf-8"), PAGE.read_text(encoding="utf-8"))
    assert capsys.readouterr().out
