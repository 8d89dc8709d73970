from __future__ import annotations

import base64
import hashlib
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
from bayesgroups.views.html.page import render
from bayesgroups.views.html.sections import estimates as table_section
from bayesgroups.views.html.sections.context import DRAWN, contexts
from bayesgroups.views.html.sections.estimates import ROWS
from bayesgroups.views.html.sections.provenance import origin

MakeReport = Callable[..., xr.DataTree]
MakeTally = Callable[..., xr.Dataset]
EVIL = "<script>alert(1)</script>"


class Page(HTMLParser):
    """Tags, and attributes of images and head cells; complains about tags that do not match."""

    VOID = frozenset({"meta", "col", "img", "input"})

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


@pytest.mark.usefixtures("no_pictures")
def test_the_page_is_written_whole(report: xr.DataTree, tmp_path: Path) -> None:
    path = bg.write_html(report, tmp_path / "report.html")
    assert path.read_text("utf-8") == render(report)
    assert [file.name for file in tmp_path.iterdir()] == ["report.html"]


def test_the_same_report_gives_the_same_bytes(report: xr.DataTree, tmp_path: Path) -> None:
    report = report.isel(metric=[0])
    one, two = (bg.write_html(report, tmp_path / name).read_bytes() for name in ("a.html", "b.html"))
    assert one == two


@pytest.mark.usefixtures("no_pictures")
def test_a_report_from_disk_gives_the_same_page(report: xr.DataTree, tmp_path: Path) -> None:
    opened = bg.open_report(bg.save_report(report, tmp_path / "report.nc"))
    assert render(opened) == render(report)


@pytest.mark.usefixtures("no_pictures")
def test_it_is_one_file_that_needs_no_other(report: xr.DataTree) -> None:
    text = render(report)
    page = Page(text)
    assert page.tags.count("script") == 1  # our own, whose hash is the only one that may run
    digest = hashlib.sha256(text.partition("<script>")[2].partition("</script>")[0].encode()).digest()
    assert f"script-src 'sha256-{base64.b64encode(digest).decode()}'" in text
    assert "link" not in page.tags
    assert all(str(image["src"]).startswith("data:image/svg+xml;base64,") for image in page.images)
    assert "http://" not in text
    assert "https://" not in text
    assert "default-src 'none'" in text
    assert len(page.ids) == len(set(page.ids))


def test_labels_and_notes_are_escaped(make_report: MakeReport, make_tally: MakeTally) -> None:
    tally = make_tally({"group": [EVIL, '"><img src=x onerror=alert(1)>', "a\x1b[0m", "{{ 7 * 7 }}"]}, metrics=("fnr",))
    text = render(make_report(tally, notes=[f"about {EVIL}"]))
    page = Page(text)
    assert EVIL not in text
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in text
    assert page.tags.count("script") == 1
    assert len(page.images) == 4
    assert "{{ 7 * 7 }}" in text
    assert "\x1b" not in text
    for image in page.images:
        picture = base64.b64decode(str(image["src"]).partition(",")[2])
        assert not list(ET.fromstring(picture).iter("{http://www.w3.org/2000/svg}script"))


@pytest.mark.usefixtures("no_pictures")
def test_both_intervals_are_in_the_table(report: xr.DataTree) -> None:
    text = render(report, level=0.8)
    estimates = report["estimates"].to_dataset().sel(level=0.8)
    for metric in ("fnr", "acc"):
        for approach in ("bayesian", "frequentist"):
            one = estimates.sel(metric=metric, approach=approach, subgroup="Asian | Male")
            assert f"{float(one['lower']):.3f} to {float(one['upper']):.3f}" in text
            assert f">{float(one['estimate']):.3f}<" in text
    assert "80% interval" in text
    assert "credible, equal-tailed" in text
    assert "confidence, Morris" in text


@pytest.mark.usefixtures("no_pictures")
def test_the_verdict_is_the_headline(make_report: MakeReport) -> None:
    assert "<strong>Usable.</strong>" in render(make_report())
    text = render(make_report(usable=False))
    assert "NOT usable" in text
    assert "2 of 2 checks of the computation failed" in text
    assert text.index("NOT usable") < text.index("<figure")
    assert "FAILED" in text


