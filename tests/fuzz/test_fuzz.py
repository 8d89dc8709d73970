"""A slice of the fuzzing: no raw error, no wrong number, no hang, no leaked warning; and what earlier runs found."""

from __future__ import annotations

import contextlib
import importlib
import inspect
import math
import operator
import re
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
import xarray as xr

import bayesgroups as bg
from bayesgroups.errors import InputError, SchemaError
from tests.fuzz import cases, every_argument
from tests.fuzz.__main__ import BLOCK
from tests.fuzz.calls import calls, report
from tests.fuzz.cases import CASES, WrongAnswerError
from tests.fuzz.outcomes import count, outcome
from tests.public_surface import names

COUNTS = bg.tally_from_counts([1, 3], [4, 9], pd.DataFrame({"g": ["a", "b"]}))
SEED = 20_261_125
"""Of the record."""
EVERY_ARGUMENT = Path(__file__).with_name("every_argument.csv")
CALLED = pd.read_csv(EVERY_ARGUMENT)["function"].tolist()
"""Functions that are called, as the record has them: a test holds it to be all."""
UNCALLED = [
    "datasets.binormal_metrics", "datasets.load_diabetes", "datasets.synthetic_metric", "metrics.class_of", "metrics.near_misses",
]  # fmt: skip
"""Public functions that no case calls: one fetches a file, two simulate, two are about words."""


@pytest.fixture(scope="module")
def record() -> pd.DataFrame:
    return pd.read_csv(Path(__file__).with_name("fuzz.csv"))


def test_the_record_has_twenty_thousand_cases_and_no_fault(record: pd.DataFrame) -> None:
    assert record["cases"].sum() >= 20_000
    assert set(record["category"]) == set(CASES)
    assert (record["refused"] + record["answered"]).equals(record["cases"])
    assert not record[["raw", "wrong", "hang", "warned"]].to_numpy().any()


@pytest.mark.record
def test_a_block_of_the_record_can_be_made_again(record: pd.DataFrame) -> None:
    start = 7 * BLOCK
    table, faults = count(BLOCK, SEED, start)
    assert faults == []
    kept = record[record["start"] == start].set_index("category")[["cases", "refused", "answered"]]
    assert {name: [found[each] for each in kept.columns] for name, found in table.items()} == kept.T.to_dict("list")


def test_no_argument_of_any_function_is_a_fault() -> None:
    found = pd.read_csv(EVERY_ARGUMENT).set_index("function")
    assert set(found.index) == set(calls())
    assert not found[["raw", "wrong", "hang", "warned"]].to_numpy().any()
    for name in (
        "bayesgroups.tallies.published.tally_from_counts",
        "bayesgroups.questions.tradeoffs.selection.select_model",
    ):
        again, faults = every_argument.count(name)
        assert faults == []
        assert [again[column] for column in ("cases", "refused", "answered")] == [
            *found.loc[name, ["cases", "refused", "answered"]]
        ]


def test_no_case_is_a_fault() -> None:
    table, faults = count(cases=60, seed=1)
    assert faults == []
    assert sum(each["cases"] for each in table.values()) == 60
    assert sum(each["answered"] for each in table.values()) > 10


@pytest.mark.parametrize("category", list(CASES))
def test_cases_are_the_same_again(category: str) -> None:
    assert outcome(category, 3, 4)[0] == outcome(category, 3, 4)[0]


def test_faults_are_told_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    def raw(*_: object) -> None:
        raise ZeroDivisionError("nothing")

    def wrong(*_: object) -> None:
        raise WrongAnswerError("2, not 1")

    def warned(*_: object) -> None:
        np.log(np.zeros(1))

    def endless(*_: object) -> None:
        while True:
            pass

    monkeypatch.setattr("tests.fuzz.outcomes.MAX_SECONDS", 0.2)
    for case, expected in ((raw, "raw"), (wrong, "wrong"), (warned, "answered"), (endless, "hang")):
        monkeypatch.setattr(cases, "CASES", {"x": case})
        monkeypatch.setattr("tests.fuzz.outcomes.CASES", {"x": case})
        result, _, leaked = outcome("x", 1, 1)
        assert (result, leaked) == (expected, case is warned)


def test_a_recount_notices_a_wrong_number(monkeypatch: pytest.MonkeyPatch) -> None:
    tally = bg.tally

    def shifted(*args: Any, **given: Any) -> Any:
        answer = tally(*args, **given)
        return answer.assign(estimate=answer["estimate"] + 0.01)

    monkeypatch.setattr(bg, "tally", shifted)
    assert "wrong" in {outcome("frames", 1, number)[0] for number in range(20)}


