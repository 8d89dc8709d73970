"""A hundred million rows from Parquet in a process that may use 2 GB of memory.

Run with ``pytest -m benchmark -s tests/benchmarks/test_out_of_memory.py``; ``BAYESGROUPS_MILLIONS=20``
makes it smaller. The files are written to a temporary directory and removed with it.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.benchmarks.table import Row, Table

pytestmark = pytest.mark.benchmark

MILLIONS = int(os.environ.get("BAYESGROUPS_MILLIONS", "100"))
BYTES = 2 * 10**9
COUNTED = """
import json, resource, sys, time
resource.setrlimit(resource.RLIMIT_AS, ({limit}, {limit}))
import bayesgroups as bg
start = time.perf_counter()
found = bg.tally({pattern!r}, ["g", "h"], ["fnr", "sel", "mean", "auc"], y_true="y", y_score="s", threshold=0.5, loss="v")
seconds = time.perf_counter() - start
from examples.comparisons.scaling import peak_megabytes
peak = peak_megabytes() * 10**6
print(json.dumps({{"seconds": seconds, "peak": peak, "rows": float(found["rows"].sum()),
                  "successes": found["successes"].sum("subgroup").values.tolist(),
                  "means": found["estimate"].sel(metric="mean").values.tolist(),
                  "auc": found["estimate"].sel(metric="auc").values.tolist()}}))
"""


def test_a_hundred_million_rows_in_two_gigabytes(tmp_path: Path, table: Table) -> None:
    import duckdb

    if shutil.disk_usage(tmp_path).free < 3 * 10**7 * MILLIONS:
        pytest.skip(f"{tmp_path} has too little space for {MILLIONS} million rows")
    connection = duckdb.connect(config={"memory_limit": "4GB"})
    for part in range(MILLIONS // 10 or 1):
        connection.execute(
            f"COPY (SELECT 'g' || (i % 5) AS g, 'h' || (i % 7) AS h, (hash(i) % 2)::INT AS y, (hash(i + 1) % 1000) / 1000 AS s, "
            f"(hash(i + 2) % 4096) / 1024 AS v FROM range({part} * 10000000::BIGINT, {part + 1} * 10000000::BIGINT) t(i)) "
            f"TO '{tmp_path}/{part}.parquet'"
        )
    pattern = f"{tmp_path}/*.parquet"
    size = sum(path.stat().st_size for path in tmp_path.glob("*.parquet"))
    done = subprocess.run(
        [sys.executable, "-c", COUNTED.format(limit=BYTES, pattern=pattern)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    found = json.loads(done.stdout)
    wanted = connection.execute(
        f"SELECT count(*), sum((y = 1 AND s < 0.5)::INT), sum((s >= 0.5)::INT), list(DISTINCT g) FROM '{pattern}'"
    ).fetchone()
    assert wanted is not None
    means = connection.execute(f"SELECT avg(v) FROM '{pattern}' GROUP BY g, h ORDER BY g, h").fetchall()
    what, note = (
        f"tally of {found['rows']:,.0f} rows from Parquet, an AUC among 4 metrics",
        f"files of {size / 1e9:.2f} GB",
    )
    gigabytes = BYTES / 10**9
    table.add(Row(what, f"address space of {gigabytes:g} GB", (found["peak"] / 1e9,), "GB", gigabytes, False, note))
    table.add(Row(what, "-", (found["seconds"],), "s"))
    assert found["rows"] == wanted[0]
    assert found["successes"][:2] == [float(wanted[1]), float(wanted[2])]
    assert found["means"] == pytest.approx([mean for (mean,) in means], rel=1e-12)
    assert all(abs(value - 0.5) < 0.01 for value in found["auc"])
    assert found["peak"] < BYTES