@pytest.mark.usefixtures("no_pictures")
def test_statuses_come_with_their_reason(report: xr.DataTree) -> None:
    text = render(report)
    assert "imputed <small>no rows</small>" in text
    assert "undefined <small>no rows</small>" in text
    assert "saturated <small>all rows agree</small>" in text


@pytest.mark.usefixtures("no_pictures")
def test_pictures_have_a_text_made_from_numbers(report: xr.DataTree, truth: xr.DataArray) -> None:
    alternatives = [str(image["alt"]) for image in Page(render(report, truth=truth)).images]
    estimates = report["estimates"].to_dataset().sel(metric="fnr", approach="bayesian")["estimate"]
    assert "Forest plot of fnr in 6 subgroups" in alternatives[0]
    assert f"from {float(estimates.min()):.3f}" in alternatives[0]
    assert "Frequentist: 1 subgroup without an answer." in alternatives[0]
    assert re.search(r"The known truth lies in \d of 6 credible intervals \(95%\)\.", alternatives[0])


@pytest.mark.usefixtures("no_pictures")
def test_head_cells_have_a_scope(report: xr.DataTree) -> None:
    page = Page(render(report))
    assert page.heads
    assert {head.get("scope") for head in page.heads} == {"col", "colgroup", "row"}


@pytest.mark.usefixtures("no_pictures")
def test_a_truth_that_is_missed_is_marked(report: xr.DataTree, truth: xr.DataArray) -> None:
    assert "misses truth" in render(report, truth=xr.zeros_like(truth))
    assert "misses truth" not in render(report)


@pytest.mark.usefixtures("no_pictures")
def test_many_subgroups_are_drawn_in_part_and_listed_in_full(make_report: MakeReport, make_tally: MakeTally) -> None:
    labels = [f"site {i:03d}" for i in range(DRAWN + 5)]
    text = render(make_report(make_tally({"site": labels}, metrics=("fnr",))))
    assert (
        f"Drawn are {DRAWN} of {len(labels)} subgroups: the {DRAWN // 2} worst estimates and the largest others" in text
    )
    assert all(f">{label}<" in text for label in labels)


def test_scripts_of_all_peoples_are_drawn_without_a_warning(make_report: MakeReport, make_tally: MakeTally) -> None:
    text = render(make_report(make_tally({"言語": ["日本語", "العربية", "हिन्दी", "👩‍🚀"]}, metrics=("fnr",))))
    assert "日本語" in text
    picture = base64.b64decode(str(Page(text).images[0]["src"]).partition(",")[2]).decode("utf-8")
    assert "日本語" in picture


@pytest.mark.usefixtures("no_pictures")
def test_other_kinds_of_metric_are_told_in_words() -> None:
    rows = pd.DataFrame({"site": list("aaabbbcccddd"), "wer": np.linspace(0.1, 1.3, 12), "w": np.linspace(1, 2, 12)})
    tally = bg.tally(rows, by=["site"], metrics=["mean"], loss="wer", weights="w")
    text = render(bg.estimate(tally, bg.PartialPooling(), seed=1))
    assert "Mean loss (mean)" in text
    assert "The mean of the column wer over all rows; smaller is better" in text
    assert "n is the effective number of rows, for rows have weights: so many independent ones tell as much." in text
    assert "normal likelihood with known sampling variances" in text


@pytest.mark.usefixtures("no_pictures")
def test_damaged_attributes_do_not_stop_the_page(report: xr.DataTree) -> None:
    report.attrs["notes"] = "no json {"
    del report.attrs["versions"]
    assert "Diagnostics" in render(report)


@pytest.mark.usefixtures("no_pictures")
def test_the_answer_comes_first_and_then_the_question(report: xr.DataTree) -> None:
    text = render(report)
    wanted = (
        "<strong>Usable.</strong>", "What are the ", "At a glance", "<h3>Worst", "<h3>Estimates of both", "<h3>What pooling does",
        "<h3>Disparity", "<h3>Certification", "<h3>Sensitivity to the prior", "<h3>All subgroups", 'id="diagnostics"',
        'id="method"', "<h3>References", 'id="origin"',
    )  # fmt: skip
    places = [text.index(words) for words in wanted]
    assert places == sorted(places)


