"""Questions on the command line: every public one has a command, and every command one shape of JSON and of tables."""

from __future__ import annotations

import csv
import inspect
import json
import re
from pathlib import Path
from typing import Any

import jsonschema
import pandas as pd
import pytest
import xarray as xr

import bayesgroups as bg
from bayesgroups.cli import PIPELINE, app, results, run
from bayesgroups.cli.options import AnswerOptions
from bayesgroups.cli.questions import QUESTIONS as GENERATED
from bayesgroups.cli.results import publish
from bayesgroups.views.tables import answer_schema, report_schema

Captured = pytest.CaptureFixture[str]
NOT_ASKED_FOR = {
    "Metric": "an expression, which only a program can write",
    "save_tally": "every command that makes a tally",
    "open_tally": "every command that takes one",
    "save_report": "estimate --output",
    "open_report": "every command that takes one",
    "tally_from_estimator": "takes a fitted model",
    "tally_from_cells": "takes arrays of counts by subgroup, outcome and decision",
    "report_from_draws": "takes draws in memory",
    "run_analysis": "run",
    "name_levels": "--level-name of tally and estimate",
    "add_groups": "what ArviZ reads in memory, which the reports of every command hold enough for",
    "Population": "study",
    "PopulationSample": "poststratify --sampled",
    "citations": "gives text for a bibliography, of a report in memory",
    "word_errors": "takes texts in memory",
    "goodness_of_fit_rows": "takes rows in memory",
    "subsampling": "takes a model to train",
    "calibrate": "takes a function that draws truths, data and posteriors",
}
"""Public names without a command of their own, and why or where."""


QUESTIONS = [
    "loo r.nc",
    "disparity r.nc --measure gini",
    "disparity t.nc --measure variance --corrected",
    "between-group-variance t.nc --method reml",
    "posterior-variance r.nc",
    "goodness-of-fit t.nc --formula 1 --formula race",
    "maihda m.nc",
    "variance-attribution x.nc",
    "fairness-definitions t.nc",
    "desiderata t.nc",
    "certify r.nc --standard 0.3",
    "simultaneous-intervals r.nc",
    "ranks r.nc",
    "discoveries r.nc --reference rest",
    "contrasts r.nc --reference rest --beyond ratio=1.25",
    "contrasts t.nc --reference sex=Male --within race --scale difference",
    "contrasts t.nc --reference 0.5 --beyond ratio=0.8 --beyond ratio=1.25",
    "contrasts sel.nc --contrasts coefficients.csv --population people.csv",
    "impact-ratios r.nc --smallest-share 0.02",
    "margins t.nc",
    "rows-to-certify t.nc --standard 0.6 --assume r.nc",
    "rows-to-narrow t.nc",
    "minimum-detectable-gap t.nc",
    "probability-of-finding-worst t.nc --factor 2",
    "threshold-curve auc.nc --at 0.5 --draws 100",
    "roc-curve auc.nc --at 0.1 --draws 100",
    "threshold-curve rows.csv --by sex --metric net_benefit --metric tpr --y-true outcome --y-score risk --at 0.3 --draws 100",
    "calibration-curve auc.nc --bins 2 --draws 100",
    "auc-intervals auc.nc",
    "auc-error-bound auc.nc",
    "judge-corrected j.nc",
    "rows-to-label j.nc --number 120",
    "aggregate classes.nc --metric fnr --group-power max_gap --center mean",
    "aggregate confusion.csv --group-power max_gap --class-power none",
    "reporting-checklist confusion.csv",
    "pareto-frontier models.csv",
    "pareto-frontier plain.csv --by strength --draws 20",
    "pareto-frontier systems.nc",
    "points-from-reports r.nc x.nc --performance fnr --fairness fnr --group-power max_gap --center mean",
    "frontier-band plain.csv --by strength --draws 20 --anchor 0.3 1 --at 0.5 --at 0.7",
    "frontier-band systems.nc --anchor 0.3 1",
    "distance-to-optimum models.csv",
    "auc-pfc models.csv --anchor 0.3 1",
    "select-model models.csv --criterion P@F+5% --vanilla a",
    "compare-auc-pfc plain.csv fair.csv --by strength --draws 20 --anchor 0.3 1",
    "disagreement-bounds d.nc --notion calibration",
    "disagreement-bounds d.nc --notion calibration --across subgroups",
    "disagreement-sets d.nc --notion equal_opportunity --draws 50",
    "disagreement-sets d.nc --notion equal_opportunity --draws 50 --kind credible",
    "compare-systems p.nc --overall --interval tango",
    "leaderboard p.nc",
    "prior-sensitivity r.nc",
    "prior-predictive t.nc --draws 50",
    "study rows.csv --by sex --metric fnr --y-true outcome --y-score risk --threshold 0.5 --rows 60 --draws 2",
]


