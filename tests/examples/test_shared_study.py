"""The shared study: its fifteen cells where the data are at hand, and its command on small files."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from bayesgroups.errors import InputError
from bayesgroups.studies.resampling import study
from examples.comparisons import shared_study
from examples.comparisons.entrants import BAYESIAN, REFERENCES, competitors
from examples.comparisons.shared_cells import MIN_ROWS_WITH_TRUTH, SEED, cells, draws_of, populations, split
from examples.comparisons.shared_tables import numbers, tables
from examples.pages import PAGES, blocks
from tests.public_data import public_data
from tests.recovery.remade import assert_same_page
from tests.studies.small_population import halved, population, standard

CELLS = [
    *(f"diabetes {metric}" for metric in ("sel", "acc", "fnr", "fpr", "ppv", "auc")),
    *(f"adult {share}" for share in ("0.01", "0.032", "0.1")),
    *(f"speech_{texts} {share}" for texts in ("raw", "normalised") for share in ("0.032", "0.1", "0.32")),
]


@pytest.fixture(scope="module")
def data() -> Path:
    """The folder of the public data, where it is at hand."""
    return public_data("diabetes", "adult", "asr_commonvoice")


@pytest.mark.slow
def test_the_fifteen_cells(data: Path) -> None:
    found = list(cells(data, draws=1))
    assert [cell.name for cell in found] == CELLS
    known = {cell.name: int(np.isfinite(cell.truth).sum()) for cell in found}
    assert known["diabetes sel"] == 32
    assert known["adult 0.1"] == 23
    assert known["speech_raw 0.1"] == 9
    rows = {cell.name: int(cell.rows.sum()) for cell in found}
    assert [rows[name] for name in CELLS[5:]] == [5_000, 488, 1_563, 4_884, 83, 258, 826, 83, 258, 826]
    for cell in found:
        assert cell.tally.sizes["metric"] == 1
        assert len(cell.truth) == len(cell.rows) == len(cell.scored) == cell.tally.sizes["subgroup"]
    whole = populations(data)
    assert [draws_of(one) for one in whole] == [20] + [40] * 9
    assert len(whole[0].frame) == 73_988


def test_a_draw_splits_into_its_metrics() -> None:
    drawn = population().draw(2, seed=1)
    parts = list(split(drawn))
    assert [part.name for part in parts] == ["people fnr", "people wrong", "people loss"]
    assert [str(part.tally["metric"].item()) for part in parts] == ["fnr", "wrong", "loss"]
    np.testing.assert_array_equal(parts[2].truth, drawn.truth.sel(metric="loss"))
    assert parts[0].draw == 2


def test_competitors_have_the_documented_names() -> None:
    assert tuple(competitors()) == (*REFERENCES, *BAYESIAN)


def test_some_estimators_can_be_chosen() -> None:
    assert list(shared_study.chosen_estimators("eb_morris, js")) == ["standard", "js", "eb_morris"]
    assert list(shared_study.chosen_estimators(None)) == list(competitors())
    with pytest.raises(InputError, match=r"estimator 'morris' is unknown; did you mean 'eb_morris'\?"):
        shared_study.chosen_estimators("morris")


def test_tables_of_a_small_study() -> None:
    found = {
        "people": study(population(), {"standard": standard, "js": halved}, draws=3, seed=1),
        "speech_normalised": study(population(name="other"), {"standard": standard, "js": halved}, draws=3, seed=1),
    }
    made = tables(found)
    assert list(made.scores) == ["all cells", "heavy tails", "other cells"]
    text = made.markdown()
    assert text.count("| js |") == 3
    assert made.ratios.loc["mae", "all", "people fnr"]["standard"] == 1.0
    assert made.measures.loc["people", "fnr", "js", "all"]["mae"] > 0
    assert made.lost.loc["people", "fnr"]["standard"] >= 0


@pytest.mark.record
def test_the_command_writes_tables_and_resumes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(shared_study, "populations", lambda folder, fewest: [population(fewest=fewest)])
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    monkeypatch.setenv("FORCE_COLOR", "1")  # a progress bar, as on a terminal
    monkeypatch.setenv("TERM", "xterm")
    arguments = ["--data", "nowhere", "--output", str(tmp_path), "--draws", "2", "--estimators", "js,eb_morris"]
    page = tmp_path / "docs" / "page.md"
    page.parent.mkdir()
    page.write_text((PAGES / "shared_study.md").read_text(encoding="utf-8"), encoding="utf-8")
    shared_study.main([*arguments, "--no-differences", "--page", str(page)])
    before, after = blocks((PAGES / "shared_study.md").read_text(encoding="utf-8")), blocks(page.read_text("utf-8"))
    assert {name for name, text in after.items() if text != before[name]} == {"scores where no subgroup differs"}
    first = capsys.readouterr()
    assert first.out.startswith("**all cells**")
    assert re.search(r"people .*100%", first.err)
    names = sorted(path.name for path in tmp_path.iterdir() if path.is_file())
    assert names == ["cells.csv", "lost.csv", "measures.csv", "score.csv", "score.md", "worst.csv"]
    assert (tmp_path / "no_differences" / "score.md").is_file()
    assert sorted(path.name for path in (tmp_path / "records").iterdir()) == ["people", "people_no_differences"]
    records = {path: path.stat().st_mtime_ns for path in (tmp_path / "records").rglob("*.npz")}
    score = pd.read_csv(tmp_path / "score.csv").set_index("estimator")
    assert score.loc["standard", "mae_all"] == 1.0
    shared_study.main([*arguments, "--no-differences"])
    assert capsys.readouterr().out == first.out
    assert {path: path.stat().st_mtime_ns for path in (tmp_path / "records").rglob("*.npz")} == records
    shared_study.main([*arguments, "--page", str(page)])
    assert "| people fnr | 1.00 |" in blocks(page.read_text("utf-8"))["mae by cell"]


@pytest.mark.record
def test_rows_and_columns_of_references_can_be_made_again(data: Path) -> None:
    """Scores and both tables by cell of three estimators in all draws; the worst cell is among all of them."""
    names = ["standard", "js", "eb_morris"]
    chosen = shared_study.chosen_estimators(",".join(names[1:]))
    answers = {whole.name: study(whole, chosen, draws=draws_of(whole), seed=SEED) for whole in populations(data)}
    made, page = numbers([tables(answers)], MIN_ROWS_WITH_TRUTH), (PAGES / "shared_study.md").read_text("utf-8")
    recorded = {name: block for name, block in blocks(page).items() if name in made}
    assert sorted(recorded) == ["interval_score by cell", "mae by cell", "scores"]
    for by_cell in ("mae by cell", "interval_score by cell"):
        header, *_ = _rows(recorded[by_cell])
        places = [0, *(header.index(name) for name in names)]
        shown = [[line[place] for place in places] for line in _rows(recorded[by_cell])]
        assert len(shown) == 1 + len(CELLS)
        assert_same_page(_text(_rows(made[by_cell])), _text(shown))
    lines, shown = (
        [line[:-1] for line in _rows(text) if line[0] in names] for text in (made["scores"], recorded["scores"])
    )
    assert len(lines) == 3 * len(names)
    assert_same_page(_text(lines), _text(shown))


def _rows(text: str) -> list[list[str]]:
    """Cells of the lines of Markdown tables, without the rules below their heads."""
    lines = [line.strip("| ").split(" | ") for line in text.splitlines() if line.startswith("|")]
    return [line for line in lines if line[0] != "---"]


def _text(lines: list[list[str]]) -> str:
    return "\n".join(" | ".join(line) for line in lines)
