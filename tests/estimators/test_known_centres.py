"""A known centre as a setting: numbers and names that are refused, reports, pages, files and the command line."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import xarray as xr

import bayesgroups as bg
from bayesgroups.cli import run
from bayesgroups.errors import InputError
from bayesgroups.estimators.known_centres import known_centres
from bayesgroups.estimators.named import estimator_named
from bayesgroups.views.html.words import model_words

SITES = pd.DataFrame({"site": list("abcd")})
COUNTS = bg.tally_from_counts(
    {"fnr": [10, 9, 6, 1], "acc": [40, 20, 9, 7]}, {"fnr": [50, 30, 15, 8], "acc": [50, 30, 15, 8]}, SITES
)


def estimates(report: xr.DataTree) -> xr.DataArray:
    return report["estimates"].to_dataset()["estimate"]


@pytest.mark.parametrize(
    ("centre", "said"),
    [
        (True, "centre is True, but must be a finite number"),
        ("0.2", "centre is '0.2', but must be a finite number"),
        ([0.2], r"centre is \[0.2\], but must be a finite number"),
        (np.nan, "centre is nan, but must be a finite number"),
        (-np.inf, "centre is -inf, but must be a finite number"),
        ({"fnr": False}, "centre of metric 'fnr' is False, but must be a finite number"),
        ({"acc": 0.5, "fnr": np.inf}, "centre of metric 'fnr' is inf, but must be a finite number"),
        ({"fnr": None}, "centre of metric 'fnr' is None, but must be a finite number"),
        ({3: 0.5}, "centre names 3, but metrics are named by text"),
    ],
)
def test_what_is_no_number_is_refused(centre: object, said: str) -> None:
    with pytest.raises(InputError, match=f"JamesStein: {said}"):
        bg.JamesStein(centre=centre)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("centre", "said"),
    [
        (1.5, "centre=1.5 of metric 'fnr' is outside of its range, from 0 to 1"),
        ({"acc": -0.1}, "centre=-0.1 of metric 'acc' is outside of its range, from 0 to 1"),
        ({"fnrr": 0.2}, "centre names 'fnrr', which is no metric of the tally; did you mean 'fnr'"),
        ({"fnr": 0.2, "wer": 0.2}, "centre names 'wer', which is no metric of the tally; known: 'acc', 'fnr'"),
    ],
)
def test_what_does_not_fit_the_tally_is_refused(centre: float | dict[str, float], said: str) -> None:
    estimator = bg.JamesStein(centre=centre)
    with pytest.raises(InputError, match=f"JamesStein: {said}"):
        bg.estimate(COUNTS, estimator, seed=1)


def test_the_model_refuses_what_is_outside_of_the_range() -> None:
    with pytest.raises(InputError, match="outside of its range"):
        bg.JamesStein(centre=2).model(COUNTS)


def test_the_ends_of_the_range_are_in_it() -> None:
    found = known_centres("JamesStein", {"fnr": 0.0, "acc": 1.0}, COUNTS, whole=True)
    assert found is not None
    assert found.tolist() == [0, 1]
    assert known_centres("JamesStein", {}, COUNTS) is None


def test_numbers_of_any_kind_become_plain_and_stay() -> None:
    given = {"fnr": np.float32(0.25), "acc": np.int64(1)}
    estimator = bg.JamesStein(centre=given)  # type: ignore[arg-type]
    given["fnr"] = np.float32(0.75)
    assert estimator.settings()["centre"] == {"fnr": 0.25, "acc": 1.0}
    assert [type(value) for value in estimator.settings()["centre"].values()] == [float, float]
    assert hash(estimator) == hash(bg.JamesStein(centre={"acc": 1.0, "fnr": 0.25}))
    assert estimator == bg.JamesStein(centre={"acc": 1.0, "fnr": 0.25})


def test_one_number_is_that_number_for_every_metric() -> None:
    one, named = (bg.estimate(COUNTS, bg.JamesStein(centre=c), seed=1) for c in (0.4, {"acc": 0.4, "fnr": 0.4}))
    xr.testing.assert_identical(estimates(one), estimates(named))
    assert (one["posterior"].to_dataset()["overall"] == 0.4).all()
    assert one.attrs["usable"] == 1


def test_metrics_without_a_centre_keep_their_own() -> None:
    """To the last bit, whatever is known of the others."""
    plain, named = (bg.estimate(COUNTS, bg.JamesStein(centre=c), seed=1) for c in (None, {"fnr": 0.4}))
    for group in ("posterior", "estimates"):
        ever, found = (report[group].to_dataset().sel(metric="acc") for report in (plain, named))
        xr.testing.assert_identical(found.drop_attrs(), ever.drop_attrs())
    overall = named["posterior"].to_dataset()["overall"].sel(metric="fnr")
    assert (overall == 0.4).all()
    # The estimated centre is 0.25, and the third estimate 0.4.
    before, after = (estimates(report).sel(metric="fnr", subgroup="c") for report in (plain, named))
    assert (after > before + 0.03).all()


@pytest.mark.parametrize("centre", [0.4, {"fnr": 0.4}])
def test_a_report_says_which_centre_was_known(centre: float | dict[str, float], tmp_path: Path) -> None:
    report = bg.estimate(COUNTS, bg.JamesStein(centre=centre), seed=1)
    opened = bg.open_report(bg.save_report(report, tmp_path / "r.nc"))
    settings = json.loads(opened.attrs["settings"])
    assert settings["centre"] == centre
    again = bg.estimate(COUNTS, estimator_named("james_stein", settings), seed=1)
    xr.testing.assert_identical(estimates(again), estimates(opened))
    said = model_words(opened)
    assert "subgroups are Normal(0.4, tau) around a known centre, with a flat prior of the square of tau" in said[0]
    assert "with two estimates or fewer" in said[0]
    assert ("flat priors of the centre and of the square of tau" in said[-1]) == isinstance(centre, dict)


def test_a_metric_that_is_undefined_everywhere_has_no_answer() -> None:
    tally = bg.tally_from_counts({"fnr": [0, 0, 0]}, {"fnr": [0, 0, 0]}, SITES[:3])
    report = bg.estimate(tally, bg.JamesStein(centre=0.4), seed=1)
    assert np.isnan(estimates(report)).all()


@pytest.mark.parametrize(
    ("given", "known"), [(0.4, 0.4), (1, 1.0), ({"fnr": 0.4}, {"fnr": 0.4}), ({"fnr": 0}, {"fnr": 0.0})]
)
def test_files_and_command_lines_name_it(given: object, known: object) -> None:
    assert estimator_named("james_stein", {"centre": given}).settings()["centre"] == known


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("half", "james_stein: centre='half' is not one of float, Mapping"),
        (True, "james_stein: centre=True is not one of float, Mapping"),
        ([0.4], r"james_stein: centre=\[0.4\] is not one of float, Mapping"),
        (np.nan, "JamesStein: centre is nan, but must be a finite number"),
        ({"fnr": "half"}, "JamesStein: centre of metric 'fnr' is 'half', but must be a finite number"),
    ],
)
def test_what_they_name_wrongly_is_refused(given: object, said: str) -> None:
    with pytest.raises(InputError, match=said):
        estimator_named("james_stein", {"centre": given})


def test_the_command_line_takes_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    bg.save_tally(COUNTS, tmp_path / "t.nc")
    asked = ["estimate", str(tmp_path / "t.nc"), "--estimator", "james_stein", "--show", "0", "--set"]
    for setting, known in (("centre=0.4", 0.4), ("centre={fnr = 0.4}", {"fnr": 0.4})):
        assert run([*asked, setting, "-o", str(tmp_path / "r.nc")]) == 0
        report = bg.open_report(tmp_path / "r.nc")
        assert json.loads(report.attrs["settings"])["centre"] == known
        assert setting in report.attrs["command"]
    capsys.readouterr()
    assert run([*asked, "centre={fnrr = 0.4}"]) == 2
    assert "did you mean 'fnr'?" in capsys.readouterr().err