def words(line: str, folder: Path) -> list[str]:
    return [str(folder / word) if word.endswith((".nc", ".csv")) else word for word in line.split()]


WITHOUT_LEVEL = {
    "disagreement-bounds": "bounds that count no sampling error",
    "auc-pfc": "ends of the range of an area",
}
"""Commands whose answers have ends that no level belongs to."""


def check_limits(printed: str, file: Path, command: str) -> None:
    """Whatever is printed or written with limits says their level and kind, the file their method and what they are of."""
    told = " ".join(printed.split())
    if re.search(r" \[-?[\d.]+, -?[\d.]+\]| (confidence|credible) lower", told):
        assert re.search(r"\b[\d.]+% [a-z-]+|level", told.partition("─")[0]), told
    table = pd.read_csv(file)
    limits = [name for name in table if re.fullmatch(r"lower|(?!bin_|range_).*_lower", name)]
    if not limits or command in WITHOUT_LEVEL:
        return
    assert {"level", "interval_kind", "interval_method"} <= set(table.columns), list(table.columns)
    assert table[["level", "interval_kind"]].notna().all(axis=None)
    for name in limits:
        of = name.removesuffix("lower").removesuffix("_")
        assert set(ESTIMATES.get(name, [of])) & set(table.columns), (name, list(table.columns))


ESTIMATES = {
    "lower": ["estimate", "difference", "value", "mean", "share", "rank", "impact_ratio", "fairness", "truncated", "midpoint",
              "credible_lower"],
    "gold_lower": ["gold_estimate"], "band_lower": ["estimate", "difference"], "confidence_lower": ["midpoint"],
    "credible_lower": ["midpoint", "lower"], "performance_lower": ["performance_mean"], "fairness_lower": ["fairness_mean"],
}  # fmt: skip
"""Names of what limits are of, where their own names do not have it."""


