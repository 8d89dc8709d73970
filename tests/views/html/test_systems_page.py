"""The page of systems: what it says is what the answers say, for two systems, three, means, and nothing."""

from __future__ import annotations

import html
import json
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import bayesgroups as bg
from bayesgroups.cli import run
from bayesgroups.errors import InputError, SchemaError
from bayesgroups.questions.systems.differences import SystemCorrection
from bayesgroups.views.html.sections.system_pairs import shown_better
from bayesgroups.views.html.systems_page import render

LOGS = Path(__file__).parents[2] / "golden" / "logs"
INSPECT = str(LOGS / "inspect")


def rows(number: int = 240) -> pd.DataFrame:
    """Answers of three systems: B beats A clearly in x, and nothing is known of z but one item; C is as A."""
    rng = np.random.default_rng(1)
    site = np.array(["x", "y"] * (number // 2))
    easy = rng.normal(size=number)
    frame = pd.DataFrame({"site": site})
    for name, gain in {"A": 0.0, "B": 1.2, "C": 0.0}.items():
        frame[name] = (easy + gain * (site == "x") + 0.3 * rng.normal(size=number) > 0).astype(int)
    return pd.concat([frame, pd.DataFrame({"site": ["z"], "A": [1], "B": [1], "C": [1]})], ignore_index=True)


def texts(page: str) -> str:
    return " ".join(html.unescape(re.sub(r"<[^>]+>", " ", page.split("<main", 1)[1])).split())


def test_two_systems_are_told_apart_where_the_answer_tells_them_apart(tmp_path: Path) -> None:
    tally = bg.paired_tally(rows(), ["site"], ["B", "A"])
    page = bg.write_systems_html(tally, tmp_path / "page.html", seed=3).read_text("utf-8")
    answer = bg.compare_systems(tally, correction="holm_all", overall=True, seed=3).sel(pair="B - A")
    bayes = answer.sel(approach="bayesian")
    assert shown_better(bayes, 1).tolist() == [1.0, 0.0, 0.0, 1.0]
    shown = texts(page)
    assert (
        "B is shown to be better in x. They cannot be told apart in y, z; that does not show that they are equal."
        in shown
    )
    everyone = bayes.sel(subgroup="(all)")
    assert f"difference B - A is {float(everyone['difference']):.3f} (95% credible interval" in shown
    y = answer.sel(subgroup="y", approach="frequentist")
    assert f"{float(y['lower']):.3f} to {float(y['upper']):.3f}" in shown
    assert "B is shown to be the best for everyone together." in shown
    assert "no discordant item" in shown
    assert "http" not in re.sub(r"https://(doi|www\.jstor)\.org\S+", "", page.split("</style>")[1]).replace(
        "http-equiv", ""
    )


@pytest.mark.usefixtures("no_pictures")
def test_the_other_order_names_the_same_winner() -> None:
    shown = texts(render(bg.paired_tally(rows(), ["site"], ["A", "B"]), seed=3))
    assert "B is shown to be better in x. They cannot be told apart in y, z" in shown


@pytest.mark.usefixtures("no_pictures")
def test_a_saved_tally_becomes_a_page_and_smaller_means_win(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    tally = bg.paired_tally(rows(), ["site"], ["A", "B"], metric="mean")
    saved, page = bg.save_tally(tally, tmp_path / "pairs.nc"), tmp_path / "page.html"
    assert run(["write-systems-html", str(saved), "--output", str(page), "--correction", "holm", "--seed", "3"]) == 0
    assert "Wrote the page to" in capsys.readouterr().out
    shown = texts(page.read_text("utf-8"))
    assert "smaller is better" in shown
    assert "A is shown to be better in x." in shown
    assert "t tests and t limits" in shown
    assert "limits that hold for all pairs of each subgroup together" in shown
    again = bg.open_tally(saved).assign_attrs(command=_command(page))
    assert render(again, correction="holm", seed=3) == page.read_text("utf-8")


def _command(page: Path) -> str:
    match = re.search(r"<dt>Command</dt><dd>([^<]*)</dd>", page.read_text("utf-8"))
    assert match is not None
    return html.unescape(match[1])


def test_three_systems_have_letters_and_every_pair() -> None:
    tally = bg.paired_tally(rows(), ["site"], ["A", "B", "C"])
    page = render(tally)
    shown = texts(page)
    assert "B is shown to be the best for everyone together." in shown
    assert re.search(r"Cannot be told apart by these items \(b\): (A, C|C, A)\.", shown)
    assert re.findall(r"<h2[^>]*>([^<]+ against [^<]+)</h2>", page) == [
        "A against B", "A against C", "B against C",
    ]  # fmt: skip


def lettered(page: str) -> dict[str, list[str]]:
    """Letters of the systems in every subgroup, in the order of the table."""
    body = page.partition('aria-label="Table: values in every subgroup"')[2].partition("</table>")[0]
    rows = re.findall(r'<th scope="row">([^<]*)(.*?)</tr>', body, flags=re.DOTALL)
    return {label.strip(): re.findall(r"</?small>(\w*)</small>", cells) for label, cells in rows}


@pytest.mark.parametrize("correction", ["holm_all", "holm"])
@pytest.mark.parametrize("systems", [["A", "B"], ["A", "B", "C"]])
@pytest.mark.usefixtures("no_pictures")
def test_letters_and_sentences_tell_the_same_systems_apart(correction: SystemCorrection, systems: list[str]) -> None:
    rng = np.random.default_rng(4)
    site = np.repeat([*"abcdefgh"], 60)
    frame = pd.DataFrame({"site": site})
    easy, gains = rng.normal(size=len(site)), {"A": 0.0, "B": 0.35, "C": 0.5}
    for name in systems:
        frame[name] = (easy + gains[name] + 0.4 * rng.normal(size=len(site)) > 0).astype(int)
    tally = bg.paired_tally(frame, ["site"], systems)
    page = render(tally, correction=correction)
    order = [name for name, *_ in re.findall(r'<th scope="row">([ABC])</th>\n<td', page.partition('id="pair-1"')[0])]
    answer = bg.compare_systems(tally, correction=correction, overall=True).sel(approach="bayesian")
    for pair in answer["pair"].values:
        better = shown_better(answer.sel(pair=pair), 1)
        first, second = (order.index(str(answer[side].sel(pair=pair).values)) for side in ("first", "second"))
        for label, letters in lettered(page).items():
            shares = set(letters[first]) & set(letters[second])
            assert bool(shares) == (better[answer["subgroup"].values.tolist().index(label)] == 0), (pair, label)
    family = "all subgroups" if correction == "holm_all" else "each subgroup"
    assert texts(page).count(f"limits that hold for all pairs of {family} together") == 2


@pytest.mark.usefixtures("no_pictures")
def test_with_a_baseline_the_page_says_that_letters_count_more_pairs() -> None:
    page = texts(render(bg.paired_tally(rows(), ["site"], ["A", "B", "C"], baseline="A")))
    assert "limits that hold for the pairs with A of all subgroups together leave out 0" in page
    assert "Letters rest on limits that hold for all pairs of all subgroups together, which are more" in page


def test_values_of_a_subgroup_without_items_are_marked() -> None:
    frame = pd.concat([rows(), pd.DataFrame({"site": ["w"], "A": [np.nan], "B": [1], "C": [1]})], ignore_index=True)
    page = render(bg.paired_tally(frame, ["site"], ["A", "B"]))
    assert "w <small>no item that all systems have: the model alone answers</small>" in page


def test_names_from_files_are_escaped_and_shown_whole() -> None:
    frame = rows().rename(columns={"A": "<b>old</b>"})
    page = render(bg.paired_tally(frame, ["site"], ["B", "<b>old</b>"]))
    assert "<b>old</b>" not in page
    assert "&lt;b&gt;old&lt;/b&gt;" in page


def test_what_is_no_tally_of_systems_is_refused(tmp_path: Path) -> None:
    counts = bg.tally_from_counts([1], [2], pd.DataFrame({"site": ["a"]}), metric="fnr")
    with pytest.raises(SchemaError, match="must be a tally of systems on the same items"):
        bg.write_systems_html(counts, tmp_path / "page.html")
    tally = bg.paired_tally(rows(20), ["site"], ["B", "A"])
    with pytest.raises(InputError, match="correction='bonferroni' is not one of"):
        bg.write_systems_html(tally, tmp_path / "page.html", correction="bonferroni")  # type: ignore[arg-type]
    assert not (tmp_path / "page.html").exists()


@pytest.mark.usefixtures("no_pictures")
def test_logs_become_a_page_with_one_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    page = tmp_path / "page.html"
    line = ["compare-logs", INSPECT, "--by", "metadata_language", "--score", "match", "--unscored", "wrong"]
    assert run([*line, "--html", str(page)]) == 0
    told = " ".join(capsys.readouterr().out.split())
    assert "bayesian, mockllm/new - mockllm/old" in told
    assert "Wrote the page to" in told
    text = texts(page.read_text("utf-8"))
    assert "Values of 2 systems on the same items, by metadata_language." in text
    assert "bayesgroups compare-logs" in text
    assert "t tests and t limits" in text
    assert run([*line, "--cluster", "metadata_template", "--baseline", "mockllm/old", "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert answer["question"] == "compare_systems"
    assert "mockllm/new - mockllm/old" in json.dumps(answer)


def test_what_logs_do_not_say_is_asked_for(capsys: pytest.CaptureFixture[str]) -> None:
    line = ["compare-logs", INSPECT, "--score"]

    def complaint(*words: str) -> str:
        assert run([*line, *words]) == 2
        return " ".join(capsys.readouterr().err.split())

    assert (
        "name the column of the subgroups, as --by metadata_language; the logs have metadata_language, metadata_template"
        in complaint("match", "--unscored", "wrong")
    )
    assert "give --larger-is-better or --smaller-is-better" in complaint(
        "brevity", "--unscored", "drop", "--by", "metadata_language"
    )
    assert "column 'metadata_langage' (--by) is not in the frame; did you mean 'metadata_language'" in complaint(
        "match", "--unscored", "wrong", "--by", "metadata_langage"
    )


def test_logs_without_metadata_have_no_subgroups(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    sample = '{"id": 1, "epoch": 1, "scores": {"match": {"value": "C"}}}'
    (tmp_path / "a.json").write_text('{"eval": {"model": "m", "task": "t"}, "samples": [' + sample + "]}")
    assert run(["compare-logs", str(tmp_path / "a.json")]) == 2
    assert "no metadata to form subgroups by" in " ".join(capsys.readouterr().err.split())
