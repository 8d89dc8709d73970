"""The direction of a metric: given once, where it is tallied, and asked of the tally ever after."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import xarray as xr

import bayesgroups as bg
from bayesgroups.cli import run
from bayesgroups.data.directions import KNOWN, Direction, choose_directions, direction_of
from bayesgroups.data.metrics import NAMES, named
from bayesgroups.errors import InputError
from bayesgroups.interop import tally_from_scorer
from bayesgroups.tallies.notes import assumed_directions, binary_notes, direction_note, undirected
from bayesgroups.views.html.sections.provenance import origin
from bayesgroups.views.html.words import metric_words
from tests.tallies.engines import need

SITES = pd.DataFrame({"site": ["a", "b", "c"]})


def of_counts(name: str, **more: Any) -> xr.Dataset:
    return bg.tally_from_counts([45, 20, 40], [50, 50, 50], SITES, metric=name, **more)


def of_estimates(name: str, **more: Any) -> xr.Dataset:
    return bg.tally_from_estimates(
        [0.9, 0.4, 0.8], [1e-4, 1e-4, 1e-4], SITES, metric=name, lower=0.0, upper=1.0, **more
    )


CONSTRUCTORS: list[Callable[..., xr.Dataset]] = [of_counts, of_estimates]


def answers(n: int = 50) -> pd.DataFrame:
    """Answers of a model in three languages, right in nine, four and eight of ten."""
    return pd.DataFrame(
        {
            "language": np.repeat(["en", "sw", "fi"], n),
            "right": np.concatenate([np.arange(n) % 10 < tenths for tenths in (9, 4, 8)]).astype(int),
            "item": np.tile(np.arange(n // 2), 6),
            "weight": 1 + np.arange(3 * n) % 3,
        }
    )


def worst_subgroups(answer: dict[str, Any]) -> list[str]:
    """Of the JSON of `certify`, the worst subgroup of every metric."""
    records = next(table["records"] for table in answer["tables"] if table["dims"] == ["metric"])
    return [record["worst_subgroup"] for record in records]


def test_every_metric_known_by_name_has_a_direction_but_means_prevalence_and_bias() -> None:
    without = dict.fromkeys(("mean", "prev", "judge_bias"))
    assert set(KNOWN) == set(NAMES) - set(without)
    assert {name: named(name).larger_is_better for name in NAMES} == KNOWN | without
    assert named("fnr[cat]").larger_is_better is False


@pytest.mark.parametrize("make", CONSTRUCTORS)
@pytest.mark.parametrize(
    ("name", "larger"),
    [*KNOWN.items(), ("tpr[a b]", True), ("fpr[x]", False), ("f1[y]", True), ("refusals", False), ("tpr[]", False)],
)
def test_names_bring_their_direction_in_every_constructor(
    make: Callable[..., xr.Dataset], name: str, larger: bool
) -> None:
    tally = make(name)
    assert tally["larger_is_better"].values.tolist() == [int(larger)]
    assert assumed_directions(tally) == ([] if direction_of(name) is not None else [name])


@pytest.mark.parametrize("make", CONSTRUCTORS)
@pytest.mark.parametrize("name", ["acc", "refusals", "fnr"])
@pytest.mark.parametrize("larger", [True, False])
def test_a_direction_that_is_given_wins(make: Callable[..., xr.Dataset], name: str, larger: bool) -> None:
    tally = make(name, larger_is_better=larger)
    assert tally["larger_is_better"].values.tolist() == [int(larger)]
    assert direction_note(tally) == ""


def test_the_worst_of_published_accuracies_is_the_smallest() -> None:
    tally = of_estimates("acc")
    for source in (tally, bg.estimate(tally, bg.NoPooling(), seed=1)):
        found = bg.certify(source).sel(metric="acc")
        assert [str(found[name].values) for name in ("worst_subgroup", "optimist_subgroup", "pessimist_subgroup")] == [
            "b"
        ] * 3
        assert 0.37 < found["pessimist"] < 0.4 < found["optimist"] < 0.43
        assert bg.ranks(source).sel(metric="acc")["rank"].values.argmax() == 1
        assert "note" not in found.attrs
    gap = bg.disparity(tally, ["worst_group_gap"]).isel(metric=0, measure=0)
    assert float(gap["value"]) == pytest.approx(0.3)
    errors = bg.certify(of_estimates("fnr")).sel(metric="fnr")
    assert str(errors["worst_subgroup"].values) == "a"
    assert errors["optimist"] < 0.9 < errors["pessimist"]


def test_f1_of_counts_and_a_class_of_counts_have_the_direction_of_their_name() -> None:
    found = bg.certify(bg.tally_from_counts([45, 20, 40], [50, 50, 50], SITES, metric="tpr[cat]")).isel(metric=0)
    assert str(found["worst_subgroup"].values) == "b"


def test_what_is_said_wrongly_is_refused() -> None:
    with pytest.raises(
        InputError, match="larger_is_better= must be True or False, or a mapping from metrics to these; got 1"
    ):
        of_estimates("acc", larger_is_better=1)
    with pytest.raises(InputError, match="larger_is_better= has metric 'ac', which is not tallied; did you mean 'acc'"):
        of_counts("acc", larger_is_better={"ac": True})
    with pytest.raises(InputError, match="larger_is_better= of metric 'acc' must be True or False"):
        of_counts("acc", larger_is_better={"acc": "yes"})
    with pytest.raises(
        InputError, match=r"of 2 metrics, but of 'fnr' smaller values .*larger_is_better=\{'mean': True\}"
    ):
        choose_directions(["mean", "fnr"], True)
    with pytest.raises(
        InputError, match=r"of 2 metrics, but of 'acc' larger values .*larger_is_better=\{'mean': False\}"
    ):
        choose_directions(["mean", "acc"], False)
    assert choose_directions(["mean", "acc"], True) == [Direction(True), Direction(True)]
    assert choose_directions(["mean", "fnr"], {"mean": True}) == [Direction(True), Direction(False)]


def test_a_metric_of_ones_own_says_its_direction_or_is_noted() -> None:
    rows = answers()
    own = {
        larger: bg.Metric("quality", value="right", kind="rate", larger_is_better=larger)
        for larger in (True, False, None)
    }
    for larger, metric in own.items():
        tally = bg.tally(rows, ["language"], metric)
        assert tally["larger_is_better"].item() == int(bool(larger))
        assert assumed_directions(tally) == ([] if larger is not None else ["quality"])
    assert bg.tally(rows, ["language"], own[False], larger_is_better=True)["larger_is_better"].item() == 1
    assert bg.tally(rows, ["language"], bg.Metric("acc", value="right", kind="rate"))["larger_is_better"].item() == 1


def test_an_assumed_direction_is_noted_where_it_matters() -> None:
    tally = of_counts("refusals")
    report = bg.estimate(tally, bg.PartialPooling(), seed=1)
    said = (
        "refusals: no direction was given, so smaller values are taken to be better; say larger_is_better= in the tally"
    )
    from bayesgroups.questions.certification import (
        definitions,
        desiderata,
        probability_of_finding_worst,
        rows_to_certify,
    )

    asked: list[Callable[..., xr.Dataset]] = [bg.certify, bg.ranks, bg.discoveries]
    for ask in asked:
        for source in (tally, report, bg.margins(tally)) if ask is not bg.ranks else (tally, report):
            assert ask(source).attrs["note"] == said
            assert "note" not in ask(source, larger_is_better=False).attrs
    assert rows_to_certify(tally, 0.5).attrs["note"] == said
    assert probability_of_finding_worst(tally).attrs["note"] == said
    assert desiderata(definitions()[0], tally).attrs["note"] == said
    notes = bg.disparity(tally)["note"].isel(metric=0)
    assert "smaller values are taken to be better" in str(notes.sel(measure="worst_group_gap").values)
    assert "better" not in str(notes.sel(measure="gini").values)
    assert "note" not in bg.certify(of_counts("fnr")).attrs


def test_a_metric_of_which_0_is_fair_has_no_direction() -> None:
    rows = answers().assign(judged=lambda rows: np.arange(len(rows)) % 2)
    tally = bg.tally(rows, ["language"], ["judge_bias", "prev"], y_true="right", y_pred="judged")
    assert undirected(tally) == ["judge_bias"]
    smaller = (
        "prev: no direction was given, so smaller values are taken to be better; say larger_is_better= in the tally"
    )
    fair = "judge_bias: 0 is fair and no direction fits, so that better and worse mean smaller and larger alone"
    assert bg.certify(tally).attrs["note"] == f"{smaller}; {fair}"
    given = bg.tally(rows, ["language"], "judge_bias", y_true="right", y_pred="judged", larger_is_better=False)
    assert undirected(given) == []
    assert "note" not in bg.certify(given).attrs


def test_files_selections_and_reports_keep_directions(tmp_path: Path) -> None:
    rows = answers()
    tally = bg.tally(rows, ["language"], ["mean", "correct"], loss="right", correct="right", larger_is_better=True)
    opened = bg.open_tally(bg.save_tally(tally, tmp_path / "t.nc"))
    assert opened.identical(tally)
    assert opened["larger_is_better"].values.tolist() == [1, 1]
    report = bg.open_report(bg.save_report(bg.estimate(opened, bg.NoPooling(), seed=1), tmp_path / "r.nc"))
    worst = bg.certify(report)["worst_subgroup"]
    assert worst.values.tolist() == ["sw", "sw"]
    assert bg.certify(bg.margins(tally))["worst_subgroup"].values.tolist() == ["sw", "sw"]
    renamed = tally.sel(metric=["mean"]).assign_coords(metric=["fnr"])
    assert bg.certify(renamed)["worst_subgroup"].values.tolist() == ["sw"]  # the tally says it, not the name


def test_tallies_of_different_directions_are_not_added() -> None:
    kept, turned = (of_counts("refusals", larger_is_better=larger) for larger in (False, True))
    with pytest.raises(InputError, match="larger values of metric 'refusals' are better in one and worse in another"):
        bg.add_tallies([kept, turned])
    whole = bg.add_tallies([turned, turned])
    assert whole["larger_is_better"].values.tolist() == [1]
    assert direction_note(whole) == ""
    assert direction_note(bg.add_tallies([of_counts("refusals"), kept])) == ""
    assert direction_note(bg.add_tallies([of_counts("refusals")] * 2)).startswith("refusals: no direction was given")


def test_correct_is_a_rate_with_a_binomial_likelihood() -> None:
    rows = answers()
    tally = bg.tally(rows, ["language"], ["correct"], correct="right")
    counts = rows.groupby("language")["right"].agg(["sum", "size"])
    from_counts = bg.tally_from_counts(
        counts["sum"], counts["size"], pd.DataFrame({"language": counts.index}), metric="correct"
    )
    for name in ("successes", "count", "estimate", "sampling_variance", "status", "reason", "kind", "larger_is_better"):
        xr.testing.assert_equal(tally[name], from_counts[name])
    assert tally["kind"].item() == "rate"
    assert binary_notes(tally) == []
    words = metric_words(tally, "correct")
    assert (words.title, words.direction) == ("Share correct", "larger is better")


@pytest.mark.parametrize("kind", ["polars", "polars lazy", "arrow", "duckdb", "dask", "chunks", "csv"])
@pytest.mark.parametrize("grade", [bool, float])
@pytest.mark.parametrize("more", [{}, {"weights": "weight"}, {"cluster": "item"}], ids=["rows", "weights", "clusters"])
def test_correct_is_the_same_of_every_frame(kind: str, grade: type, more: dict[str, str], tmp_path: Path) -> None:
    rows = answers().astype({"right": grade})

    def tally(frame: object) -> xr.Dataset:
        return bg.tally(frame, ["language"], ["correct", "mean"], correct="right", loss="right", **more)  # type: ignore[arg-type]

    frame: Any
    if kind == "duckdb":
        need("duckdb")
        import duckdb

        frame = duckdb.connect().from_df(rows)
    elif kind == "dask":
        need("dask")
        import dask.dataframe as dd

        frame = dd.from_pandas(rows, npartitions=2)
    elif kind == "csv":
        frame = tmp_path / "rows.csv"
        rows.to_csv(frame, index=False)
    else:
        in_memory: dict[str, Callable[[pd.DataFrame], Any]] = {
            "polars": pl.from_pandas, "polars lazy": lambda rows: pl.from_pandas(rows).lazy(),
            "arrow": pa.Table.from_pandas, "chunks": lambda rows: iter([rows.iloc[:70], rows.iloc[70:]]),
        }  # fmt: skip
        frame = in_memory[kind](rows)
    found, wanted = tally(frame), tally(rows)
    assert found.attrs == wanted.attrs
    assert json.loads(found.attrs["settings"])["binary_means"] == {"mean": "right"}
    xr.testing.assert_allclose(found, wanted, rtol=1e-12)


def test_the_mean_of_zeros_and_ones_says_what_to_use_instead() -> None:
    rows = answers()
    tally = bg.tally(rows, ["language"], ["mean"], loss="right")
    said = (
        "mean: column 'right' holds only 0 and 1: use correct= or a rate for a binomial likelihood; larger values are taken to "
        "be worse"
    )
    assert binary_notes(tally) == [said]
    report = bg.estimate(tally, bg.NoPooling(), seed=1)
    assert json.loads(report.attrs["notes"]) == [said]
    turned = bg.tally(rows, ["language"], ["mean"], loss="right", larger_is_better=True)
    assert binary_notes(turned)[0].endswith("larger values are better, as said")
    wrong = bg.Metric("wrong", value="right", larger_is_better=False)
    assert binary_notes(bg.tally(rows, ["language"], wrong))[0].startswith("wrong: column 'right' holds only 0 and 1")
    for kept in (0.5, 2.0, -1.0):
        mixed = rows.assign(right=rows["right"].astype(float).where(rows.index != 3, kept))
        assert binary_notes(bg.tally(mixed, ["language"], ["mean"], loss="right")) == []
        assert binary_notes(bg.add_tallies([tally, bg.tally(mixed, ["language"], ["mean"], loss="right")])) == []
    assert len(binary_notes(bg.add_tallies([tally, tally]))) == 1


@pytest.mark.usefixtures("no_pictures")
def test_the_page_says_the_direction_and_how_to_make_it_again(tmp_path: Path) -> None:
    rows = answers()
    tally = bg.tally(rows, ["language"], ["mean"], loss="right", larger_is_better=False)
    report = bg.estimate(tally, bg.NoPooling(), seed=1)
    assert "larger_is_better=False" in origin(report)["code"]
    assert metric_words(tally, "mean").direction == "smaller is better"
    turned = bg.tally(
        rows, ["language"], ["mean", "correct"], loss="right", correct="right", larger_is_better={"mean": True}
    )
    page = bg.write_html(bg.estimate(turned, bg.NoPooling(), seed=1), tmp_path / "page.html").read_text("utf-8")
    assert "correct=&#39;right&#39;, larger_is_better={&#39;mean&#39;: True}" in page
    assert "The worst value is the lowest one." in page
    assert "The worst value is the highest one." not in page
    assert "holds only 0 and 1" in page
    assert "Mean loss" not in page
    assert metric_words(bg.tally(rows, ["language"], "mean", loss="right"), "mean").direction.endswith(
        "no direction was given"
    )


def test_neighbours_pass_a_direction_on() -> None:
    from sklearn.linear_model import LinearRegression

    x = np.arange(60.0)[:, None]
    y = x[:, 0] + np.tile([0.0, 3.0, -3.0], 20)
    model, by = LinearRegression().fit(x, y), {"sex": ["f", "m"] * 30}
    gain = bg.tally_from_estimator(
        model, x, y, by=by, loss=lambda truth, said: -abs(truth - said), larger_is_better=True
    )
    assert gain["larger_is_better"].values.tolist() == [1]
    score = tally_from_scorer(model, x, y, by=by, scoring="r2", seed=1, upper=1.0)
    assert (score["larger_is_better"].item(), direction_note(score)) == (1, "")


def test_performance_of_candidates_is_turned_so_that_larger_is_better() -> None:
    from bayesgroups.questions.tradeoffs import points_from_reports

    def fairness(values: xr.DataArray) -> xr.DataArray:
        return values.isel(metric=0, subgroup=0, drop=True)

    reports = {name: {"one": bg.estimate(of_counts(name), bg.NoPooling(), seed=1)} for name in ("acc", "fnr")}
    values = {name: points_from_reports(reports[name], fairness, performance=name)["performance"] for name in reports}
    assert float(values["acc"].mean()) == pytest.approx(0.7, abs=0.02)
    assert float(values["fnr"].mean()) == pytest.approx(0.3, abs=0.02)
    rows = answers().assign(loss=lambda rows: rows["right"] * 3.7)
    lost = {"one": bg.estimate(bg.tally(rows, ["language"], "mean", loss="loss"), bg.NoPooling(), seed=1)}
    with pytest.raises(
        InputError, match=r"performance='mean': smaller values of this metric are better in report 'one'"
    ):
        points_from_reports(lost, fairness, performance="mean")


def test_commands_take_a_direction(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    table, rows, tally = tmp_path / "table.csv", tmp_path / "rows.csv", tmp_path / "t.nc"
    SITES.assign(successes=[45, 20, 40], trials=50, estimate=[0.9, 0.4, 0.8], se=0.01).to_csv(table, index=False)
    answers().to_csv(rows, index=False)

    def worst(*words: str) -> tuple[str, str]:
        capsys.readouterr()
        assert run(["certify", *words]) == 0
        shown = capsys.readouterr().out
        assert run(["certify", *words, "--json"]) == 0
        return worst_subgroups(json.loads(capsys.readouterr().out))[0], shown

    made = {
        "tally-from-counts": ["--metric", "refusals"], "tally-from-estimates": ["--metric", "refusals", "--std-error", "se"],
    }  # fmt: skip
    for command, options in made.items():
        for direction, expected in (([], "a"), (["--larger-is-better"], "b"), (["--smaller-is-better"], "a")):
            assert run([command, str(table), "--by", "site", *options, *direction, "-o", str(tally)]) == 0
            found, shown = worst(str(tally))
            assert found == expected
            assert ("no direction was given" in shown) == (not direction)
        assert worst(str(tally), "--larger-is-better")[0] == "b"
    line = [str(rows), "--by", "language", "--metric", "mean", "--loss", "right"]
    assert worst(*line)[0] == "en"
    assert worst(*line, "--larger-is-better")[0] == "sw"
    assert run(["tally", *line, "--larger-is-better", "-o", str(tally)]) == 0
    assert "Note: mean: column 'right' holds only 0 and 1" in " ".join(capsys.readouterr().out.split())
    assert worst(str(tally))[0] == "sw"
    assert run(["estimate", *line, "--larger-is-better", "-o", str(tmp_path / "r.nc")]) == 0
    assert worst(str(tmp_path / "r.nc"))[0] == "sw"
    assert worst(str(tmp_path / "r.nc"), "--smaller-is-better")[0] == "en"
    assert worst(str(rows), "--by", "language", "--metric", "correct", "--correct", "right")[0] == "sw"


def test_analysis_files_take_correct_and_directions(tmp_path: Path) -> None:
    answers().to_csv(tmp_path / "rows.csv", index=False)
    plan = tmp_path / "analysis.toml"
    plan.write_text(
        'rows = "rows.csv"\n[tally]\nby = ["language"]\nmetrics = ["correct", "mean"]\ncorrect = "right"\nloss = "right"\n'
        'larger_is_better = {mean = true}\n[questions.worst]\nask = "certify"\nof = "tally"\noutput = "worst.json"\n'
    )
    done = bg.run_analysis(plan)
    assert done.tally["larger_is_better"].values.tolist() == [1, 1]
    assert worst_subgroups(json.loads((tmp_path / "worst.json").read_text())) == ["sw", "sw"]