@pytest.mark.parametrize("ask", [bg.ranks, bg.certify, bg.contrasts])
def test_negative_seeds(ask: Any) -> None:
    with pytest.raises(InputError, match="seed.* must be a whole number, 0 or larger; got -1"):
        ask(COUNTS, seed=-1)


@pytest.mark.parametrize("seed", [2**63, 10**30])
def test_seeds_that_no_file_can_hold(seed: int) -> None:
    with pytest.raises(InputError, match=r"seed must be a whole number, 0 or larger and below 2\*\*63; got"):
        bg.ranks(COUNTS, seed=seed)


@pytest.mark.parametrize("positive", [xr.Dataset(), pd.DataFrame({"a": [1]}), np.array([0, 1]), [1]])
def test_positives_that_are_no_label(positive: object) -> None:
    frame = pd.DataFrame({"sex": ["f", "m"] * 4, "y": [0, 1, 1, 0] * 2, "d": [0, 1] * 4})
    for rows in (frame, pl.from_pandas(frame).lazy()):
        with pytest.raises(
            InputError, match="positive= must be one label of 'y' and 'd', such as 0, 1; got a value of type"
        ):
            bg.tally(rows, ["sex"], ["fnr"], y_true="y", y_pred="d", positive=positive)


def test_no_standards() -> None:
    with pytest.raises(InputError, match=r"standards=\[\] must be finite values of the metric"):
        bg.certify(COUNTS, standards=[])


def test_numbers_too_large_for_a_setting() -> None:
    with pytest.raises(
        InputError, match=r"JamesStein: centre= must be|StructuredRegression: expected_effects= must be"
    ):
        bg.StructuredRegression(expected_effects=10**400)