@pytest.mark.parametrize("line", QUESTIONS)
def test_a_question_prints_a_table_and_the_one_shape_of_json(
    line: str, folder: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    published: list[str] = []

    def in_all_forms(answer: xr.Dataset, question: str, wanted: AnswerOptions, **more: Any) -> int:
        target = folder / "answer.csv"
        for form in (
            AnswerOptions(),
            AnswerOptions(json=True, output=folder / "answer.nc"),
            AnswerOptions(output=target),
        ):
            assert publish(answer, question, form, **more) == 0
            published.append(capsys.readouterr().out)
        return 0

    monkeypatch.setattr(results, "publish", in_all_forms)
    assert run(words(line, folder)) == 0
    assert capsys.readouterr().err == ""
    table, text, _ = published
    assert "─" in table
    check_limits(table, folder / "answer.csv", line.split(maxsplit=1)[0])
    document = json.loads(text)
    jsonschema.validate(document, answer_schema(), cls=jsonschema.Draft202012Validator)
    assert document["question"].split("_")[0] in {*line.split(maxsplit=1)[0].split("-"), "confidence", "credible"}
    assert document["tables"]
    for part in document["tables"]:
        for record in part["records"]:
            missing = {name for name in part["values"] if record[name] is None}
            assert missing == set(record.get("nulls", {}))
    with xr.open_dataset(folder / "answer.nc", engine="h5netcdf") as stored:
        assert stored.data_vars


def test_every_public_question_has_a_command() -> None:
    by_hand = {command.__name__ for commands in PIPELINE.values() for command in commands}
    there = by_hand | set(GENERATED)
    functions = {name for name in bg.__all__ if inspect.isfunction(getattr(bg, name))}
    assert functions - there - set(NOT_ASKED_FOR) == set()
    assert set(NOT_ASKED_FOR) & there == set()


def test_every_command_has_help_and_an_example() -> None:
    for name in (name for name in app if not name.startswith("-")):
        command = app[name]
        assert f"bayesgroups {name}" in command.help, name
        for argument in command.assemble_argument_collection(parse_docstring=True):
            if argument.name != "*":
                assert argument.parameter.help, f"{name}: {argument.name} is not explained"


def test_a_report_is_json_of_its_schema(folder: Path, capsys: Captured) -> None:
    for asked in (["show", "r.nc"], ["estimate", "t.nc", "--estimator", "no_pooling"]):
        assert run([*words(" ".join(asked), folder), "--json"]) == 0
        document = json.loads(capsys.readouterr().out)
        jsonschema.validate(document, report_schema(), cls=jsonschema.Draft202012Validator)
    assert run([*words("compare r.nc r.nc", folder)[:2], "--json"]) == 0
    jsonschema.validate(json.loads(capsys.readouterr().out), answer_schema())
    for name in ("show t.nc", "tally rows.csv --by sex --metric acc --y-true outcome --y-score risk --threshold 0.5"):
        assert run([*words(name, folder), "--json"]) == 0
        jsonschema.validate(json.loads(capsys.readouterr().out), answer_schema())


def test_tallies_of_other_sources(folder: Path, tmp_path: Path, capsys: Captured) -> None:
    target = tmp_path / "x.nc"
    lines = [
        "tally-from-counts counts.csv --by site --metric fnr",
        "tally-from-estimates counts.csv --by site --std-error se --lower 0 --upper 1",
        "add-tallies t.nc t.nc",
        "auc-as-rate auc.nc",
        "with-auc-variance auc.nc --variance delong",
        "bin-scores auc.nc --bins 20",
        "paired-tally answers.csv --by race --compare NEW=new --compare OLD=old",
        "paired-tally answers.csv --by race --compare new --compare old --metric mean",
        "disagreement-tally judgements.csv --by race --label label --disagrees disagrees",
    ]
    for line in lines:
        assert run([*words(line, folder), "-o", str(target)]) == 0
        assert "Wrote the tally" in capsys.readouterr().out
        assert bg.open_tally(target)["estimate"].size > 0
    assert float(bg.open_tally(target)["rows"].sum()) == 160
    assert run(words("estimate", folder) + [str(target), "--estimator", "disagreement", "--show", "1"]) == 0


def test_patterns_of_files_are_summed_where_they_are(folder: Path, tmp_path: Path, capsys: Captured) -> None:
    rows = pd.read_csv(folder / "rows.csv")
    for i, part in enumerate((rows[:50], rows[50:])):
        part.to_csv(tmp_path / f"part{i}.csv", index=False)
        part.to_parquet(tmp_path / f"part{i}.parquet", index=False)
    asked = ["--by", "sex", "--metric", "acc", "--y-true", "outcome", "--y-score", "risk", "--threshold", "0.5"]
    printed = []
    for source in (folder / "rows.csv", tmp_path / "*.csv", tmp_path / "*.parquet"):
        assert run(["tally", str(source), *asked]) == 0
        printed.append(capsys.readouterr().out)
    assert printed[0] == printed[1] == printed[2]


def test_answers_are_written_in_three_forms(folder: Path, tmp_path: Path, capsys: Captured) -> None:
    asked = words("rows-to-certify t.nc --standard 0.01", folder)
    for name in ("a.json", "a.csv", "a.nc"):
        assert run([*asked, "--output", str(tmp_path / name)]) == 0
    assert "Wrote the answer to" in capsys.readouterr().out
    document = json.loads((tmp_path / "a.json").read_text("utf-8"))
    assert any(
        set(record.get("nulls", {}).values()) == {"infinite"}
        for table in document["tables"]
        for record in table["records"]
    )
    with (tmp_path / "a.csv").open(encoding="utf-8") as file:
        assert {"metric", "subgroup", "needed"} <= set(next(csv.reader(file)))


def test_a_file_says_of_every_row_what_smaller_tables_say_of_its_subgroup(folder: Path, tmp_path: Path) -> None:
    target = str(tmp_path / "a.csv")
    assert run([*words("certify r.nc --standard 0.3 --standard 0.4", folder), "-o", target]) == 0
    certified = pd.read_csv(target)
    assert {"probability_reached", "estimate", "lower", "upper", "count"} <= set(certified.columns)
    assert len(certified) == 8
    assert set(certified["level"]) == {0.95}
    estimates = bg.certify(bg.open_report(folder / "r.nc"))["estimate"].sel(metric="fnr")
    for row in certified.itertuples():
        assert row.estimate == pytest.approx(float(estimates.sel(subgroup=row.subgroup)), rel=1e-12)


def test_tables_are_printed_alike_whether_a_file_is_written_or_not(
    folder: Path, tmp_path: Path, capsys: Captured
) -> None:
    asked = words("judge-corrected j.nc", folder)
    assert run(asked) == 0
    printed = capsys.readouterr().out
    assert run([*asked, "-o", str(tmp_path / "a.csv")]) == 0
    assert capsys.readouterr().out.startswith(printed)
    assert sorted(set(pd.read_csv(tmp_path / "a.csv")["level"])) == [0.5, 0.8, 0.9, 0.95]


def test_a_table_without_numbers_says_why(tmp_path: Path, capsys: Captured) -> None:
    bg.save_tally(bg.tally_from_counts([3], [10], pd.DataFrame({"sex": ["f"]}), metric="fnr"), tmp_path / "one.nc")
    assert run(["between-group-variance", str(tmp_path / "one.nc")]) == 0
    printed = " ".join(capsys.readouterr().out.split())
    assert "a fewer than two subgroups with an estimate" in printed
    assert printed.endswith("n: 10 rows in 1 subgroup")


@pytest.mark.parametrize(
    ("line", "size"),
    [
        ("disparity r.nc --measure gini", "n: 75 rows in 4 subgroups"),
        ("auc-error-bound auc.nc", "n: 160 rows in 4 subgroups"),
        ("ranks auc.nc", "n: 160 rows in 4 subgroups"),
        ("roc-curve auc.nc --at 0.1 --draws 100", "positives negatives"),
        ("leaderboard p.nc", "system items value"),
        ("judge-corrected j.nc", "subgroup judged labelled corrected"),
        ("disparity j.nc --measure variance", "effective rows in 2 subgroups; tpr "),
        ("disparity e.nc --measure variance", "n: published estimates of 3 subgroups"),
    ],
)
def test_tables_say_how_many_rows_are_behind_them(line: str, size: str, folder: Path, capsys: Captured) -> None:
    published = bg.tally_from_estimates([0.1, 0.2, 0.3], [0.01] * 3, pd.DataFrame({"site": list("abc")}))
    bg.save_tally(published, folder / "e.nc")
    assert run(words(line, folder)) == 0
    assert size in " ".join(capsys.readouterr().out.split())


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("contrasts r.nc --reference rest", "P(beyond): posterior probability of a ratio below 0.8"),
        ("contrasts r.nc --reference rest --beyond difference=0.05 --beyond ratio=1.25",
         "P(beyond): posterior probability of a difference above 0.05; ratio above 1.25"),
        ("simultaneous-intervals r.nc", "95% simultaneous credible (posterior-max-t) intervals"),
    ],
)  # fmt: skip
def test_tables_say_what_is_beyond_and_what_holds_together(
    line: str, told: str, folder: Path, capsys: Captured
) -> None:
    assert run(words(line, folder)) == 0
    assert told in " ".join(capsys.readouterr().out.split())


