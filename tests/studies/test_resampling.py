"""Studies: the same numbers for the same seed, on any number of processes, in one go or resumed."""

from __future__ import annotations

import hashlib
import sys
from functools import partial
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
import xarray as xr

import bayesgroups as bg
from bayesgroups.errors import EngineError, InputError
from bayesgroups.frequentist import partial_pooling
from bayesgroups.studies import resampling
from bayesgroups.studies.resampling import Entry, study
from examples.comparisons import entrants
from tests.studies.small_population import halved, population, standard

REFERENCES: dict[str, Entry] = {"standard": standard, "half": halved}


def _bytes(folder: Path) -> dict[str, str]:
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in sorted(folder.iterdir())}


def test_all_estimators_answer_the_same_draws() -> None:
    some = population()
    found = study(some, REFERENCES, draws=3, seed=1)
    assert found["estimate"].dims == ("estimator", "draw", "metric", "subgroup")
    assert found["lower"].dims == ("estimator", "draw", "metric", "subgroup", "level")
    np.testing.assert_array_equal(found["estimate"].sel(estimator="standard"), found["standard"])
    np.testing.assert_array_equal(found["estimate"].sel(estimator="half"), found["standard"] / 2)
    np.testing.assert_array_equal(found["standard"].sel(draw=2), some.draw(2, seed=1).tally["estimate"])
    xr.testing.assert_identical(found["truth"].drop_attrs(), some.truth().drop_vars(["race", "sex"]).drop_attrs())
    assert found["range_upper"].values.tolist() == [1.0, 1.0, np.inf]


def test_an_estimator_is_recorded_with_both_sides() -> None:
    some = population()
    found = study(some, {"pooled": bg.PartialPooling(), "eb": partial_pooling.estimate}, draws=1, seed=4)
    assert found["estimator"].values.tolist() == ["pooled (bayesian)", "pooled (frequentist)", "eb"]
    report = bg.estimate(some.draw(0, seed=4).tally, bg.PartialPooling(), seed=4)
    estimates = report["estimates"].to_dataset()
    for side in ("bayesian", "frequentist"):
        one = found.sel(estimator=f"pooled ({side})", draw=0)
        point = estimates["median"] if side == "bayesian" else estimates["estimate"].sel(approach=side)
        np.testing.assert_array_equal(one["estimate"], point)
        np.testing.assert_array_equal(one["lower"], estimates["lower_unclipped"].sel(approach=side))
    np.testing.assert_array_equal(found["upper"][1], found["upper"][2])
    assert found["usable"].values.tolist() == [[1], [1], [1]]


def test_more_draws_leave_the_first_ones_as_they_were() -> None:
    few, many = (study(population(), REFERENCES, draws=draws, seed=1) for draws in (2, 4))
    xr.testing.assert_identical(few, many.isel(draw=slice(2)))


def test_same_seed_same_bytes(tmp_path: Path) -> None:
    for name in ("one", "two"):
        study(population(), REFERENCES, draws=2, seed=1, folder=tmp_path / name)
    assert _bytes(tmp_path / "one") == _bytes(tmp_path / "two")
    assert len(_bytes(tmp_path / "one")) == 4


def test_processes_change_nothing(tmp_path: Path) -> None:
    entries: dict[str, Entry] = {
        "standard": entrants.standard,
        "eb": partial(partial_pooling.estimate, interval="robust"),
    }
    alone = study(population(), entries, draws=3, seed=1, folder=tmp_path / "alone")
    told: list[tuple[str, int, int]] = []
    together = study(
        population(), entries, draws=3, seed=1, workers=2, folder=tmp_path / "together",
        progress=lambda *said: told.append(said),
    )  # fmt: skip
    xr.testing.assert_identical(alone, together)
    assert _bytes(tmp_path / "alone") == _bytes(tmp_path / "together")
    assert told == [("people", done, 3) for done in (1, 2, 3)]


def test_a_process_that_dies_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    def absent(tally: xr.Dataset) -> xr.Dataset:
        return standard(tally)

    module = ModuleType("only_in_this_process")
    absent.__module__, absent.__qualname__ = module.__name__, "absent"
    monkeypatch.setattr(module, "absent", absent, raising=False)
    monkeypatch.setitem(sys.modules, module.__name__, module)
    with pytest.raises(EngineError, match=r"every process ends that computes piece 0 .* try workers=1"):
        study(population(), {"absent": absent}, draws=1, seed=1, workers=2)


