"""Admissions of diabetes patients to 130 US hospitals, 1999-2008, as used in studies of readmission."""

from __future__ import annotations

import gzip
import io
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import IO, TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from bayesgroups.data.keywords import checked_keywords
from bayesgroups.datasets.downloads import fetch_member
from bayesgroups.errors import InputError

if TYPE_CHECKING:
    import pandas as pd

_URL = "https://archive.ics.uci.edu/static/public/296/diabetes+130-us+hospitals+for+years+1999-2008.zip"
_FILE = "diabetic_data.csv"
_SHA256 = "0689e7ec031237dc63031b938805c48377748761a3b26acab621567afa24df97"
_BYTES = 19_159_383

_RACES = {"AfricanAmerican": "African American", "Caucasian": "Caucasian", "Hispanic": "Hispanic",
          "Asian": "Other", "Other": "Other"}  # fmt: skip
_GENDERS = {"Female": "Female", "Male": "Male"}
_AGES = {f"[{decade}-{decade + 10})": f"{decade // 20 * 20}-{decade // 20 * 20 + 19}" for decade in range(20, 100, 10)}
_OUTCOMES = {"<30": 1, ">30": 0, "NO": 0}
_COUNTS = ("time_in_hospital", "num_lab_procedures", "num_procedures", "num_medications", "number_outpatient",
           "number_emergency", "number_inpatient", "number_diagnoses")  # fmt: skip
_CODES = ("admission_type_id", "discharge_disposition_id", "admission_source_id", "payer_code",
          "medical_specialty", "max_glu_serum", "A1Cresult", "insulin", "change", "diabetesMed")  # fmt: skip
_DIAGNOSES = ("diag_1", "diag_2", "diag_3")
_COLUMNS = ("race", "gender", "age", "readmitted", "patient_nbr", *_COUNTS, *_CODES, *_DIAGNOSES)

# First and last three-digit code of the ICD-9 chapters that Strack et al. (2014) group diagnoses by.
_CHAPTERS = (
    (390, 459, "Circulatory"), (785, 785, "Circulatory"), (460, 519, "Respiratory"),
    (786, 786, "Respiratory"), (520, 579, "Digestive"), (787, 787, "Digestive"),
    (580, 629, "Genitourinary"), (788, 788, "Genitourinary"), (250, 250, "Diabetes"),
    (800, 999, "Injury"), (710, 739, "Musculoskeletal"), (140, 239, "Neoplasms"),
)  # fmt: skip


@checked_keywords
def load_diabetes(path: str | Path | None = None) -> pd.DataFrame:
    """Load the 98,650 admissions of 68,999 patients with known race and gender, aged 20 or more.

    Parameters
    ----------
    path : str or Path, optional
        ``diabetic_data.csv`` (or ``.csv.gz``), or the folder that holds it. Without it, the file is downloaded from the UCI
        archive once, checked against its SHA-256 and kept in the user's cache (needs ``bayesgroups[data]``).

    Returns
    -------
    pandas DataFrame
        One row per admission, in the order of the file. ``race`` (African American, Caucasian, Hispanic, Other), ``gender``
        (Female, Male), ``age`` (20-39, 40-59, 60-79, 80-99): 32 subgroups. ``readmitted`` is 1 for a readmission within 30
        days (11.28 %). ``patient`` is the cluster id: rows of one patient are not independent. Counts are integers; coded
        columns are text, missing where the file has ``?``; ``primary_diagnosis`` groups the first diagnosis;
        ``heart_failure`` is 1 if any diagnosis is ICD-9 428.

    Raises
    ------
    InputError
        If there is no such file, it is not CSV, lacks a column or holds an unknown value, or a download is
        not the known file.
    MissingDependencyError
        If no path is given and pooch is not installed.

    Notes
    -----
    Asian and Other form one level, which gives the 32 subgroups of the published study (Herlihy,
    Truong, Chouldechova and Dudik 2024); three quarters of the rows are its 73,988 held-back admissions. The
    text ``None`` in ``max_glu_serum`` and ``A1Cresult`` means "not measured" and is a level, not a missing
    value.

    References
    ----------
    Strack et al. (2014), Impact of HbA1c measurement on hospital readmission rates,
    BioMed Research International, https://doi.org/10.1155/2014/781670; data https://doi.org/10.24432/C5230J.

    Examples
    --------
    >>> from bayesgroups.datasets import load_diabetes
    >>> admissions = load_diabetes("data/diabetes")  # doctest: +SKIP
    """
    source: Path | IO[bytes]
    if path is None:
        source = io.BytesIO(fetch_member(_URL, _FILE, sha256=_SHA256, size=_BYTES))
        name = _FILE
    else:
        source = _find(Path(path))
        name = str(source)
    return _recode(_read(source, name))


