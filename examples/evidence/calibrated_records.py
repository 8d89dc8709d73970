"""Records of calibration and coverage as tables."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray

ROOT = Path(__file__).parents[2]
RECORDS = ROOT / "tests" / "recovery" / "records"
CALIBRATIONS = {
    "partial_pooling": "`PartialPooling`",
    "crossed_effects": "`CrossedEffects`",
    "ordered": "`CrossedEffects` of an ordered attribute",
    "structured_regression": "`StructuredRegression`",
    "confusion": "`ConfusionModel`",
    "few_labels": "`ConfusionModel` of few labels",
    "model_based_metrics": "`ModelBasedMetrics`",
    "disagreement": "`DisagreementModel`",
    "poststratification": "target populations",
}
"""Subjects of the records of simulation-based calibration by the name of their file."""
COVERAGES = (
    "interval_coverage", "imputed_coverage", "auc_coverage", "structured_coverage", "cluster_coverage", "curve_coverage",
    "contrast_coverage", "poststratification_coverage", "boundary_coverage", "few_labels", "maihda_coverage",
    "anytime_coverage", "family_wise",
)  # fmt: skip
"""Names of the records of coverage."""
Ranks = dict[str, dict[str, NDArray[np.int64]]]


def ranks(name: str) -> Ranks:
    """Ranks (replication,) of a calibration by design and quantity, whole numbers from 0 to 999."""
    if name == "poststratification":
        table = pd.read_csv(RECORDS / f"sbc_{name}.csv").drop(columns="replication")
        return {"binomial": {str(quantity): table[quantity].to_numpy() for quantity in table}}
    table = pd.read_csv(RECORDS / f"sbc_{name}_ranks.csv")
    by_design: Ranks = {}
    for row in table.to_numpy():
        by_design.setdefault(str(row[0]), {})[str(row[1])] = row[2:].astype(np.int64)
    return by_design


def coverage(name: str) -> pd.DataFrame:
    """Lines of a record of coverage."""
    return pd.read_csv(RECORDS / f"{name}.csv")


def files() -> dict[str, Path]:
    """Files that the page is made from, by their name in the list of records."""
    names = [f"sbc_{name}" for name in CALIBRATIONS] + list(COVERAGES)
    return {f"tests/recovery/records/{name}.csv": RECORDS / f"{name}.csv" for name in names}