@pytest.mark.usefixtures("no_pictures")
def test_the_numbers_of_the_questions_are_those_of_the_functions(report: xr.DataTree) -> None:
    text = render(report)
    gap = bg.disparity(report, "max_min_difference").sel(metric="fnr", measure="max_min_difference")
    assert (
        f"The gap between the largest and the smallest value is {float(gap['value']):.3f} (95% credible interval"
        in text
    )
    promise = bg.certify(report).sel(metric="fnr")
    assert (
        f"With a posterior probability of 95% every subgroup has fnr at most {float(promise['pessimist']):.3f}." in text
    )
    chances = bg.ranks(report).sel(metric="fnr")["probability_worst"]
    assert f"with a probability of {100 * float(chances.max()):.0f}%" in text


def test_the_centre_and_other_priors_are_called_what_they_are(report: xr.DataTree) -> None:
    """The centre of the subgroups is no value over everybody, and powers double the scale of normal priors alone."""
    text = render(report)
    centre = float(report["posterior"]["overall"].sel(metric="fnr").mean())
    assert f"Centre of the subgroups (posterior mean): {centre:.3f}" in text
    assert '<th scope="row">Centre of the subgroups (overall)</th>' in text
    assert "for everybody" not in text
    moved = bg.prior_sensitivity(report).sel(metric="fnr")
    largest = float(abs(moved["mean_at"] - moved["mean"]).max())
    assert (
        f"With priors to the power 1/4 or 4, wider and narrower, no estimate of these would move by more than {largest:.3f}"
        in text
    )
    assert "a normal or half-normal prior is then twice and half as wide" in text


def test_the_code_says_what_it_cannot_make_again(report: xr.DataTree) -> None:
    strange = report.copy()
    strange.attrs = {**report.attrs, "estimator": "prior_rows", "settings": '{"rows": 10.0}', "seed": 3}
    del strange.attrs["estimator_class"]  # as in a report of draws
    assert "report = ...  # prior_rows(rows=10.0), which is not part of bayesgroups; seed 3" in origin(strange)["code"]
    sampled = report.copy()
    sampled.attrs = {**report.attrs, "inference": "nuts"}
    assert ", inference='nuts')" in origin(sampled)["code"]
    assert "inference=" not in origin(report)["code"]


@pytest.mark.usefixtures("no_pictures")
def test_the_code_that_makes_it_again_runs() -> None:
    rows = pd.DataFrame({"site": list("aabb") * 5, "y": [1, 0, 1, 1] * 5, "d": [1, 0, 0, 1] * 5})
    made = bg.estimate(
        bg.tally(rows, ["site"], ["fnr"], y_true="y", y_pred="d"), bg.PartialPooling(tau_scale=0.3), seed=4
    )
    code = origin(made)["code"]
    settings = (
        "clusters='effective_counts', coefficient_scale=None, covariates=(), interval='morris', likelihood='auto', "
        "method='reml', overall_scale=None, tau_scale=0.3"
    )
    assert f"report = bg.estimate(tally, bg.PartialPooling({settings}), seed=4)" in code
    names: dict[str, object] = {"rows": rows}
    exec(code.rpartition("\n")[0], names)  # all but the line that writes a file
    again = names["report"]
    assert isinstance(again, xr.DataTree)
    xr.testing.assert_identical(again["posterior"].to_dataset(), made["posterior"].to_dataset())


@pytest.mark.usefixtures("no_pictures")
def test_without_pooling_and_with_flat_priors_the_page_gives_reasons() -> None:
    who = pd.DataFrame({"site": list("abcd")})
    tally = bg.tally_from_counts([1, 30, 9, 4], [2, 100, 60, 9], who, metric="fnr")
    text = render(bg.estimate(tally, bg.JamesStein(), seed=1))
    assert "Not available: its priors are flat" in text


@pytest.mark.usefixtures("no_pictures")
def test_a_metric_that_is_undefined_everywhere_is_said_to_be() -> None:
    who = pd.DataFrame({"site": ["a", "b"]})
    text = render(bg.estimate(bg.tally_from_counts([0, 0], [0, 0], who, metric="fnr"), bg.PartialPooling(), seed=1))
    assert "undefined in every subgroup" in text
    assert "Certification" not in text


