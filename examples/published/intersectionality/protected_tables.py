"""Public tables with intersectional subgroups, and what judges their rows: a classifier to train, or a system that is there."""

from __future__ import annotations

import gzip
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesgroups.datasets import load_diabetes
from bayesgroups.errors import InputError
from examples.published.data import load_adult, load_bios_confusion, load_common_voice, load_compas, load_dressel_farid
from examples.published.data.compas import FILE as COMPAS
from examples.published.data.local_files import read_columns, whole_numbers

if TYPE_CHECKING:
    import pandas as pd


MIN_PEOPLE = 5
"""People in a subgroup that takes part."""
CENSUS = ("age", "workclass", "fnlwgt", "education", "education-num", "marital-status", "occupation", "relationship", "race",
          "sex", "capital-gain", "capital-loss", "hours-per-week", "native-country", "income")  # fmt: skip
AFTERWARDS = ("is_recid", "is_violent_recid", "start", "end", "event")
"""Columns of COMPAS that were filled in once it was known whether a defendant offended again."""
DAYS = 30
"""Days between arrest and score, at most."""
EPOCH = "9.00"
"""Checkpoint of the professions that the paper of the data shows."""
MAX_LEVELS = 200
"""Levels of a column of texts that trees split on; the rarer ones are one level."""


@dataclass(frozen=True, eq=False)
class Table:
    """Rows of one data set, one column of what each is judged by.

    Attributes
    ----------
    name : str
    rows : pandas DataFrame
        One row per person, clip or judgement, of subgroups with at least `MIN_PEOPLE` of them.
    by : tuple of str
        Attributes that make the subgroups.
    features : tuple of str
        Columns that a classifier is trained on; empty where the system is there already.
    columns : mapping from str to str
        ``y_true``, ``y_pred`` or ``loss`` as `bayesgroups.subsampling` takes them.
    """

    name: str
    rows: pd.DataFrame
    by: tuple[str, ...]
    features: tuple[str, ...] = ()
    columns: Mapping[str, str] = field(default_factory=dict)


def table(
    name: str, rows: pd.DataFrame, by: Sequence[str], *, hidden: Sequence[str] | None = None, **columns: str
) -> Table:
    """Make a table of rows, leaving out subgroups of fewer than `MIN_PEOPLE` rows.

    Parameters
    ----------
    name : str
        Its name.
    rows : pandas DataFrame
        One row per person.
    by : sequence of str
        Attributes whose levels are crossed.
    hidden : sequence of str, optional
        Columns a classifier may not see, besides the outcome; left out where there is none to train.
    **columns : str
        Columns of outcome, decision or loss.

    Examples
    --------
    >>> import pandas as pd
    >>> rows = pd.DataFrame({"sex": ["f"] * 5 + ["m"] * 6 + ["x"], "y": [0, 1] * 6, "x": range(12)})
    >>> made = table("made up", rows, ["sex"], hidden=[], y_true="y")
    >>> len(made.rows), made.features
    (11, ('sex', 'x'))
    """
    people = rows.groupby(list(by), observed=True)[by[0]].transform("size").to_numpy()
    used = rows.loc[people >= MIN_PEOPLE].reset_index(drop=True)
    if hidden is None:
        return Table(name, used, tuple(by), (), columns)
    seen = [column for column in used.columns if column not in (*hidden, columns["y_true"])]
    coded = used.assign(**{column: _coded(used[column]) for column in seen})
    # The binning of trees fails on a column without two values.
    return Table(name, coded, tuple(by), tuple(column for column in seen if len(set(coded[column])) > 1), columns)


def _coded(values: Any) -> Any:
    """Numbers as they are, texts as categories for trees that split on them, rare ones together."""
    if values.dtype.kind in "iufb":
        return values
    texts = values.astype(object).where(values.notna(), "missing").astype(str)
    common = texts.value_counts().index[:MAX_LEVELS]
    return texts.where(texts.isin(list(common)), "other").astype("category")


def load_table(name: str, data: Path) -> Table:
    """Read one of `TABLES` from the folder that holds the public data, one folder each.

    Raises
    ------
    InputError
        If there is no such table or no such file.
    """
    if name not in TABLES:
        raise InputError(f"no table {name!r}; there are {', '.join(TABLES)}")
    return TABLES[name](data)


def _adult(data: Path) -> Table:
    """Both files of the census, whose 4,256 white men in their fifties are those of the published table."""
    import pandas as pd

    parts = [_census(data / "adult" / file, skip) for file, skip in (("adult.data.gz", 0), ("adult.test.gz", 1))]
    rows = _with_decades(pd.concat(parts, ignore_index=True))
    return table("adult", rows, ["race", "sex", "decade"], hidden=["fnlwgt", "decade"], y_true="income")