def test_net_benefits_stand_in_tables_of_net_benefits_alone(
    folder: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "200")  # headings in one line
    asked = (
        "threshold-curve rows.csv --by sex --metric net_benefit --metric tpr --y-true outcome --y-score risk --at 0.3"
    )
    assert run([*words(asked, folder), "--draws", "100"]) == 0
    tables = capsys.readouterr().out.split("\n\n")
    for table in tables[:-1]:
        assert ("beyond treat all" in table) == ("net_benefit, " in table)
        assert ("P(useful)" in table) == ("bayesian, net_benefit, " in table)


def test_settings_reach_the_estimator(folder: Path, tmp_path: Path, capsys: Captured) -> None:
    asked = [*words("estimate t.nc", folder), "--show", "0", "-o", str(tmp_path / "r.nc")]
    assert run([*asked, "--set", "tau_scale=1", "--set", "interval=robust"]) == 0
    settings = json.loads(bg.open_report(tmp_path / "r.nc").attrs["settings"])
    assert (settings["tau_scale"], settings["interval"]) == (1.0, "robust")
    assert run(words("export", folder) + [str(tmp_path / "r.nc"), "-o", str(tmp_path / "r.csv")]) == 0
    assert len(pd.read_csv(tmp_path / "r.csv")) == 4
    capsys.readouterr()


