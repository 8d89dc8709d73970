"""Public tables with intersectional subgroups, ready for a classifier: what it may see, what it is to say, of whom."""

from __future__ import annotations

import gzip
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from bayesgroups.data.arrays import FloatArray
from bayesgroups.datasets import load_diabetes
from bayesgroups.errors import InputError
from examples.published.data import load_common_voice, load_compas

if TYPE_CHECKING:
    import pandas as pd


MIN_PEOPLE = 5
"""People in a subgroup that takes part."""
CENSUS = ("age", "workclass", "fnlwgt", "education", "education_num", "marital_status", "occupation", "relationship", "race",
          "sex", "capital_gain", "capital_loss", "hours_per_week", "native_country", "income")  # fmt: skip
NAMES = ("adult", "compas", "diabetes", "common_voice")


@dataclass(frozen=True, eq=False)
class Table:
    """Rows of one data set.

    ``value`` (row,) is the outcome, 0 or 1, where there are ``features`` to predict it from, and otherwise a loss of a system
    that is already there; ``subgroup`` (row,) is the position in ``labels``.
    """

    name: str
    features: pd.DataFrame | None
    value: FloatArray
    subgroup: NDArray[np.intp]
    labels: tuple[str, ...]


def load_table(name: str, data: Path) -> Table:
    """Read one of `NAMES` from the folder that holds the public data, one folder each.

    Raises
    ------
    InputError
        If there is no such table or no such file.
    """
    if name == "adult":
        rows = _census(data / "adult")
        people = rows.assign(decade=[f"{min(age // 10 * 10, 80)}s" for age in rows["age"].tolist()])
        return table(name, people, ["race", "sex", "decade"], "income", hidden=["fnlwgt", "decade"])
    if name == "compas":
        rows = load_compas(data / "compas")
        hidden = ["age_band", "decile_score", "predicted", "error"]
        return table(name, rows, ["race", "sex", "age_band"], "recidivism", hidden=hidden)
    if name == "diabetes":
        rows = load_diabetes(data / "diabetes")
        return table(name, rows, ["race", "gender", "age"], "readmitted", hidden=["patient"])
    if name == "common_voice":
        rows = load_common_voice(data / "asr_commonvoice")
        return table(name, rows, ["sex", "age"], "wer", hidden=None)
    raise InputError(f"no table {name!r}; there are {', '.join(NAMES)}")


def table(name: str, rows: pd.DataFrame, by: list[str], value: str, *, hidden: list[str] | None) -> Table:
    """Make a table of rows, leaving out subgroups of fewer than `MIN_PEOPLE` people.

    Parameters
    ----------
    name : str
        Its name.
    rows : pandas DataFrame
        One row per person.
    by : list of str
        Attributes whose levels are crossed.
    value : str
        Column of the outcome or loss.
    hidden : list of str or None
        Columns the classifier may not see, besides the outcome; ``None`` where there is none to train.

    Examples
    --------
    >>> import pandas as pd
    >>> rows = pd.DataFrame({"sex": ["f"] * 5 + ["m"] * 6 + ["x"], "y": [0, 1] * 6, "x": range(12)})
    >>> made = table("made up", rows, ["sex"], "y", hidden=[])
    >>> made.labels, len(made.value), list(made.features)
    (('f', 'm'), 11, ['sex', 'x'])
    """
    keys = [" | ".join(levels) for levels in zip(*(rows[name].astype(str).tolist() for name in by), strict=True)]
    labels, codes, sizes = np.unique(np.array(keys), return_inverse=True, return_counts=True)
    kept = sizes >= MIN_PEOPLE
    use = kept[codes]
    features = None
    if hidden is not None:
        features = _coded(rows.loc[use].drop(columns=[value, *hidden]))
    position = np.cumsum(kept) - 1
    return Table(
        name,
        features,
        rows.loc[use, value].to_numpy(dtype=np.float64),
        position[codes[use]].astype(np.intp),
        tuple(str(label) for label in labels[kept]),
    )


def _coded(rows: pd.DataFrame) -> pd.DataFrame:
    """Texts as categories, rare ones together, for trees that split on them."""
    coded = rows.copy()
    for column in coded.columns:
        if coded[column].dtype.kind in "OUT":
            texts = coded[column].astype(object).where(coded[column].notna(), "missing").astype(str)
            counts = texts.value_counts()
            common = counts.index[:200]
            coded[column] = texts.where(texts.isin(list(common)), "other").astype("category")
    return coded.reset_index(drop=True)


def _census(folder: Path) -> pd.DataFrame:
    import pandas as pd

    path = folder / "adult.data.gz"
    if not path.is_file():
        raise InputError(f"no file {str(path)!r}; the census of 1994 in the form of the UCI archive is needed")
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        rows = pd.read_csv(lines, names=list(CENSUS), skipinitialspace=True, skip_blank_lines=True)
    return rows.assign(income=(rows["income"] == ">50K").astype(int))
