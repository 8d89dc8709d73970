"""The diabetes data: recoding, the download, and the published numbers where the data are at hand."""

from __future__ import annotations

import gzip
import hashlib
import os
import sys
import types
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from bayesgroups import datasets
from bayesgroups.datasets import diabetes
from bayesgroups.datasets.downloads import fetch_member
from bayesgroups.errors import InputError, MissingDependencyError


def _raw(**changes: object) -> pd.DataFrame:
    """Four admissions in the form of the public file; two of them do not belong to the study."""
    table: dict[str, Any] = {name: ["0", "1", "2", "3"] for name in diabetes._COLUMNS}
    table |= {
        "race": ["AfricanAmerican", "?", "Asian", "Caucasian"],
        "gender": ["Female", "Male", "Male", "Female"],
        "age": ["[20-30)", "[30-40)", "[90-100)", "[10-20)"],
        "readmitted": ["<30", "NO", ">30", "NO"],
        "max_glu_serum": ["None", "None", ">200", "None"],
        "payer_code": ["?", "MC", "MC", "?"],
        "diag_1": ["250.83", "8", "428", "1"],
        "diag_2": ["428.0", "?", "4280", "?"],
        "diag_3": ["V27", "?", "E428", "?"],
    }
    return pd.DataFrame(table | changes)


def test_diabetes_is_recoded(tmp_path: Path) -> None:
    _raw().to_csv(tmp_path / "diabetic_data.csv", index=False, lineterminator="\r\n")
    rows = datasets.load_diabetes(tmp_path)
    assert rows["race"].tolist() == ["African American", "Other"]
    assert rows["age"].tolist() == ["20-39", "80-99"]
    assert rows["readmitted"].tolist() == [1, 0]
    assert rows["patient"].tolist() == [0, 2]
    assert rows["max_glu_serum"].tolist() == ["None", ">200"]
    assert rows["payer_code"].isna().tolist() == [True, False]
    assert rows["primary_diagnosis"].tolist() == ["Diabetes", "Circulatory"]
    assert rows["heart_failure"].tolist() == [1, 1]
    assert rows.index.tolist() == [0, 1]


def test_diabetes_reads_a_file_or_a_folder_compressed_or_not(tmp_path: Path) -> None:
    _raw().to_csv(tmp_path / "diabetic_data.csv.gz", index=False)
    pd.testing.assert_frame_equal(
        datasets.load_diabetes(tmp_path), datasets.load_diabetes(str(tmp_path / "diabetic_data.csv.gz"))
    )


@pytest.mark.parametrize(
    ("code", "group"),
    [("410.1", "Circulatory"), ("785", "Circulatory"), ("486", "Respiratory"), ("787.91", "Digestive"),
     ("99", "Other"), ("599", "Genitourinary"), ("820", "Injury"), ("715", "Musculoskeletal"),
     ("174", "Neoplasms"), ("V57", "Other"), ("E888", "Other"), ("?", "Other"), ("250", "Diabetes"), ("251", "Other")],
)  # fmt: skip
def test_diagnoses_are_grouped_by_chapter(code: str, group: str) -> None:
    assert diabetes._chapter(code) == group


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"race": ["x", "?", "Asian", "Asian"]}, "column 'race' has value 'x'; expected one of"),
        ({"age": ["[20-30)", "[30-40)", "ninety", "[10-20)"]}, "column 'age' has value 'ninety'"),
        ({"readmitted": ["<30", "NO", "", "NO"]}, "column 'readmitted' has value ''"),
        (
            {"number_inpatient": ["1.5", "0", "0", "0"]},
            "column 'number_inpatient' has value '1.5'; expected a whole number",
        ),
    ],
)
def test_diabetes_refuses_unknown_values(tmp_path: Path, changes: dict[str, Any], message: str) -> None:
    _raw(**changes).to_csv(tmp_path / "diabetic_data.csv", index=False)
    with pytest.raises(InputError, match=message):
        datasets.load_diabetes(tmp_path)


def test_diabetes_says_what_is_missing(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"no file .*diabetic_data\.csv' or .*diabetic_data\.csv\.gz'"):
        datasets.load_diabetes(tmp_path)
    _raw().drop(columns="gender").to_csv(tmp_path / "diabetic_data.csv", index=False)
    with pytest.raises(InputError, match="has no column 'gender'"):
        datasets.load_diabetes(tmp_path)


@pytest.mark.parametrize(
    "content", [b"", gzip.compress(b"race,gender\n" * 2000, mtime=0)[:40]], ids=["empty", "cut short"]
)
def test_diabetes_refuses_a_broken_file(tmp_path: Path, content: bytes) -> None:
    broken = tmp_path / ("diabetic_data.csv.gz" if content else "diabetic_data.csv")
    broken.write_bytes(content)
    with pytest.raises(InputError, match="cannot be read as CSV"):
        datasets.load_diabetes(broken)


