"""The checklist is complete, answers what it can from the aggregate itself, and says what was not stated."""

from __future__ import annotations

import numpy as np
import pytest
import xarray as xr

import bayesgroups as bg
from bayesgroups.errors import InputError
from bayesgroups.questions.disparities.class_scores import confusion_scores
from bayesgroups.questions.disparities.reporting import NOT_STATED

COUNTS = xr.DataArray(
    [[[8, 2], [1, 9]], [[3, 1], [0, 0]]],
    {"subgroup": ["a", "b"], "label": ["no", "yes"], "predicted": ["no", "yes"]},
)


def _answers(listed: xr.Dataset) -> dict[str, str]:
    return dict(zip(listed["item"].values.tolist(), listed["answer"].values.tolist(), strict=True))


def test_a_full_checklist() -> None:
    with pytest.warns(UserWarning, match="'yes' is undefined in subgroup 'b'"):
        gap = bg.aggregate(confusion_scores(COUNTS), "gap", group_power=2, undefined="drop")
    listed = bg.reporting_checklist(
        COUNTS, gap, metric="tpr", why_group_power="large gaps weigh more", why_class_power="rare classes count",
        criterion="DTO", split="development", anchor=(0.3, 1), utopia=(1, 1), settings_tried={"plain": 1, "adversarial": 40},
        seeds=5, uncertainty="bootstrap over seeds",
    )  # fmt: skip
    said = _answers(listed)
    assert listed["given"].values.all()
    assert said["data"].startswith("24 rows, 2 classes by 2 subgroups; cells of 0 to 10 rows, 1 empty")
    assert said["group-wise step"] == "generalised mean with exponent 2"
    assert said["unit"] == "absolute gap to the reference value; better: smaller"
    assert said["undefined cells"] == "1, handled as 'drop'"
    assert said["anchor"] == "performance 0.3, fairness 1"
    assert said["settings tried"] == "plain 1, adversarial 40"
    np.testing.assert_array_equal(listed["confusion"].transpose(*COUNTS.dims), COUNTS)
    assert listed["cell_rows"].sel(label="yes", subgroup="b") == 0


def test_what_is_not_stated_is_said() -> None:
    scores = confusion_scores(COUNTS.sel(subgroup=["a"]))
    share = bg.aggregate(scores, group_power="difference_threshold", threshold=0.1)
    listed = bg.reporting_checklist(COUNTS.sel(subgroup=["a"]), share, metric="tpr")
    said = _answers(listed)
    assert said["seeds"] == said["uncertainty"] == said["anchor"] == said["why this group-wise step"] == NOT_STATED
    assert listed["given"].sel(item="seeds") == 0
    assert said["group-wise step"] == "difference threshold, threshold 0.1"
    worst = bg.aggregate(scores, group_power="min_score")
    assert _answers(bg.reporting_checklist(COUNTS, worst, metric="tpr"))["reference value"] == "not needed for scores"


def test_draws_are_an_answer_about_uncertainty() -> None:
    draws = xr.DataArray(np.random.default_rng(1).random((2, 50, 2, 2)), dims=("chain", "draw", "label", "subgroup"))
    listed = bg.reporting_checklist(COUNTS, bg.aggregate(draws, center="mean"), metric="tpr")
    assert _answers(listed)["uncertainty"] == "100 draws"


def test_what_is_wrong_is_named() -> None:
    gap = bg.aggregate(confusion_scores(COUNTS.sel(subgroup=["a"])))
    with pytest.raises(InputError, match="one table of whole numbers per subgroup"):
        bg.reporting_checklist(COUNTS + 0.5, gap, metric="tpr")
    with pytest.raises(InputError, match="one table of whole numbers per subgroup"):
        bg.reporting_checklist(xr.concat([COUNTS, COUNTS], "system"), gap, metric="tpr")
    with pytest.raises(InputError, match=r"aggregated is not from bayesgroups.aggregate"):
        bg.reporting_checklist(COUNTS, xr.DataArray(0.1), metric="tpr")
