"""Digests of one evaluation from rows to answers, printed as JSON: what must be the same in every process.

python -m tests.determinism
"""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Mapping

import numpy as np
import pandas as pd
import xarray as xr

import bayesgroups as bg
from bayesgroups.views.tables import report_document


def rows() -> pd.DataFrame:
    """Rows with attributes whose order depends on letters, days, decisions, scores and losses."""
    rng = np.random.default_rng(1)
    size = 600
    frame = pd.DataFrame(
        {
            "place": rng.choice(["İzmir", "izmir", "Istanbul", "ızgara", "Ägypten", "aachen"], size),
            "sex": rng.choice(["f", "m"], size),
            "day": pd.Timestamp("2026-03-29 00:30") + pd.to_timedelta(rng.integers(0, 90 * 24, size), unit="h"),
            "y": rng.integers(0, 2, size),
            "score": rng.random(size).round(3),
            "loss": rng.lognormal(size=size),
        }
    )
    return frame.assign(d=(frame["score"] > 0.6).astype(int))


def digest_of(data: xr.Dataset) -> str:
    """Digest of all variables and coordinates, by name."""
    whole = hashlib.sha256()
    for name in sorted(map(str, data.variables)):
        values = data[name].values
        whole.update(name.encode())
        whole.update("\n".join(map(str, values.ravel())).encode() if values.dtype.kind in "OUTM" else values.tobytes())
    return whole.hexdigest()


def digests(frame: pd.DataFrame) -> dict[str, str]:
    """Digests by what was computed."""
    by = ["place", "sex"]
    counts = bg.tally(frame, by, ["fnr", "acc"], y_true="y", y_pred="d", confusion=True)
    months = bg.tally(frame, [*by, "day"], ["sel"], y_pred="d", time="month")
    reports: Mapping[str, xr.DataTree] = {
        "partial pooling": bg.estimate(counts, bg.PartialPooling(), seed=3),
        "crossed effects": bg.estimate(counts.sel(metric=["fnr"]), bg.CrossedEffects(), seed=3),
        "confusion": bg.estimate(counts, bg.ConfusionModel(), seed=3),
    }
    answers = {name: report["estimates"].to_dataset() for name, report in reports.items()}
    answers |= {f"draws of {name}": report["posterior"].to_dataset() for name, report in reports.items()}
    answers["contrasts"] = bg.contrasts(reports["partial pooling"], "overall", seed=3)
    answers["ranks"] = bg.ranks(reports["crossed effects"])
    every = {"counts": digest_of(counts), "months": digest_of(months)}
    every |= {name: digest_of(answer) for name, answer in answers.items()}
    page = report_document(reports["crossed effects"])
    page["attributes"] = {name: said for name, said in page["attributes"].items() if name != "created_at"}
    document = json.dumps(page, sort_keys=True)
    return every | {"document": hashlib.sha256(document.encode()).hexdigest()}


if __name__ == "__main__":
    sys.stdout.write(json.dumps(digests(rows())))
