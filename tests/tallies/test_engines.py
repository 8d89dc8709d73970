"""Dask on two worker processes and Spark on two threads give the tally that pandas gives."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import bayesgroups as bg
from bayesgroups.errors import EngineError, InputError
from tests.tallies.engines import MISS_COST, assert_same, everything, need, root_on_path, some_rows

FEW = ["fnr", "auc", "mean", MISS_COST]


@pytest.fixture(scope="module")
def rows() -> pd.DataFrame:
    return some_rows(200)


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    need("dask")
    need("distributed")
    import dask
    from distributed import Client

    with (
        root_on_path(),
        dask.config.set({"distributed.scheduler.allowed-failures": 1, "distributed.worker.memory.terminate": False}),
        Client(
            n_workers=2,
            threads_per_worker=1,
            dashboard_address=":0",
            local_directory=str(tmp_path_factory.mktemp("dask")),
        ) as found,
    ):
        yield found


@pytest.fixture(scope="module")
def spark() -> Iterator[Any]:
    need("pyspark")
    from pyspark.sql import SparkSession

    settings: dict[str, bool | float | int | str | None] = {
        "spark.ui.enabled": "false",
        "spark.driver.host": "127.0.0.1",
        "spark.sql.shuffle.partitions": "2",
        # A few rows are read sooner by an interpreter than by code that is compiled for them.
        "spark.sql.codegen.wholeStage": "false",
        "spark.sql.codegen.factoryMode": "NO_CODEGEN",
        "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
    }
    session = SparkSession.builder.master("local[2]").config(map=settings).getOrCreate()
    session.sparkContext.setLogLevel("OFF")
    yield session
    session.stop()


@pytest.mark.usefixtures("client")
def test_dask(rows: pd.DataFrame) -> None:
    import dask.dataframe as dd

    changes: dict[str, Any] = {"metrics": FEW, "by": ["race"]}  # Dask takes long to plan long queries
    assert_same(everything(dd.from_pandas(rows, npartitions=2), **changes), everything(rows, **changes))


@pytest.mark.usefixtures("client")
def test_dask_with_missing_levels_and_a_missing_value(rows: pd.DataFrame) -> None:
    import dask.dataframe as dd

    holes = rows.assign(
        race=rows["race"].where(rows["patient"] % 7 > 0, None), loss=rows["loss"].where(rows["loss"] > 0.05)
    )
    lazy = dd.from_pandas(holes, npartitions=2)
    changes: dict[str, Any] = {"metrics": ["sel"], "missing": "level", "cluster": None, "loss": None}
    assert_same(everything(lazy, **changes), everything(holes, **changes))
    number = int(holes["loss"].isna().sum())
    with pytest.raises(InputError, match=rf"column 'loss' \(loss=\) has {number} missing values; fill or drop"):
        everything(lazy, metrics=["mean"], missing="level", cluster=None, features=())


def dying(part: pd.DataFrame, mark: str, times: int) -> pd.DataFrame:
    """Kill the process of a worker, as running out of memory does, the first ``times`` times."""
    deaths = len(list(Path(mark).iterdir()))
    if len(part) and deaths < times:
        (Path(mark) / str(deaths)).touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return part


@pytest.mark.usefixtures("client")
@pytest.mark.parametrize("times", [1, pytest.param(100, marks=pytest.mark.slow)])
def test_a_killed_worker_loses_no_row(rows: pd.DataFrame, tmp_path: Path, times: int) -> None:
    import dask.dataframe as dd

    whole = dd.from_pandas(rows, npartitions=2)
    lazy = whole.map_partitions(dying, str(tmp_path), times, meta=rows)
    if times == 1:  # Dask reads the lost part again
        assert_same(bg.tally(lazy, ["race"], ["mean"], loss="loss"), bg.tally(rows, ["race"], ["mean"], loss="loss"))
        assert len(list(tmp_path.iterdir())) == 1
        return
    with pytest.raises(EngineError, match="Dask could not read all rows, so nothing was tallied: KilledWorker"):
        bg.tally(lazy, ["race"], ["mean"], loss="loss")


@pytest.mark.usefixtures("client")
def test_a_damaged_part_is_an_error_of_dask(rows: pd.DataFrame, tmp_path: Path) -> None:
    import dask.dataframe as dd

    for i in range(2):
        rows.iloc[i::2].to_parquet(tmp_path / f"part{i}.parquet")
    lazy = dd.read_parquet(tmp_path)
    (tmp_path / "part1.parquet").write_bytes(b"PAR1 no more PAR1")
    with pytest.raises(
        EngineError, match="Dask could not read all rows, so nothing was tallied: ArrowInvalid: Parquet"
    ):
        bg.tally(lazy, ["race"], ["mean"], loss="loss")


@pytest.mark.slow
def test_spark(rows: pd.DataFrame, spark: Any) -> None:
    assert_same(everything(spark.createDataFrame(rows), metrics=FEW), everything(rows, metrics=FEW))


@pytest.mark.slow
def test_spark_says_what_is_wrong(rows: pd.DataFrame, spark: Any, tmp_path: Path) -> None:
    frame = spark.createDataFrame(rows.assign(loss=rows["loss"].where(rows.index != 7, float("inf"))))
    with pytest.raises(InputError, match=r"column 'loss' \(loss=\) must be finite; a row has inf"):
        bg.tally(frame, ["race"], ["mean"], loss="loss")
    for i in range(2):
        rows.iloc[i::2].to_parquet(tmp_path / f"part{i}.parquet")
    lazy = spark.read.parquet(str(tmp_path))
    (tmp_path / "part1.parquet").write_bytes(b"PAR1 no more PAR1")
    with pytest.raises(EngineError, match=r"Spark could not read all rows.*part1\.parquet"):
        bg.tally(lazy, ["race"], ["mean"], loss="loss")
