"""The experiment on disagreement feedback: it runs on made-up judgements, and the committed record says what it found."""

from __future__ import annotations

import csv
from dataclasses import asdict
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import xarray as xr

import bayesgroups as bg
from bayesgroups.errors import InputError
from bayesgroups.tallies.disagreement_notions import Form, Notion
from bayesgroups.tallies.disagreement_rates import Bounds
from examples.pages import filled
from examples.published.data import load_dressel_farid
from examples.published.disagreement import deciles as deciles_study
from examples.published.disagreement.deciles import Deciles, answer, counted, load_deciles, read_lines
from examples.published.disagreement.deciles import main as study_labels
from examples.published.disagreement.deciles import study as labels_study
from examples.published.disagreement.disagreement import (
    LEVELS,
    Line,
    all_critics,
    known_rates,
    main,
    of_attribute,
    panels,
    study,
)
from examples.published.disagreement.disagreement_page import (
    CONDITIONS,
    PUBLISHED_ERRORS,
    Panel,
    explained,
    figure,
    numbers,
)
from examples.published.disagreement.rates_in_mind import INDEFINITE
from tests.public_data import public_data
from tests.recovery.remade import assert_remade, assert_same_page

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "examples" / "disagreement.md"
RECORD = ROOT / "tests" / "recovery" / "records" / "disagreement.csv"

