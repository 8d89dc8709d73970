"""Bios: runs and confusion counts as they stand in the files, and the published numbers they give."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import bayesgroups as bg
from bayesgroups.errors import InputError
from examples.published.data import load_bios_confusion, load_bios_runs
from examples.published.data.bios import Split

RUNS = {
    "method": ["Adv", "Adv", "Vanilla"], "config": ["x=1", "x=1", "x=0"], "run": ["a", "b", "c"],
    "dev_performance": ["0.7", "0.8", "0.9"], "dev_fairness": ["0.6", "0.5", "0.4"],
    "test_performance": ["0.75", "0.85", "0.9"], "test_fairness": ["0.65", "0.55", "0.4"],
}  # fmt: skip
SPLITS: tuple[Split, ...] = ("dev", "test")
COUNTS = {
    "epoch": ["10.00", "9.00", "9.00", "9.00"], "split": ["dev", "dev", "dev", "test"], "group": ["0", "3", "0", "1"],
    "true_class": ["0", "1", "0", "1"], "pred_class": ["0", "0", "0", "1"], "count": ["4", "2", "3", "7"],
}  # fmt: skip


def test_runs_are_read(tmp_path: Path) -> None:
    pd.DataFrame(RUNS).to_csv(tmp_path / "bios_both_results.csv", index=False)
    runs = load_bios_runs(tmp_path)
    assert runs["dev_fairness"].tolist() == [0.6, 0.5, 0.4]
    assert runs["method"].tolist() == RUNS["method"]
    pd.DataFrame(RUNS).to_csv(tmp_path / "bios_gender_results.csv.gz", index=False)
    assert len(load_bios_runs(tmp_path, "gender")) == 3


def test_counts_are_laid_out(tmp_path: Path) -> None:
    pd.DataFrame(COUNTS).to_csv(tmp_path / "bios_both_confusion.csv", index=False)
    counts = load_bios_confusion(tmp_path, "dev")
    assert counts.dims == ("epoch", "subgroup", "label", "predicted")
    assert counts["epoch"].values.tolist() == ["9.00", "10.00"]
    assert int(counts.sel(epoch="9.00", subgroup="female | low", label="1", predicted="0")) == 2
    assert counts.sum(("subgroup", "label", "predicted")).values.tolist() == [5, 4]
    assert int(load_bios_confusion(tmp_path).sum()) == 7


def test_what_is_wrong_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="groups='all' does not exist"):
        load_bios_runs(tmp_path, "all")  # type: ignore[arg-type]
    with pytest.raises(InputError, match="split='train' does not exist"):
        load_bios_confusion(tmp_path, "train")  # type: ignore[arg-type]
    pd.DataFrame(RUNS | {"dev_fairness": ["0.6", "high", ""]}).to_csv(tmp_path / "bios_both_results.csv", index=False)
    with pytest.raises(InputError, match="column 'dev_fairness' holds something that is no number"):
        load_bios_runs(tmp_path)
    pd.DataFrame(COUNTS | {"group": ["0", "4", "0", "1"]}).to_csv(tmp_path / "bios_both_confusion.csv", index=False)
    with pytest.raises(InputError, match="column 'group' has value 4; expected 0 to 3"):
        load_bios_confusion(tmp_path, "dev")
    pd.DataFrame(COUNTS).iloc[3:].to_csv(tmp_path / "bios_both_confusion.csv", index=False)
    with pytest.raises(InputError, match="column 'split' has no 'dev'"):
        load_bios_confusion(tmp_path, "dev")


def folder() -> Path:
    root = Path(os.environ.get("BAYESGROUPS_DATA", Path(__file__).parents[3] / "shared" / "data"))
    for candidate in (root / "bios_pfc", root):
        if (candidate / "bios_both_results.csv.gz").is_file():
            return candidate
    pytest.skip(
        f"no Bios data: {root / 'bios_pfc'} has no bios_both_results.csv.gz; set BAYESGROUPS_DATA to its folder"
    )


def test_the_published_areas_and_the_known_sizes() -> None:
    data = folder()
    runs = load_bios_runs(data)
    assert len(runs) == 4368
    published = {"INLP": 0.3982569, "Adv": 0.4357250, "DAdv": 0.4449941, "BTGAdv": 0.4400662}
    for method, area in published.items():
        own = runs[runs["method"] == method]
        points = own.groupby("config")[["test_performance", "test_fairness"]].mean()
        points.columns = pd.Index(["performance", "fairness"])
        assert float(bg.auc_pfc(points, anchor=0.3)) == pytest.approx(area, abs=5e-8)
    dev, test = (load_bios_confusion(data, split) for split in SPLITS)
    assert {int(n) for n in dev.sum(("subgroup", "label", "predicted"))} == {10_956}
    assert {int(n) for n in test.sum(("subgroup", "label", "predicted"))} == {27_851}
    assert int((dev.isel(epoch=0).sum("predicted") == 0).sum()) == 2


@pytest.mark.parametrize("split", SPLITS)
def test_the_published_fairness_of_every_checkpoint(split: Split) -> None:
    from examples.published.fair_enough.model_selection import fairness_of_checkpoints

    data = folder()
    published = pd.read_csv(data / "bios_both_confusion_published_metrics.csv", dtype={"epoch": str}).set_index("epoch")
    ours = fairness_of_checkpoints(data, split)
    assert ours.sizes["epoch"] == 22
    expected = published[f"{split}_TPR_GAP"].reindex(ours["epoch"].values)
    np.testing.assert_allclose(ours, expected, atol=1e-13)
