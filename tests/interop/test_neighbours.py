"""Tables that Aequitas and a notebook of fairlearn have made, computed again here."""

from __future__ import annotations

import io
import json
from pathlib import Path

import numpy as np
import pandas as pd

import bayesgroups as bg

GOLDEN = Path(__file__).parents[1] / "golden" / "neighbours"


def test_disparities_of_aequitas_are_our_ratios() -> None:
    stored = json.loads((GOLDEN / "aequitas.json").read_text(encoding="utf-8"))
    groups = pd.DataFrame({"race": ["white", "black", "other"]})
    tally = bg.tally_from_counts([80, 30, 3], [400, 100, 12], groups, metric="fpr")
    np.testing.assert_allclose(
        tally["estimate"].values[0], [stored[race]["fpr"] for race in groups["race"]], rtol=1e-12
    )
    ratio = bg.contrasts(tally, {"race": "white"}, scale="ratio").isel(metric=0, scale=0, approach=0)
    theirs = [stored[race]["fpr_disparity"] for race in ("black", "other")]
    np.testing.assert_allclose(ratio["estimate"].values, theirs, rtol=1e-12)


def test_a_notebook_of_fairlearn_and_its_decisions_give_one_table() -> None:
    notebook = json.loads((GOLDEN / "fairlearn.ipynb").read_text(encoding="utf-8"))
    printed = ["".join(out["text"]) for cell in notebook["cells"] for out in cell.get("outputs", []) if "text" in out]
    theirs = pd.read_csv(io.StringIO(printed[0])).set_index(["sex", "age"])
    tally = bg.tally(
        pd.read_csv(GOLDEN / "decisions.csv"), ["sex", "age"], ["sel", "fnr", "fpr"], y_true="y", y_pred="d"
    )
    ours = (
        tally["estimate"].to_pandas().T.set_index(pd.MultiIndex.from_arrays([tally["sex"].values, tally["age"].values]))
    )
    np.testing.assert_allclose(ours.loc[theirs.index, ["sel", "fnr", "fpr"]], theirs[["sel", "fnr", "fpr"]], rtol=1e-12)
    rows = pd.Series(tally["rows"].values, index=ours.index)
    assert rows.loc[theirs.index].tolist() == theirs["rows"].tolist()
    gap = bg.disparity(tally, "demographic_parity_difference", draws=50)["value"].sel(metric="sel").values[0]
    np.testing.assert_allclose(gap, float(printed[1].split()[0]), rtol=1e-12)