def test_an_interrupted_study_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = study(population(), REFERENCES, draws=4, seed=1, folder=tmp_path)
    before = _bytes(tmp_path)
    lost = list(before)[::2]
    for name in lost:
        (tmp_path / name).unlink()
    made: list[str] = []
    real = resampling.answers_of

    def counted(name: str, *rest: object) -> object:
        made.append(name)
        return real(name, *rest)  # type: ignore[arg-type]

    monkeypatch.setattr(resampling, "answers_of", counted)
    again = study(population(), REFERENCES, draws=4, seed=1, folder=tmp_path)
    xr.testing.assert_identical(whole, again)
    assert _bytes(tmp_path) == before
    assert len(made) == len(lost) == 4
    made.clear()
    more = study(population(), {**REFERENCES, "eb": partial_pooling.estimate}, draws=4, seed=1, folder=tmp_path)
    assert made == ["eb"] * 4
    xr.testing.assert_identical(more.isel(estimator=slice(2)), whole)


def test_a_failure_keeps_what_was_finished_and_says_where(tmp_path: Path) -> None:
    calls = []

    def fails(tally: xr.Dataset) -> xr.Dataset:
        calls.append(tally)
        if len(calls) == 2:
            raise ZeroDivisionError("no luck")
        return standard(tally)

    with pytest.raises(ZeroDivisionError, match="no luck") as problem:
        study(population(), {"standard": standard, "fails": fails}, draws=3, seed=1, folder=tmp_path)
    assert problem.value.__notes__ == ["estimator 'fails', draw 1 of population 'people'"]
    assert len(list(tmp_path.iterdir())) == 3


@pytest.mark.parametrize(
    ("changes", "word"),
    [({"seed": 2}, "seed"), ({"rows": 61}, "population"), ({"entry": halved}, "settings")],
)
def test_records_of_another_study_are_refused(tmp_path: Path, changes: dict[str, object], word: str) -> None:
    study(population(), {"a": standard}, draws=1, seed=1, folder=tmp_path)
    seed, entry = int(str(changes.pop("seed", 1))), changes.pop("entry", standard)
    with pytest.raises(InputError, match=rf"is of another study \({word} differ\); choose another folder"):
        study(population(**changes), {"a": entry}, draws=1, seed=seed, folder=tmp_path)  # type: ignore[dict-item]


def test_settings_of_an_estimator_and_of_a_partial_are_part_of_a_record(tmp_path: Path) -> None:
    first: Entry = bg.PartialPooling()
    pairs: list[tuple[Entry, Entry]] = [
        (first, bg.PartialPooling(interval="robust")),
        (partial_pooling.estimate, partial(partial_pooling.estimate, interval="plug_in")),
    ]
    for i, (one, other) in enumerate(pairs):
        study(population(), {"a": one}, draws=1, seed=1, folder=tmp_path / str(i))
        with pytest.raises(InputError, match="settings differ"):
            study(population(), {"a": other}, draws=1, seed=1, folder=tmp_path / str(i))


def test_a_damaged_record_is_named(tmp_path: Path) -> None:
    study(population(), {"a": standard}, draws=1, seed=1, folder=tmp_path)
    place = next(tmp_path.iterdir())
    place.write_bytes(place.read_bytes()[:200])
    with pytest.raises(InputError, match="cannot be read .* delete it, and it is made again"):
        study(population(), {"a": standard}, draws=1, seed=1, folder=tmp_path)


def test_arguments_that_cannot_be_used() -> None:
    some = population()
    with pytest.raises(InputError, match="estimators= is empty"):
        study(some, {}, draws=1, seed=1)
    with pytest.raises(InputError, match="'a' is neither an Estimator with brackets nor a function"):
        study(some, {"a": bg.PartialPooling}, draws=1, seed=1)  # type: ignore[dict-item]
    for draws in (0, True, 1.5):
        with pytest.raises(InputError, match="draws=.* must be a whole number, 1 or larger"):
            study(some, {"a": standard}, draws=draws, seed=1)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="workers=0 must be"):
        study(some, {"a": standard}, draws=1, seed=1, workers=0)
    with pytest.raises(InputError, match="'a' cannot be sent to another process; use a function of a module"):
        study(some, {"a": lambda tally: standard(tally)}, draws=1, seed=1, workers=2)  # noqa: PLW0108


def test_answers_of_another_form_are_refused() -> None:
    some = population()
    with pytest.raises(InputError, match="'a' must return a Dataset with estimate, lower and upper"):
        study(some, {"a": lambda tally: tally[["estimate"]]}, draws=1, seed=1)
    with pytest.raises(InputError, match="'a': dims must be metric, subgroup and level"):
        study(some, {"a": lambda tally: standard(tally).isel(level=[0])}, draws=1, seed=1)
    with pytest.raises(InputError, match="'a' returned .* estimates for a tally of"):
        study(some, {"a": lambda tally: standard(tally).isel(subgroup=[0])}, draws=1, seed=1)
