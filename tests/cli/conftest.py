"""Rows, tallies and reports that the tests of commands ask."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import xarray as xr

import bayesgroups as bg


@pytest.fixture(autouse=True)
def _read_once(read_once: None) -> None:
    """Commands ask the same few files."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Rows, small tables, tallies and reports to ask."""
    place = tmp_path_factory.mktemp("questions")
    random = np.random.default_rng(3)
    size = 160
    rows = pd.DataFrame(
        {
            "race": random.choice(["A", "B"], size),
            "sex": random.choice(["Female", "Male"], size),
            "outcome": random.integers(0, 2, size),
            "risk": random.random(size).round(2),
        }
    )
    rows.to_csv(place / "rows.csv", index=False)
    by = ["race", "sex"]
    tally = bg.tally(rows, by, ["fnr"], y_true="outcome", y_score="risk", threshold=0.5)
    bg.save_tally(tally, place / "t.nc")
    bg.save_tally(bg.tally(rows, by, ["sel"], y_score="risk", threshold=0.5), place / "sel.nc")
    labels = {"contrast": "gap", "subgroup": ["A | Female", "A | Male"], "coefficient": [1, -1]}
    pd.DataFrame(labels).to_csv(place / "coefficients.csv", index=False)
    who = pd.DataFrame([(race, sex) for race in "AB" for sex in ("Female", "Male")], columns=by)
    who.assign(count=[10, 20, 30, 40]).to_csv(place / "people.csv", index=False)
    bg.save_tally(bg.tally(rows, by, "auc", y_true="outcome", y_score="risk"), place / "auc.nc")
    bg.save_report(bg.estimate(tally, bg.PartialPooling(), seed=1), place / "r.nc")
    crossed = bg.estimate(tally, bg.CrossedEffects(own_effects="learned"), seed=1)
    bg.save_report(crossed, place / "x.nc")
    names = ["subgroup", "label", "predicted"]
    cells = pd.MultiIndex.from_product([["f", "m"], ["cat", "dog"], ["cat", "dog"]], names=names).to_frame(index=False)
    cells.assign(count=[8, 2, 3, 9, 4, 4, 1, 10]).to_csv(place / "confusion.csv", index=False)
    points = {"performance": [0.8, 0.75, 0.7], "fairness": [0.6, 0.8, 0.85]}
    pd.DataFrame({"candidate": list("abc"), **points}).to_csv(place / "models.csv", index=False)
    for name, gain in (("plain", 0.0), ("fair", 0.05)):
        runs = {
            "strength": [1, 1, 2, 2],
            "performance": [0.8, 0.81, 0.7, 0.71],
            "fairness": [0.6, 0.62, 0.8, 0.82 + gain],
        }
        pd.DataFrame(runs).to_csv(place / f"{name}.csv", index=False)
    draws = {goal: (("draw", "candidate"), random.uniform(0.6, 0.8, (20, 3))) for goal in points}
    xr.Dataset(draws, {"candidate": list("abc")}).to_netcdf(place / "systems.nc", engine="h5netcdf")
    labelled = tally.assign_coords(metric=["fnr[a]"])
    bg.save_report(bg.estimate(labelled, bg.NoPooling(), seed=1), place / "classes.nc")
    judged = {"race": rows["race"], "label": np.where(rows["outcome"], "hire", "no"), "disagrees": rows["risk"] > 0.7}
    pd.DataFrame(judged).astype({"disagrees": int}).to_csv(place / "judgements.csv", index=False)
    d = bg.disagreement_tally(place / "judgements.csv", by=["race"], label="label", disagrees="disagrees")
    bg.save_tally(d, place / "d.nc")
    some = rows["outcome"].where(random.random(size) < 0.5)
    judged = {"race": rows["race"], "gold": some, "judge": (rows["risk"] > 0.5) * 1}
    gold = bg.tally(pd.DataFrame(judged), ["race"], ["prev", "tpr"], y_true="gold", y_pred="judge", unlabelled="keep")
    bg.save_tally(gold, place / "j.nc")
    strata = pd.MultiIndex.from_product([["a", "b", "c"], ["f", "m"]], names=["age", "sex"]).to_frame(index=False)
    bg.save_tally(bg.tally_from_counts([10, 11, 50, 52, 30, 31], [100] * 6, strata), place / "m.nc")
    rows.assign(new=rows["outcome"], old=(rows["risk"] > 0.4) * 1).to_csv(place / "answers.csv", index=False)
    bg.save_tally(bg.paired_tally(place / "answers.csv", ["sex"], ["new", "old"]), place / "p.nc")
    counts = {
        "site": list("abc"),
        "successes": [1, 30, 9],
        "trials": [2, 100, 60],
        "estimate": [0.5, 0.3, 0.15],
        "se": [0.3, 0.05, 0.05],
    }
    pd.DataFrame(counts).to_csv(place / "counts.csv", index=False)
    return place