def test_names_of_files_that_are_too_long(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be written: File name too long"):
        bg.save_tally(COUNTS, tmp_path / ("x" * 300))
    with pytest.raises(InputError, match="cannot be read: File name too long"):
        bg.open_tally(tmp_path / ("x" * 300))


def test_every_public_function_is_called() -> None:
    """Those of the package, of its references, plots, metrics, neighbours and data sets; a model is built by its estimator."""
    called = {function for function, _ in calls().values()}
    missing = []
    for name in names():
        room, _, rest = name.partition(".")
        value = operator.attrgetter(name)(bg) if room not in ("frequentist", "metrics", "models") else None
        if room == "frequentist" and rest:
            value = importlib.import_module(f"bayesgroups.{name.rpartition('.')[0]}").estimate
        elif room == "metrics" and rest:
            value = getattr(bg.metrics, rest)
        if inspect.isfunction(value) and name != "metrics.checked_keywords" and value not in called:
            missing.append(name)
    assert missing == UNCALLED


@pytest.mark.parametrize("name", CALLED)
def test_ordinary_calls_are_answered(name: str, tmp_path: Path) -> None:
    function, given = calls()[name]
    missing = re.search("open_|read_|run_analysis|from_metric_frame", name)
    with contextlib.chdir(tmp_path):
        if missing:
            with pytest.raises(InputError, match="does not exist|must be a fairlearn MetricFrame"):
                function(**given)
        else:
            function(**given)


def test_axes_and_widths_that_cannot_be() -> None:
    with pytest.raises(InputError, match=r"axes= must be axes of Matplotlib; got a value of type list"):
        bg.plots.shrinkage(report(), axes=[1])  # type: ignore[arg-type]
    with pytest.raises(InputError, match="width= must be a number of inches from 1 to 100; got nan"):
        bg.plots.forest(report(), width=math.nan)


def test_names_of_what_is_no_tally() -> None:
    with pytest.raises(InputError, match="data must be a tally or a report; got a value of type str"):
        bg.name_levels("zz", {"g": {"a": "b"}})  # type: ignore[type-var]


def test_models_that_a_scorer_cannot_use() -> None:
    _, given = next(call for name, call in calls().items() if name.endswith("tally_from_scorer"))
    with pytest.raises(InputError, match=r"the scorer cannot use model=str: "):
        bg.interop.tally_from_scorer(**{**given, "model": "zz"})


def test_annotations_for_type_checkers_alone_are_checked() -> None:
    with pytest.raises(InputError, match=r"frontier\(\): methods= must be a mapping from a text to"):
        bg.plots.frontier(object(), anchor=0.5)  # type: ignore[arg-type]


def call(name: str, **replaced: Any) -> Any:
    """An ordinary call with other arguments."""
    function, given = next(each for key, each in calls().items() if key.endswith(f".{name}"))
    return function(**{**given, **replaced})


@pytest.mark.parametrize(
    ("name", "replaced", "message"),
    [
        ("roc_curve", {"fpr": b"x"}, "fpr= must hold numbers from 0 to 1"),
        ("tally_from_estimator", {"cluster": 10**400}, r"cluster= must be an array or None; got 1000"),
        ("tally_from_scorer", {"y": xr.Dataset()}, r"tally_from_scorer\(\): y= must be an array; got Dataset"),
        ("tally_from_scorer", {"y": "zz"}, r"y must have one value per row; its shape is \(\)"),
        ("tally_from_scorer", {"X": 1.5}, "X must have one row per value of y, which has 180; it has none"),
        ("tally_from_scorer", {"X": pd.DataFrame({"x": [1]})}, "X must have one row per value of y, which has 180; it has 1"),
        ("paired_tally", {"systems": []}, "name the columns of the systems"),
        ("prior_predictive", {"draws": 10**400}, "draws must be a whole number of at most 10,000,000; got 1000000"),
        ("disparity", {"draws": 10**9}, "draws must be a whole number of at most 10,000,000; got 1000000000"),
        ("complete_pooling.estimate", {"tally": xr.Dataset()}, r"tally must come from bg.tally\(\) or a related function"),
        ("certify", {"level": 1e-320}, "level=1e-320 must lie strictly between 0 and 1"),
        ("rows.tally", {"frame": "x" * 300}, "xxx': File name too long"),
        ("rows.tally", {"by": range(3)}, "by= must be a sequence, each a text"),
        ("tally_from_estimator", {"X": None}, "X must have one row per value of y, which has 180; it has none"),
        ("disagreement_tally", {"labels": np.int64(3)}, "labels= must be a sequence"),
        ("save_tally", {"path": "\ud800"}, "cannot be written: .*surrogates not allowed"),
        ("contrast.contrasts", {"reference": -1}, "reference=-1 lies outside the range of metric 'tpr', 0 to 1"),
        ("roc_curve", {"fpr": ["q"]}, "fpr= must hold numbers from 0 to 1"),
        ("calibration_curve", {"bins": 2**63}, "bins must be a whole number, 1 or larger and at most 100,000"),
        ("reporting_checklist", {"anchor": np.array(["a"])}, "anchor must be .performance, fairness., two finite numbers"),
        ("maihda.maihda", {"source": xr.DataTree()}, "not a report of bayesgroups"),
        ("rows_to_label", {"source": xr.DataTree()}, "not a report of bayesgroups"),
        ("metric_frame", {"report": xr.DataTree()}, "not a report of bayesgroups"),
        ("export_report", {"report": xr.DataTree()}, "not a report of bayesgroups"),
        ("read_logs", {"source": range(3)}, "source must be paths of logs or of folders; one is a int"),
        ("disparity_posterior", {"level": 2}, "level=2 must lie strictly between 0 and 1"),
        ("calibration_plot.coverage", {"by": ()}, "by= names no column"),
        ("discoveries", {"tolerance": 1e308}, "tolerance=1e\\+308 must be a finite number .* 1e\\+150 at most"),
        ("discoveries", {"reference": 1e308}, "is not 'overall', 'rest' or a value of the metric"),
        ("compare_auc_pfc", {"anchor": 1e308}, "anchor must be .performance, fairness., two finite numbers"),
        ("james_stein.estimate", {"centre": "zz"}, "centre= must be one number, or one per metric .1.; got str"),
        ("subsampling", {"repeats": 2**63}, "repeats must be a whole number of at most 10,000,000"),
        ("calibrate", {"folder": "\ud800"}, "surrogates not allowed"),
        ("run_analysis", {"path": "x" * 300}, "xxx': File name too long"),
        ("prior_predictive", {"draws": 10**5000}, "got a number of more than 4300 digits"),
        ("tally_from_counts", {"successes": [pd.Series([1])] * 6}, "successes= must hold numbers"),
    ],
)  # fmt: skip
def test_arguments_that_no_function_can_use(name: str, replaced: dict[str, Any], message: str) -> None:
    with pytest.raises((InputError, SchemaError), match=message):
        call(name, **replaced)