def _find(path: Path) -> Path:
    candidates = [path] if not path.is_dir() else [path / _FILE, path / f"{_FILE}.gz"]
    for candidate in candidates:
        if candidate.is_file():
            return candidate
    raise InputError(
        f"no file {' or '.join(repr(str(candidate)) for candidate in candidates)}; give the path of {_FILE}"
    )


def _read(source: Path | IO[bytes], name: str) -> pd.DataFrame:
    import pandas as pd

    try:
        # Text throughout and no default missing values: "None" is a level of two columns.
        raw = pd.read_csv(source, dtype=str, keep_default_na=False, usecols=lambda column: column in _COLUMNS)
    except (
        EOFError,
        gzip.BadGzipFile,
        zlib.error,
        UnicodeDecodeError,
        pd.errors.ParserError,
        pd.errors.EmptyDataError,
    ) as error:
        raise InputError(f"{name!r} cannot be read as CSV ({error}); fetch {_FILE} again") from error
    absent = [column for column in _COLUMNS if column not in raw.columns]
    if absent:
        raise InputError(f"{name!r} has no column {absent[0]!r}; expected the columns of {_FILE} of the UCI archive")
    return raw


def _recode(raw: pd.DataFrame) -> pd.DataFrame:
    import pandas as pd

    complete = (raw["race"] != "?") & (raw["gender"] != "Unknown/Invalid") & ~raw["age"].isin(["[0-10)", "[10-20)"])
    raw = raw.loc[complete.to_numpy()].reset_index(drop=True)
    columns: dict[str, object] = {
        "race": _levels(raw, "race", _RACES),
        "gender": _levels(raw, "gender", _GENDERS),
        "age": _levels(raw, "age", _AGES),
        "readmitted": _levels(raw, "readmitted", _OUTCOMES),
        "patient": _whole(raw, "patient_nbr"),
    }
    columns |= {name: _whole(raw, name) for name in _COUNTS}
    columns |= {name: raw[name].where(raw[name] != "?") for name in _CODES}
    columns["primary_diagnosis"] = [_chapter(code) for code in raw["diag_1"].tolist()]
    failure = [raw[name].str.fullmatch(r"428(?:\.\d*)?").to_numpy(dtype=bool) for name in _DIAGNOSES]
    columns["heart_failure"] = np.any(failure, axis=0).astype(np.int64)
    return pd.DataFrame(columns)


def _levels[Level](raw: pd.DataFrame, column: str, levels: Mapping[str, Level]) -> list[Level]:
    values: list[str] = raw[column].tolist()
    strange = sorted(set(values) - set(levels))
    if strange:
        raise InputError(f"column {column!r} has value {strange[0]!r}; expected one of {sorted(levels)}")
    return [levels[value] for value in values]


def _whole(raw: pd.DataFrame, column: str) -> NDArray[np.int64]:
    values: list[str] = raw[column].tolist()
    strange = next((value for value in values if not value.isdecimal()), None)
    if strange is not None:
        raise InputError(f"column {column!r} has value {strange!r}; expected a whole number")
    return np.array(values).astype(np.int64)


def _chapter(code: str) -> str:
    """Name the group of an ICD-9 code; letters (external causes, V codes) and missing ones are Other."""
    digits = code.split(".", maxsplit=1)[0]
    if digits.isdecimal():
        for first, last, chapter in _CHAPTERS:
            if first <= int(digits) <= last:
                return chapter
    return "Other"
