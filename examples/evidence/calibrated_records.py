"""Records of calibration and coverage as tables, with the command and the date of each."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from bayesgroups.errors import InputError

ROOT = Path(__file__).parents[2]
RECORDS = ROOT / "tests" / "recovery" / "records"
LIST = ROOT / "docs" / "records.md"
CALIBRATIONS = {
    "partial_pooling": "`PartialPooling`",
    "crossed_effects": "`CrossedEffects`",
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
DIGITS_OF_DIGEST = 12
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


def commands() -> dict[str, str]:
    """Command of every record, from the list of records."""
    rows = re.findall(r"^\| `([^`]+)` \| `([^`]+)` \|", LIST.read_text(encoding="utf-8"), re.MULTILINE)
    return dict(rows)


def digest(path: Path) -> str:
    """First digits of the SHA-256 of a record and of its ranks, which tell whether a date is still that of its bytes."""
    beside = path.with_name(f"{path.stem}_ranks.csv")
    content = b"".join(file.read_bytes() for file in (path, beside) if file.is_file())
    return hashlib.sha256(content).hexdigest()[:DIGITS_OF_DIGEST]


def dated(page: str, today: str) -> dict[str, tuple[str, str]]:
    """Date and digest of every record: the date of the page while the bytes are the same, ``today`` for new ones.

    Parameters
    ----------
    page : str
        The page as it is, whose table of records has lines ``| `file` | date | `digest` | ...``.
    today : str
        Date of the form 2026-11-23.

    Raises
    ------
    InputError
        If ``today`` is not of this form.
    """
    if not re.fullmatch(r"\d{4}-\d\d-\d\d", today):
        raise InputError(f"date {today!r} must have the form 2026-11-23; give --date YYYY-MM-DD")
    rows = re.findall(r"^\| `([^`]+)` \| (\d{4}-\d\d-\d\d) \| `(\w+)` \|", page, re.MULTILINE)
    before: Mapping[tuple[str, str], str] = {(name, sign): date for name, date, sign in rows}
    return {name: (before.get((name, digest(path)), today), digest(path)) for name, path in files().items()}
