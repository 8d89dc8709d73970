from __future__ import annotations

import base64
import re
import xml.etree.ElementTree as ET
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import xarray as xr

import bayesgroups as bg
from bayesgroups.errors import InputError, SchemaError
from bayesgroups.html.page import DRAWN, render

MakeReport = Callable[..., xr.DataTree]
MakeTally = Callable[..., xr.Dataset]
EVIL = "<script>alert(1)</script>"


class Page(HTMLParser):
    """Tags, and attributes of images and head cells; complains about tags that do not match."""

    VOID = frozenset({"meta", "col", "img"})

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.images: list[dict[str, str | None]] = []
        self.heads: list[dict[str, str | None]] = []
        self.ids: list[str] = []
        self._open: list[str] = []
        self.feed(text)
        assert self._open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        found = dict(attrs)
        if tag not in self.VOID:
            self._open.append(tag)
        if tag == "img":
            self.images.append(found)
        if tag == "th":
            self.heads.append(found)
        if found.get("id"):
            self.ids.append(str(found["id"]))

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag


def test_the_page_is_written_whole(report: xr.DataTree, tmp_path: Path) -> None:
    path = bg.write_html(report, tmp_path / "report.html")
    assert path.read_text("utf-8") == render(report)
    assert [file.name for file in tmp_path.iterdir()] == ["report.html"]


def test_the_same_report_gives_the_same_bytes(report: xr.DataTree, tmp_path: Path) -> None:
    one, two = (bg.write_html(report, tmp_path / name).read_bytes() for name in ("a.html", "b.html"))
    assert one == two


def test_a_report_from_disk_gives_the_same_page(report: xr.DataTree, tmp_path: Path) -> None:
    opened = bg.open_report(bg.save_report(report, tmp_path / "report.nc"))
    assert render(opened) == render(report)


def test_it_is_one_file_without_script(report: xr.DataTree) -> None:
    text = render(report)
    page = Page(text)
    assert "script" not in page.tags
    assert "link" not in page.tags
    assert all(str(image["src"]).startswith("data:image/svg+xml;base64,") for image in page.images)
    assert "http://" not in text
    assert "https://" not in text
    assert "default-src 'none'" in text
    assert len(page.ids) == len(set(page.ids))


def test_labels_and_notes_are_escaped(make_report: MakeReport, make_tally: MakeTally) -> None:
    tally = make_tally({"group": [EVIL, '"><img src=x onerror=alert(1)>', "a\x1b[0m", "{{ 7 * 7 }}"]})
    text = render(make_report(tally, notes=[f"about {EVIL}"]))
    page = Page(text)
    assert EVIL not in text
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in text
    assert "script" not in page.tags
    assert len(page.images) == 2
    assert "{{ 7 * 7 }}" in text
    assert "\x1b" not in text
    for image in page.images:
        picture = base64.b64decode(str(image["src"]).partition(",")[2])
        assert not list(ET.fromstring(picture).iter("{http://www.w3.org/2000/svg}script"))


def test_both_intervals_are_in_the_table(report: xr.DataTree) -> None:
    text = render(report, level=0.8)
    estimates = report["estimates"].to_dataset().sel(level=0.8)
    for metric in ("fnr", "acc"):
        for approach in ("bayesian", "frequentist"):
            one = estimates.sel(metric=metric, approach=approach, subgroup="Asian | Male")
            assert f"{float(one['lower']):.3f} to {float(one['upper']):.3f}" in text
            assert f">{float(one['estimate']):.3f}<" in text
    assert "80% interval" in text
    assert "credible, equal tailed" in text
    assert "confidence, morris" in text


def test_the_verdict_is_the_headline(make_report: MakeReport) -> None:
    assert "<strong>Usable.</strong>" in render(make_report())
    text = render(make_report(usable=False))
    assert "NOT usable" in text
    assert "2 of 2 checks of the computation failed" in text
    assert text.index("NOT usable") < text.index("<figure>")
    assert "FAILED" in text


def test_statuses_come_with_their_reason(report: xr.DataTree) -> None:
    text = render(report)
    assert "imputed <small>no rows</small>" in text
    assert "undefined <small>no rows</small>" in text
    assert "saturated <small>all rows agree</small>" in text


def test_pictures_have_a_text_made_from_numbers(report: xr.DataTree, truth: xr.DataArray) -> None:
    alternatives = [str(image["alt"]) for image in Page(render(report, truth=truth)).images]
    estimates = report["estimates"].to_dataset().sel(metric="fnr", approach="bayesian")["estimate"]
    assert "Forest plot of fnr in 6 subgroups" in alternatives[0]
    assert f"from {float(estimates.min()):.3f}" in alternatives[0]
    assert "Frequentist: 1 subgroup without an answer." in alternatives[0]
    assert re.search(r"The known truth lies in \d of 6 credible intervals \(95%\)\.", alternatives[0])


def test_head_cells_have_a_scope(report: xr.DataTree) -> None:
    page = Page(render(report))
    assert page.heads
    assert {head.get("scope") for head in page.heads} == {"col", "colgroup", "row"}


def test_a_truth_that_is_missed_is_marked(report: xr.DataTree, truth: xr.DataArray) -> None:
    assert "misses truth" in render(report, truth=xr.zeros_like(truth))
    assert "misses truth" not in render(report)


def test_many_subgroups_are_drawn_in_part_and_listed_in_full(make_report: MakeReport, make_tally: MakeTally) -> None:
    labels = [f"site {i:03d}" for i in range(DRAWN + 5)]
    text = render(make_report(make_tally({"site": labels}, metrics=("fnr",))))
    assert f"Drawn are the {DRAWN} subgroups with the largest n of\n{len(labels)}" in text
    assert all(f">{label}<" in text for label in labels)


def test_scripts_of_all_peoples_are_drawn_without_a_warning(make_report: MakeReport, make_tally: MakeTally) -> None:
    text = render(make_report(make_tally({"言語": ["日本語", "العربية", "हिन्दी", "👩‍🚀"]})))
    assert "日本語" in text
    picture = base64.b64decode(str(Page(text).images[0]["src"]).partition(",")[2]).decode("utf-8")
    assert "日本語" in picture


def test_other_kinds_of_metric_are_told_in_words() -> None:
    rows = pd.DataFrame({"site": list("aaabbbcccddd"), "wer": np.linspace(0.1, 1.3, 12), "w": np.linspace(1, 2, 12)})
    tally = bg.tally(rows, by=["site"], metrics=["mean"], loss="wer", weights="w")
    text = render(bg.estimate(tally, bg.PartialPooling(), seed=1))
    assert "Mean loss (mean)" in text
    assert "The mean of the column wer over all rows; smaller is better" in text
    assert "effective number under the weights" in text
    assert "normal likelihood with known sampling variances" in text


def test_damaged_attributes_do_not_stop_the_page(report: xr.DataTree) -> None:
    report.attrs["notes"] = "no json {"
    del report.attrs["versions"]
    assert "Diagnostics" in render(report)


def test_bad_requests_are_refused(report: xr.DataTree, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="does not exist; make it first"):
        bg.write_html(report, tmp_path / "nowhere" / "report.html")
    with pytest.raises(InputError, match=r"level 0\.99 is not in a report"):
        bg.write_html(report, tmp_path / "report.html", level=0.99)
    with pytest.raises(SchemaError, match="expected a report"):
        bg.write_html({}, tmp_path / "report.html")  # type: ignore[arg-type]
    assert list(tmp_path.iterdir()) == []