@pytest.fixture(scope="module")
def judged() -> pd.DataFrame:
    rng = np.random.default_rng(2)
    rows = pd.DataFrame({"site": rng.choice(list("abc"), 600), "d": rng.integers(0, 2, 600)})
    return rows.assign(gold=np.where(rng.random(600) < 0.4, rows["d"], np.nan))


@pytest.mark.usefixtures("no_pictures")
def test_of_a_signed_metric_nobody_is_the_worst(judged: pd.DataFrame) -> None:
    tally = bg.tally(judged, ["site"], "judge_bias", y_true="gold", y_pred="d", unlabelled="keep")
    report = bg.estimate(tally, bg.ConfusionModel(), seed=1)
    text = render(report, reference="overall")
    for words in (
        "Worst subgroups",
        "Certification",
        "Value of the worst",
        "P(worse)",
        "Worse than",
        "Worst subgroup&#39;s gap",
    ):
        assert words not in text, words
    for words in (
        "none: 0 is fair",
        "P(larger)",
        "0 is the fair value, and a value below it is no better than one above",
    ):
        assert words in text, words
    given = bg.tally(
        judged, ["site"], "judge_bias", y_true="gold", y_pred="d", unlabelled="keep", larger_is_better=False
    )
    directed = render(bg.estimate(given, bg.ConfusionModel(), seed=1))
    assert "The worst value is the highest one." in directed
    assert "0 is the fair value" not in directed


@pytest.mark.usefixtures("no_pictures")
def test_a_direction_that_was_taken_by_default_is_said_to_be(judged: pd.DataFrame) -> None:
    tally = bg.tally(judged, ["site"], "prev", y_true="gold", y_pred="d", unlabelled="keep")
    report = bg.estimate(tally, bg.ConfusionModel(), seed=1)
    text = render(report)
    taken = "smaller values are taken to be better, for no direction was given (larger_is_better= in the tally)"
    assert f"The worst value is the highest one: {taken}." in text
    promise = float(bg.certify(report, level=0.95, using="posterior")["certified"].sel(probability=0.95).item())
    assert f"every subgroup has prev at most {promise:.3f}; {taken}." in text
    rows = tally["rows"].values
    count = tally["count"].sel(metric="prev").values
    assert f"{count[0]:.1f} <small>of {rows[0]:.0f} rows</small>" in text
    assert "n is the effective number of rows, for not every row has a label" in text


@pytest.mark.usefixtures("no_pictures")
def test_very_many_of_a_signed_metric_are_drawn_by_their_distance_from_0() -> None:
    rng = np.random.default_rng(2)
    rows = pd.DataFrame({"site": np.repeat([f"s{i:02d}" for i in range(60)], 30), "y": rng.integers(0, 2, 1800)})
    rows["d"] = np.where(rows["site"] == "s07", 0, rows["y"])
    report = bg.estimate(bg.tally(rows, ["site"], "judge_bias", y_true="y", y_pred="d"), bg.NoPooling(), seed=1)
    assert 7 in contexts(report, 0.95, None)[0].drawn()[:1]
    assert "20 estimates farthest from 0 and the largest others" in render(report)


@pytest.mark.usefixtures("no_pictures")
def test_one_subgroup_is_told_apart(make_report: MakeReport, make_tally: MakeTally) -> None:
    text = render(make_report(make_tally({"site": ["a"]}, metrics=("fnr",))))
    assert "a is the only subgroup with an answer." in text


@pytest.mark.usefixtures("no_pictures")
def test_a_table_of_very_many_says_what_it_leaves_out(
    make_report: MakeReport, make_tally: MakeTally, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(table_section, "ROWS", 3)
    assert ROWS == 5000
    text = render(make_report(make_tally({"site": list("abcde")}, metrics=("fnr",))))
    assert "Listed are the 3 subgroups with the largest n; 2 more are in the report itself" in text


@pytest.mark.usefixtures("no_pictures")
def test_bad_requests_are_refused(report: xr.DataTree, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="does not exist; make it first"):
        bg.write_html(report, tmp_path / "nowhere" / "report.html")
    with pytest.raises(InputError, match=r"level 0\.99 is not in a report"):
        bg.write_html(report, tmp_path / "report.html", level=0.99)
    with pytest.raises(SchemaError, match="expected a report"):
        bg.write_html({}, tmp_path / "report.html")  # type: ignore[arg-type]
    assert list(tmp_path.iterdir()) == []