LABELS = ROOT / "docs" / "examples" / "disagreement_labels.csv"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Made-up judgements in the form of the public files: 12 critics of 60 defendants per condition."""
    rng, path, size = np.random.default_rng(1), tmp_path_factory.mktemp("data"), 60
    decile = rng.integers(1, 11, size)
    pd.DataFrame(
        {
            "id": np.arange(size),
            "race": rng.integers(1, 4, size),
            "sex": np.arange(size) % 2,
            "age": 30,
            "compas_decile_score": decile,
            "two_year_recid": rng.integers(0, 2, size),
        }
    ).to_csv(path / "defendants_1000.csv", index=False)
    rows = []
    for condition in ("no_race", "race"):
        for critic in range(12):
            judged = (decile + rng.normal(scale=3.0, size=size) > 5.5).astype(int)
            rows += [(condition, f"{condition}{critic}", i, judged[i]) for i in range(size)]
    pd.DataFrame(rows, columns=["condition", "participant", "id", "prediction"]).to_csv(
        path / "responses_long.csv", index=False
    )
    names = sorted({row[1] for row in rows})
    pd.DataFrame({"participant": names, "gender": 0}).to_csv(path / "participants.csv", index=False)
    return path


def test_the_sharp_bounds_are_the_truth_and_the_erratum_explains_all(folder: Path) -> None:
    lines = study(load_dressel_farid(folder, condition="race"), "race")
    assert [(line.attribute, line.notion) for line in lines] == [(a, n) for a in LEVELS for n in INDEFINITE]
    for line in lines:
        assert line.critics > 6
        assert (line.width, line.sharp_violated, line.sharp_violated_rates) == (0, 0, 0)
        assert line.sharp_error < 1e-12
        assert line.published_error > 0.01
        assert line.turned_violated == line.turned_violated_rates == 0
        assert (line.violated_rates > 0) == (line.notion == "overall_misclassification")
    assert "explains 100 % of the violations" in explained(lines)


def test_known_rates_by_hand() -> None:
    rows = pd.DataFrame(
        [("c", "Black", "low", "low"), ("c", "Black", "high", "low"), ("c", "White", "high", "high")],
        columns=["participant", "race", "risk", "judged"],
    )
    nan = np.nan
    expected = {
        "equal_opportunity": [[[0.5, nan], [nan, 1.0]]],
        "overall_misclassification": [[[0.5, nan], [nan, 0.0]]],
        "predictive_equality": [[[nan, 0.0], [0.5, nan]]],
    }
    for notion in INDEFINITE:
        np.testing.assert_array_equal(known_rates(rows, "race", ["c"], notion), expected[notion])


def test_only_the_two_subgroups_take_part(folder: Path) -> None:
    judgements = load_dressel_farid(folder)
    assert set(judgements["race"]) == {"White", "Black", "Hispanic"}
    assert set(of_attribute(judgements, "race")["race"]) == {"White", "Black"}


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.record
def test_main_writes_page_record_and_figures(folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    output = tmp_path / "docs" / "page.md"
    main(["--data", str(folder), "--output", str(output), "--record", str(tmp_path / "lines.csv")])
    text = output.read_text(encoding="utf-8")
    assert all(part in text for part in capsys.readouterr().out.strip().split("\n\n"))
    assert str(folder) not in text
    assert text.count("\n| no_race | ") == 6 + 6 + 8
    assert (output.parent / "disagreement_labels.svg").is_file()
    assert len((tmp_path / "lines.csv").read_text().splitlines()) == 1 + 12
    for condition in ("no_race", "race"):
        assert (output.parent / f"disagreement_{condition}.png").read_bytes()[:4] == b"\x89PNG"


def test_panels_are_in_the_order_of_the_truth(folder: Path, tmp_path: Path) -> None:
    found = panels(load_dressel_farid(folder))
    assert len(found) == 6
    for panel in found:
        assert (np.diff(panel.truth) >= 0).all()
        assert panel.published.lower.shape == panel.truth.shape
    ends = Bounds(np.zeros(2), np.ones(2))
    figure([Panel("one", np.ones(2), ends), Panel("two", np.ones(2), ends)], tmp_path / "figures" / "two.png")
    assert (tmp_path / "figures" / "two.png").is_file()


def test_the_record_holds_what_the_page_says() -> None:
    with RECORD.open(encoding="utf-8") as file:
        lines = list(csv.DictReader(file))
    assert len(lines) == 2 * 2 * 3
    for line in lines:
        assert int(line["critics"]) >= 390
        assert float(line["sharp_violated"]) == float(line["sharp_violated_rates"]) == float(line["width"]) == 0
        assert float(line["turned_violated"]) == float(line["turned_violated_rates"]) == 0
        assert abs(100 * float(line["published_error"]) - PUBLISHED_ERRORS[line["notion"]]) < 4.5
        share = float(line["published_error"]) / float(line["truth"])
        assert 0.4 < share < 0.6
        if line["notion"] == "overall_misclassification":
            assert float(line["violated_rates"]) > 0.97
            assert 0.02 < float(line["violated"]) < 0.08
        else:
            assert float(line["violated"]) == float(line["violated_rates"]) == 0
    text = PAGE.read_text(encoding="utf-8")
    assert "The erratum explains 100 % of the violations." in text
    for line in lines:
        assert f"| {line['critics']} | {float(line['truth']):.3f} |" in text


@pytest.mark.record
def test_the_command_makes_record_and_page() -> None:
    """All lines and the whole page, from the public judgements."""
    folder = public_data("dressel_farid") / "dressel_farid"
    lines: list[Line] = []
    pooled: dict[tuple[str, str], xr.Dataset] = {}
    for condition in CONDITIONS:
        judgements = load_dressel_farid(folder, condition="race" if condition == "race" else "no_race")
        lines += study(judgements, condition)
        pooled |= {(condition, attribute): all_critics(judgements, attribute, seed=1) for attribute in LEVELS}
    assert_remade(RECORD, [asdict(line) for line in lines], ["condition", "attribute", "notion"])
    kept = PAGE.read_text(encoding="utf-8")
    assert_same_page(filled(kept, numbers(lines, pooled, read_lines(LABELS))), kept)


@pytest.mark.parametrize("notion", INDEFINITE)
@pytest.mark.parametrize("labels", [2, 3])
def test_bounds_of_deciles_are_those_of_the_tally(labels: int, notion: Notion) -> None:
    rng = np.random.default_rng(labels)
    size = 300
    deciles = Deciles(rng.integers(0, 10, size), rng.integers(0, 10, size), rng.integers(0, 2, size).astype(np.intp))
    cuts = {2: [4], 3: [4, 7]}[labels]
    given, mind = (np.digitize(each + 1, cuts, right=True) for each in (deciles.given, deciles.mind))
    rows = pd.DataFrame({"who": deciles.subgroup, "said": given, "differs": (given != mind).astype(int)})
    tally = bg.disagreement_tally(rows, ["who"], "said", "differs", labels=list(range(labels)))
    table = answer(counted(deciles, labels, np.arange(size)[None]), notion)
    frame = pd.DataFrame({"who": deciles.subgroup, "said": given, "mind": mind})
    for subgroup, part in frame.groupby("who"):
        for k in range(labels):
            asked = part[part["mind"] != k] if notion == "predictive_equality" else part[part["mind"] == k]
            rate = (asked["said"] == k).mean()
            expected = 1 - rate if notion == "overall_misclassification" else rate
            assert table.rates[0, k, int(str(subgroup))] == pytest.approx(expected)
    forms: tuple[tuple[Form, Bounds], ...] = (("sharp", table.sharp_rates), ("published", table.published_rates))
    for form, ends in forms:
        kept = bg.disagreement_bounds(tally, notion, form=form)
        np.testing.assert_allclose(ends.lower[0], kept["lower"].values)
        np.testing.assert_allclose(ends.upper[0], kept["upper"].values)
        across = bg.disagreement_bounds(tally, notion, form=form, across="subgroups")
        largest = table.sharp if form == "sharp" else table.published
        np.testing.assert_allclose([largest.lower[0], largest.upper[0]], [across["lower"], across["upper"]])


def test_a_label_that_a_subgroup_has_not_in_mind_takes_no_part() -> None:
    two = Deciles(np.array([0, 9, 0, 9]), np.array([0, 9, 0, 0]), np.array([0, 0, 1, 1]))
    table = answer(counted(two, 2, np.arange(4)[None]), "equal_opportunity")
    assert np.isnan(table.rates[0, 1]).all()
    assert float(table.truth[0]) == pytest.approx(0.5)
    assert float(table.sharp.lower[0]) == pytest.approx(0.5)


def test_lines_of_three_labels_can_be_made_again() -> None:
    lines = labels_study(load_deciles(public_data("compas") / "compas", "race"), "race", 3, seed=1)
    assert_remade(LABELS, [asdict(line) for line in lines], ["labels", "attribute", "notion"])


def test_bounds_of_more_labels_have_a_width_and_hold_the_rates() -> None:
    lines = read_lines(LABELS)
    assert {(line.labels, line.attribute, line.notion) for line in lines} == {
        (labels, attribute, notion) for labels in (2, 3, 5, 10) for attribute in LEVELS for notion in INDEFINITE
    }
    for line in lines:
        assert line.outside_sharp == 0
        assert line.outside_published == (line.notion == "overall_misclassification")
        assert (line.width == 0) == (line.sharp_error < 1e-9) == (line.labels == 2)
        assert line.sharp_lower - 1e-6 <= line.truth <= line.sharp_upper + 1e-6
    same: dict[tuple[int, str], list[tuple[float, ...]]] = {(line.labels, line.attribute): [] for line in lines}
    for line in lines:
        if line.notion != "predictive_equality":
            same[line.labels, line.attribute].append((line.truth, line.published_error, line.sharp_error))
    assert all(first == second for first, second in same.values())  # DIS-13 with any number of labels


def test_the_study_of_labels_writes_its_record(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    header = {"race": ["Caucasian", "African-American", "Other"] * 60, "sex": ["Male", "Female"] * 90}
    rng = np.random.default_rng(1)
    scores = {name: rng.integers(1, 11, 180) for name in ("decile_score", "v_decile_score")}
    pd.DataFrame(header | scores).to_csv(tmp_path / "compas-scores-two-years_deid.csv", index=False)
    monkeypatch.setattr(deciles_study, "ROWS", 40)
    monkeypatch.setattr(deciles_study, "SAMPLES", 3)
    study_labels(["--data", str(tmp_path), "--output", str(tmp_path / "lines.csv")])
    lines = read_lines(tmp_path / "lines.csv")
    assert len(lines) == 4 * 2 * 3
    assert {line.defendants for line in lines} == {120, 180}
    scores["v_decile_score"][3] = 0
    pd.DataFrame(header | scores).to_csv(tmp_path / "compas-scores-two-years_deid.csv", index=False)
    with pytest.raises(InputError, match="column 'v_decile_score' has value 0; expected 1 to 10"):
        load_deciles(tmp_path, "race")