def _adult_scored(data: Path) -> Table:
    columns = ["race", "sex", "age", "score", "income_gt_50K"]
    raw = read_columns(data / "adult", "adult_income_with_predictions.csv", columns)
    raw["predicted"] = (raw["score"].astype(float) >= 0.5).astype(int)
    rows = _with_decades(raw.assign(age=whole_numbers(raw, "age"), income=whole_numbers(raw, "income_gt_50K")))
    return table("adult_scored", rows, ["race", "sex", "decade"], y_true="income", y_pred="predicted")


def _adult_language_model(data: Path) -> Table:
    rows = _with_decades(load_adult(data / "adult"))
    return table("adult_language_model", rows, ["race", "sex", "decade"], y_true="income", y_pred="predicted")


def _compas(data: Path) -> Table:
    rows = _screened(data / "compas")
    hidden = ["age_band", "decile_score", "predicted", "error", *AFTERWARDS]
    return table("compas", rows, ["race", "sex", "age_band"], hidden=hidden, y_true="recidivism")


def _compas_afterwards(data: Path) -> Table:
    rows = _screened(data / "compas")
    hidden = ["age_band", "decile_score", "predicted", "error"]
    return table("compas_afterwards", rows, ["race", "sex", "age_band"], hidden=hidden, y_true="recidivism")


def _compas_deciles(data: Path) -> Table:
    rows = _screened(data / "compas")
    return table("compas_deciles", rows, ["race", "sex", "age_band"], y_true="recidivism", y_pred="predicted")


def _screened(folder: Path) -> pd.DataFrame:
    """Defendants scored within 30 days of their arrest, as selected by those who published the data, with what came after."""
    import pandas as pd

    people = load_compas(folder)
    raw = read_columns(folder, COMPAS, ["days_b_screening_arrest", "score_text", *AFTERWARDS])
    days = np.array([float(text or "nan") for text in raw["days_b_screening_arrest"].tolist()])
    screened = (np.abs(days) <= DAYS) & (raw["is_recid"] != "-1") & (raw["score_text"] != "N/A")
    rows = people.join(raw[list(AFTERWARDS)].apply(pd.to_numeric))
    return rows.loc[screened & (people["charge_degree"] != "O")].reset_index(drop=True)


def _diabetes(data: Path) -> Table:
    rows = load_diabetes(data / "diabetes")
    return table("diabetes", rows, ["race", "gender", "age"], hidden=["patient"], y_true="readmitted")


def _common_voice(data: Path) -> Table:
    return table("common_voice", load_common_voice(data / "asr_commonvoice"), ["sex", "age"], loss="wer")


def _bios(data: Path) -> Table:
    import pandas as pd

    counts = load_bios_confusion(data / "bios_pfc").sel(epoch=EPOCH)
    cells = counts.to_series().reset_index()
    rows = cells.loc[np.repeat(cells.index.to_numpy(), cells["people"])].reset_index(drop=True)
    who = pd.DataFrame([name.split(" | ") for name in rows["subgroup"]], columns=["gender", "economy"])
    return table(
        "bios", who.join(rows[["label", "predicted"]]), ["gender", "economy"], y_true="label", y_pred="predicted"
    )


def _judgements(data: Path) -> Table:
    rows = load_dressel_farid(data / "dressel_farid")
    rows["judged"] = (rows["judged"] == "high").astype(int)
    return table("judgements", rows, ["race", "sex"], y_true="reoffended", y_pred="judged")


def _census(path: Path, skip: int) -> pd.DataFrame:
    import pandas as pd

    if not path.is_file():
        raise InputError(f"no file {str(path)!r}; the census of 1994 in the form of the UCI archive is needed")
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        rows = pd.read_csv(lines, names=list(CENSUS), skipinitialspace=True, skip_blank_lines=True, skiprows=skip)
    return rows.assign(income=rows["income"].str.startswith(">50K").astype(int))


def _with_decades(rows: pd.DataFrame) -> pd.DataFrame:
    return rows.assign(decade=[f"{min(age // 10 * 10, 80)}s" for age in rows["age"].tolist()])


TABLES: dict[str, Callable[[Path], Table]] = {
    "adult": _adult,
    "compas": _compas,
    "compas_afterwards": _compas_afterwards,
    "diabetes": _diabetes,
    "adult_scored": _adult_scored,
    "adult_language_model": _adult_language_model,
    "compas_deciles": _compas_deciles,
    "judgements": _judgements,
    "bios": _bios,
    "common_voice": _common_voice,
}
"""Readers of the tables by name, those with a classifier to train first."""
