"""The record of coverage when rows come in clusters, and how it is made.

The record is made, in about three minutes, by

    python -m tests.recovery.studies.clusters --output tests/recovery/records/cluster_coverage.csv
"""

from __future__ import annotations

import csv
import io
from dataclasses import asdict
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from bayesgroups.errors import InputError
from bayesgroups.frequentist import no_pooling
from bayesgroups.report.levels import LEVELS
from examples.records import as_csv
from tests.recovery.remade import assert_remade
from tests.recovery.studies import clusters as cluster_study
from tests.recovery.studies.clusters import CLUSTERS, CORRELATION, draw, main, study
from tests.studies.resumed import resumed

RECORD = Path(__file__).parent / "records" / "cluster_coverage.csv"
Key = tuple[str, str, str, str, float]


def read(text: str) -> dict[Key, tuple[float, float]]:
    return {
        (line["law"], line["analysis"], line["interval"], line["clusters"], float(line["level"])): (
            float(line["coverage"]),
            float(line["width"]),
        )
        for line in csv.DictReader(io.StringIO(text))
    }


@cache
def record() -> dict[Key, tuple[float, float]]:
    return read(RECORD.read_text(encoding="utf-8"))


@pytest.mark.parametrize(("law", "interval"), [("mean", "pooled_t"), ("rate", "wilson")])
def test_rows_cover_too_seldom_and_robust_widths_as_often_as_they_say(law: str, interval: str) -> None:
    for level in LEVELS:
        ignored, robust = (record()[law, analysis, interval, "all", level][0] for analysis in ("ignore", "robust"))
        assert robust == pytest.approx(level, abs=0.035 if level == 0.5 else 0.02)
        assert ignored < level - 0.1
    assert record()[law, "ignore", interval, "all", 0.95][0] < 0.75
    for clusters in ("one", "few", "many"):
        assert record()[law, "robust", interval, clusters, 0.95][0] == pytest.approx(0.95, abs=0.03)


@pytest.mark.parametrize("law", ["mean", "rate"])
def test_means_of_clusters_cover_as_often_as_they_say(law: str) -> None:
    for level in LEVELS:
        assert record()[law, "mean", "pooled_t", "all", level][0] == pytest.approx(level, abs=0.025)


@pytest.mark.parametrize("law", ["mean", "rate"])
def test_empirical_bayes_inherits_the_widths(law: str) -> None:
    for analysis in ("robust", "mean"):
        assert record()[law, analysis, "morris", "all", 0.95][0] > 0.94
    assert record()[law, "ignore", "morris", "all", 0.95][0] < 0.8


def test_own_clusters_need_to_be_many() -> None:
    for law in ("mean", "rate"):
        few, many = (record()[law, "robust", "cluster_robust", clusters, 0.95][0] for clusters in ("few", "many"))
        assert few < many < 0.95
    few, many = (record()["mean", "mean", "cluster_robust", clusters, 0.95][0] for clusters in ("few", "many"))
    assert few == pytest.approx(0.95, abs=0.02)
    assert many == pytest.approx(0.95, abs=0.02)


@pytest.mark.parametrize("law", ["mean", "rate"])
def test_the_design_has_the_correlation_it_names(law: str) -> None:
    rng = np.random.default_rng(5)
    spread, sums = [], []
    for _ in range(400):
        truth, found = draw(law, rng)  # type: ignore[arg-type]
        assert found.clusters is not None
        many = found.clusters.subgroup == len(CLUSTERS) - 1
        size = found.clusters.rows[many]
        own = found.moments.mean[0, -1] - truth[-1]
        variance = 1.0 if law == "mean" else truth[-1] * (1 - truth[-1])
        n = size.sum()
        spread.append(own**2)
        sums.append(variance / n * (1 + ((size**2).sum() / n - 1) * CORRELATION))
    assert np.mean(spread) == pytest.approx(np.mean(sums), rel=0.25)


def test_a_short_study_is_written_as_it_is_read(tmp_path: Path) -> None:
    target = tmp_path / "some" / "record.csv"
    main(["--output", str(target), "--replications", "3", "--seed", "1"])
    text = target.read_text(encoding="utf-8")
    found, again = resumed(lambda run: study(3, 1, executor=run), tmp_path / "kept")
    assert found == again
    assert text == as_csv(found)
    assert set(read(text)) == set(record())


@pytest.mark.slow
@pytest.mark.parametrize("analysis", ["ignore", "robust", "mean"])
def test_lines_of_the_record_can_be_made_again(analysis: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The interval of no pooling for rates, in all replications."""
    interval = "pooled_t" if analysis == "mean" else "wilson"
    tried = {interval: lambda tally: no_pooling.estimate(tally, interval=interval)}  # type: ignore[arg-type]
    monkeypatch.setattr(cluster_study, "_analyses", lambda: [analysis])
    monkeypatch.setattr(cluster_study, "_tried", lambda law, analysis: tried)
    lines = cluster_study._measure(cluster_study.REPLICATIONS, cluster_study.SEED, 1)
    assert len(lines) == 4 * len(LEVELS)
    assert_remade(RECORD, list(map(asdict, lines)), ["law", "analysis", "interval", "clusters", "level"])


def test_one_replication_is_too_few() -> None:
    with pytest.raises(InputError, match="replications=1 must be 2 or more"):
        study(1, 1)
