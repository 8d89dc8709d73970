"""Arguments of other types: an error that names argument, expectation and value, at every public function and estimator."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pandas as pd
import pytest
import xarray as xr

import bayesgroups as bg
from bayesgroups.data.argument_types import annotations_of, described, fits, is_closed
from bayesgroups.data.keywords import checked_keywords
from bayesgroups.errors import BayesgroupsError, InputError
from bayesgroups.estimators import ESTIMATORS

SITES = pd.DataFrame({"site": ["a", "b", "c"]})


@pytest.fixture(scope="module")
def counts() -> xr.Dataset:
    return bg.tally_from_counts([1, 3, 5], [10, 9, 8], SITES, metric="fnr")


@pytest.mark.parametrize(
    ("value", "annotation", "expected"),
    [
        (1, int, True), (np.int64(1), int, True), (1.0, int, False), (True, int, False), (1, float, True),
        (np.float32(1), float, True), (True, float, False), ("1", float, False), (10**400, float, False), (True, bool, True),
        (np.True_, bool, True), ("yes", bool, False), ("a", Literal["a"], True), ("b", Literal["a"], False),
        ([], Literal["a"], False), (["a"], Sequence[str], True), ([1], Sequence[str], False), ("a", Sequence[str], True),
        (pd.Index(["a"]), Sequence[str], True), (pd.Series([1]), Sequence[str], False), ({"a": 1}, Sequence[str], False),
        ({"a": 1}, Mapping[str, int], True), ({"a": "b"}, Mapping[str, int], False), (None, int | None, True),
        (Path(), Path, True), ("a", Path, False), ((1, 2), tuple[float, float], True), (3, tuple[float, float], False),
        (print, Callable[[], None], True), (3, Callable[[], None], False), (3, Any, True), (3, object, True),
        (xr.Dataset(), xr.Dataset, True), (3, xr.Dataset, False), ((x for x in "ab"), Iterable[str], True),
    ],
)  # fmt: skip
def test_values_and_annotations(value: object, annotation: Any, *, expected: bool) -> None:
    assert fits(value, annotation) is expected
    assert described(annotation)


def test_closed_annotations() -> None:
    assert is_closed(Literal["a"] | None)
    assert is_closed(bool)
    assert not is_closed(str | None)
    assert annotations_of({"a": "int", "b": "Absent", "c": float}, {}) == {"a": int, "c": float}


def test_a_function_knows_more_than_its_annotations() -> None:
    @checked_keywords
    def halved(number: float | Path, *, way: Literal["up", "down"] = "up") -> float:
        if str(number) == "two":
            raise InputError("write 2")
        return float(number) / 2 if str(number) != "four" else 2  # type: ignore[arg-type]

    assert halved(3) == 1.5
    with pytest.raises(InputError, match="write 2"):
        halved("two")  # type: ignore[arg-type]
    with pytest.raises(InputError, match=r"halved\(\): number= must be a number or a path; got 'six' \(str\)"):
        halved("six")  # type: ignore[arg-type]
    assert halved("four") == 2  # type: ignore[arg-type]
    with pytest.raises(InputError, match=r"halved\(\): way='sideways' is not one of 'up', 'down'"):
        halved(2, way="sideways")  # type: ignore[arg-type]
    with pytest.raises(ZeroDivisionError):
        checked_keywords(lambda number: number / 0)(1)


@pytest.mark.parametrize("value", ["zz", -1.5, ["q"], {"a": 1}, object()])
@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_settings_of_other_types(estimator: Any, value: object) -> None:
    types_of = annotations_of(estimator.__annotations__, vars(sys.modules[estimator.__module__]))
    for name in estimator().settings():
        try:
            made = estimator(**{name: value})
        except BayesgroupsError:
            continue
        assert fits(getattr(made, name), types_of.get(name, Any))


def test_messages_of_settings() -> None:
    with pytest.raises(InputError, match=r"^NoPooling: bootstrap= must be a whole number; got 'many' \(str\)$"):
        bg.NoPooling(bootstrap="many")  # type: ignore[arg-type]
    with pytest.raises(InputError, match="^JamesStein: positive_part= must be True or False; got 'no'"):
        bg.JamesStein(positive_part="no")  # type: ignore[arg-type]


def test_what_a_model_refuses_is_an_error_of_the_package(counts: xr.Dataset) -> None:
    with pytest.raises(InputError, match="covariate 'age' is no feature of the tally, which has none"):
        bg.estimate(counts, bg.CrossedEffects(covariates=("age",)), seed=1)


@pytest.mark.parametrize("value", [5, "zz", None, ["q"], {"a": 1}, object(), b"x", pd.Series([1]), xr.DataTree()])
def test_no_public_question_has_a_raw_error(value: Any, counts: xr.Dataset, tmp_path: Path) -> None:
    frame = pd.DataFrame({"site": ["a", "b"] * 4, "p": [0, 1, 1, 1] * 2})
    calls: dict[Any, dict[str, Any]] = {
        bg.tally: {"frame": frame, "by": ["site"], "metrics": ["sel"], "y_pred": "p"},
        bg.tally_from_counts: {"successes": [1], "trials": [2], "subgroups": SITES[:1]},
        bg.tally_from_estimates: {"estimate": [1], "sampling_variance": [2], "subgroups": SITES[:1]},
        bg.estimate: {"tally": counts, "estimator": bg.NoPooling(), "seed": 1},
        bg.ranks: {"source": counts}, bg.certify: {"source": counts}, bg.contrasts: {"source": counts},
        bg.disparity: {"source": counts}, bg.add_tallies: {"tallies": [counts]}, bg.margins: {"tally": counts},
        bg.save_tally: {"tally": counts, "path": tmp_path / "t.nc"}, bg.open_tally: {"path": tmp_path / "t.nc"},
    }  # fmt: skip
    for function, given in calls.items():
        for name in given:
            with warnings.catch_warnings(), pytest.MonkeyPatch.context() as patch:
                patch.chdir(tmp_path)
                warnings.simplefilter("error")
                try:
                    function(**{**given, name: value})
                except BayesgroupsError as problem:
                    message = str(problem)
                    if "must be" in message and "=" in message:
                        assert "got" in message or "must" in message