def test_an_answer_of_a_report_that_is_not_usable_says_so(
    report: xr.DataTree, tmp_path: Path, capsys: Captured
) -> None:
    report.attrs["usable"] = 0
    bg.save_report(report, tmp_path / "r.nc")
    asked = ["disparity", str(tmp_path / "r.nc"), "--measure", "gini"]
    assert run(asked) == 1
    assert "NOT usable" in capsys.readouterr().err
    assert run([*asked, "--json"]) == 1
    assert json.loads(capsys.readouterr().out)["usable"] is False


def test_an_answer_whose_own_fits_are_not_usable_says_so(tmp_path: Path, capsys: Captured) -> None:
    """Of a tally there is no report that could say so."""
    who = pd.DataFrame([(a, b) for a in "abcdefgh" for b in "xyz"], columns=["race", "age"])
    rates = [2, 198, 5, 195, 1, 199, 3, 190, 2, 198, 197, 4] * 2
    bg.save_tally(bg.tally_from_counts(rates, [200] * 24, who, metric="fnr"), tmp_path / "wide.nc")
    assert run(["maihda", str(tmp_path / "wide.nc")]) == 1
    written = capsys.readouterr()
    assert "NOT usable: a fit behind this answer failed its diagnostics" in written.err
    assert "not usable: fnr: the prior probability" in written.out
    assert run(["maihda", str(tmp_path / "wide.nc"), "--json"]) == 1
    assert json.loads(capsys.readouterr().out)["usable"] is False


def test_a_shell_completes_the_commands() -> None:
    assert "simultaneous-intervals" in app.generate_completion(shell="bash")


def test_what_a_function_warns_of_is_a_note(tmp_path: Path, folder: Path, capsys: Captured, recwarn: Any) -> None:
    import warnings

    points = {"performance": [0.8, None], "fairness": [0.6, 0.7]}
    pd.DataFrame({"candidate": ["a", "b"], **points}).to_csv(tmp_path / "m.csv", index=False)
    with warnings.catch_warnings():
        warnings.simplefilter("default")
        assert run(["pareto-frontier", str(tmp_path / "m.csv")]) == 0
        assert "Note: " in capsys.readouterr().err
        assert run([*words("select-model models.csv --criterion P@F+5%", folder), "--threshold", "2"]) == 2
    assert "meets the threshold" in " ".join(capsys.readouterr().err.split())


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        (
            "rows-to-certify t.nc --standard 0.01 --power 0.9 --level 0.99",
            "needed: with probability 0.9 all one-sided 99% limits are beyond the standard 0.01",
        ),
        (
            "rows-to-narrow t.nc --factor 0.25",
            "needed: every interval is at most 0.25 times as wide as the widest is now",
        ),
        (
            "minimum-detectable-gap t.nc --correction none",
            "gap: a one-sided test at 95% confidence, without correction, shows it with probability 0.8",
        ),
        (
            "minimum-detectable-gap t.nc --power 0.7",
            "gap: a one-sided test at 95% confidence, corrected for all subgroups (bonferroni), shows it with probability 0.7",
        ),
    ],
)
def test_plans_say_what_they_are_for(line: str, sentence: str, folder: Path, capsys: Captured) -> None:
    assert run(words(line, folder)) == 0
    assert sentence in " ".join(capsys.readouterr().out.split())