@pytest.fixture
def fetcher(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[bytes], list[str]]:
    """Put a stand-in for pooch in place that 'downloads' the bytes given; it lists what was asked for."""

    def install(content: bytes) -> list[str]:
        asked: list[str] = []

        def retrieve(url: str, known_hash: str | None, path: Path) -> str:
            asked.append(url)
            (Path(path) / "archive.zip").write_bytes(content)
            return str(Path(path) / "archive.zip")

        monkeypatch.setitem(
            sys.modules, "pooch", types.SimpleNamespace(retrieve=retrieve, os_cache=lambda name: tmp_path)
        )
        return asked

    return install


def _zipped(tmp_path: Path, name: str, content: bytes) -> bytes:
    with zipfile.ZipFile(tmp_path / "made.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(name, content)
    return (tmp_path / "made.zip").read_bytes()


def test_diabetes_downloads_and_checks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fetcher: Callable[[bytes], list[str]]
) -> None:
    content = _raw().to_csv(index=False).encode()
    asked = fetcher(_zipped(tmp_path, "dataset_diabetes/diabetic_data.csv", content))
    monkeypatch.setattr(diabetes, "_SHA256", hashlib.sha256(content).hexdigest())
    monkeypatch.setattr(diabetes, "_BYTES", len(content))
    assert datasets.load_diabetes()["race"].tolist() == ["African American", "Other"]
    assert asked == [diabetes._URL]


def test_a_download_that_is_not_the_known_file_is_refused(
    tmp_path: Path, fetcher: Callable[[bytes], list[str]]
) -> None:
    content = b"x" * diabetes._BYTES  # the right length, the wrong file
    fetcher(_zipped(tmp_path, "diabetic_data.csv", content))
    with pytest.raises(InputError, match="is not the one expected"):
        datasets.load_diabetes()
    fetcher(_zipped(tmp_path, "diabetic_data.csv", b"short"))
    with pytest.raises(InputError, match="is not the one expected"):
        datasets.load_diabetes()
    fetcher(_zipped(tmp_path, "other.csv", b""))
    with pytest.raises(InputError, match=r"has no file 'diabetic_data\.csv'"):
        datasets.load_diabetes()
    fetcher(b"<html>gone</html>")
    with pytest.raises(InputError, match="is not a zip archive"):
        datasets.load_diabetes()


def test_a_failed_download_says_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    def retrieve(url: str, known_hash: str | None, path: str) -> str:
        raise OSError("no route to host")

    monkeypatch.setitem(sys.modules, "pooch", types.SimpleNamespace(retrieve=retrieve, os_cache=str))
    with pytest.raises(InputError, match=r"could not download https://example\.org/a\.zip \(no route to host\)"):
        fetch_member("https://example.org/a.zip", "a.csv", sha256="", size=0)


def test_without_pooch_the_error_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pooch", None)
    with pytest.raises(MissingDependencyError, match=r"bayesgroups\[data\]"):
        datasets.load_diabetes()


@pytest.fixture(scope="module")
def admissions() -> pd.DataFrame:
    """The public data, where they are at hand."""
    root = Path(os.environ.get("BAYESGROUPS_DATA", Path(__file__).parents[3] / "shared" / "data"))
    for folder in (root / "diabetes", root):
        if any((folder / name).is_file() for name in ("diabetic_data.csv", "diabetic_data.csv.gz")):
            return datasets.load_diabetes(folder)
    if "BAYESGROUPS_DATA" in os.environ:  # promised, so their absence is a failure
        pytest.fail(f"BAYESGROUPS_DATA names {root}, where there is no diabetic_data.csv")
    pytest.skip(f"no diabetes data: {root / 'diabetes'} has no diabetic_data.csv; set BAYESGROUPS_DATA to its folder")


def test_diabetes_has_the_published_numbers(admissions: pd.DataFrame) -> None:
    assert len(admissions) == 98_650
    assert len(set(admissions["patient"])) == 68_999
    assert round(float(admissions["readmitted"].to_numpy().mean()), 4) == 0.1128
    assert len(admissions) - int(0.25 * len(admissions)) == 73_988
    assert len(admissions[["race", "gender", "age"]].drop_duplicates()) == 32


def test_study_sizes_follow_the_order_of_the_full_data(admissions: pd.DataFrame) -> None:
    sizes = admissions.groupby(["race", "gender", "age"]).size().to_numpy()
    assert (np.diff(np.array(datasets.STUDY_SIZES)[np.argsort(sizes)]) >= 0).all()


def test_diabetes_columns_have_no_accidental_missing_values(admissions: pd.DataFrame) -> None:
    missing = {name for name in admissions.columns if admissions[name].isna().to_numpy().any()}
    assert missing == {"payer_code", "medical_specialty"}
    assert "None" in set(admissions["A1Cresult"])
    assert set(admissions["number_diagnoses"]) <= set(range(1, 17))
    assert round(float(admissions["heart_failure"].to_numpy().mean()), 3) == 0.174
