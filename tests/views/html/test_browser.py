"""The page in a browser: what the script adds, what is printed, and whether labels, contrast and keyboard hold."""

from __future__ import annotations

import base64
import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import xarray as xr

import bayesgroups as bg
from bayesgroups.views.html.sections import context

MakeReport = Callable[..., xr.DataTree]
MakeTally = Callable[..., xr.Dataset]
EVIL = "<img src=x onerror=\"document.title='owned'\"><script>document.title='owned'</script>"
FLAGS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync",
)  # fmt: skip
# Contrast of every text with what is painted behind it (WCAG 2.2, 1.4.3), the smallest and whose it is.
CONTRAST = """
const channels = (c) => c.match(/[\\d.]+/g).map(Number);
const light = ([r, g, b]) => [r, g, b].map((v) => v / 255).map((v) => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)
  .reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
const behind = (e) => { for (; e; e = e.parentElement) {
  const c = channels(getComputedStyle(e).backgroundColor); if (c.length < 4 || c[3] > 0.99) return c; } return [255, 255, 255]; };
let worst = [99, ""];
for (const e of document.querySelectorAll("body *")) {
  if (![...e.childNodes].some((n) => n.nodeType === 3 && n.textContent.trim()) || ["SCRIPT", "STYLE"].includes(e.tagName)) continue;
  const [a, b] = [light(channels(getComputedStyle(e).color)), light(behind(e))].sort((x, y) => y - x);
  const ratio = (a + 0.05) / (b + 0.05);
  if (ratio < worst[0]) worst = [ratio, e.outerHTML.slice(0, 80)];
}
return worst;
"""


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    binary, driver = shutil.which("chromium"), shutil.which("chromedriver")
    if not (binary and driver):
        if "BAYESGROUPS_NO_SKIP" in os.environ:
            pytest.fail("chromium and chromedriver are missing, and nothing may be skipped")
        pytest.skip("needs chromium and chromedriver, on Debian: apt-get install chromium chromium-driver")
    selenium = pytest.importorskip("selenium.webdriver")
    from selenium.webdriver.chrome.options import Options
    from selenium.webdriver.chrome.service import Service

    options = Options()
    options.binary_location = binary
    for flag in (*FLAGS, f"--user-data-dir={tmp_path_factory.mktemp('profile')}"):
        options.add_argument(flag)
    found = selenium.Chrome(options=options, service=Service(driver))
    yield found
    found.quit()


@pytest.fixture(scope="module")
def page(browser: Any, tmp_path_factory: pytest.TempPathFactory, made: xr.DataTree) -> Any:
    path = bg.write_html(made, tmp_path_factory.mktemp("page") / "report.html")
    browser.get(path.as_uri())
    browser.execute_script("document.querySelectorAll('details').forEach((part) => { part.open = true; })")
    return browser


@pytest.fixture(scope="module")
def made() -> xr.DataTree:
    import pandas as pd

    sites = ["b", "a", EVIL, "d | e", "c"]
    who = pd.DataFrame({"site": sites, "sex": ["f", "m", "f", "m", "f"]})
    return bg.estimate(
        bg.tally_from_counts([9, 30, 2, 0, 0], [60, 100, 4, 6, 0], who, metric="fnr"), bg.PartialPooling(), seed=1
    )


def _column(page: Any, column: int) -> list[str]:
    """Texts of a column of the first of the two tables, which has the subgroups with rows, as far as they are shown."""
    shown = "[...document.querySelector('table.filterable').tBodies[0].rows].filter((row) => row.checkVisibility())"
    found: list[str] = page.execute_script(f"return {shown}.map((row) => row.cells[{column}].innerText)")
    return found


def _head(page: Any, column: int) -> Any:
    return page.find_element("css selector", f"table.filterable th[data-column='{column}']")


def test_a_column_sorts_both_ways(page: Any) -> None:
    head = _head(page, 2)
    button = head.find_element("css selector", "button")
    page.execute_script("arguments[0].scrollIntoView()", button)
    button.click()
    up = [float(text) for text in _column(page, 2)]
    assert up == sorted(up)
    assert head.get_attribute("aria-sort") == "ascending"
    button.click()
    assert [float(text) for text in _column(page, 2)] == up[::-1]
    assert head.get_attribute("aria-sort") == "descending"


def test_missing_values_stay_last(page: Any) -> None:
    button = _head(page, 5).find_element("css selector", "button")
    for _ in range(2):
        button.click()
        assert _column(page, 5)[-1] == "–" or "–" not in _column(page, 5)


def test_the_keyboard_sorts(page: Any) -> None:
    button = _head(page, 0).find_element("css selector", "button")
    button.send_keys("\n")
    assert _head(page, 0).get_attribute("aria-sort") == "ascending"
    labels = _column(page, 0)
    assert labels.index("a | m") < labels.index("b | f") < labels.index("d \\| e | m")


def test_rows_are_filtered_and_counted(page: Any) -> None:
    box = page.find_element("css selector", ".filter input[type=search]")
    box.send_keys("Owned onerror")
    assert [label.partition("|")[2].strip() for label in _column(page, 0)] == ["f"]
    total = page.execute_script("return document.querySelector('table.filterable').tBodies[0].rows.length")
    assert page.find_element("css selector", ".filter output").text == f"1 of {total} subgroups"
    box.send_keys("\b" * len("Owned onerror"))
    assert len(_column(page, 0)) == total
    flag = page.find_element("css selector", ".filter input[type=checkbox]")
    flag.click()
    assert 0 < len(_column(page, 0)) < total
    flag.click()


def test_labels_are_text_and_nothing_is_fetched(page: Any) -> None:
    assert page.title == "False negative rate by site and sex"
    assert any(EVIL in label for label in _column(page, 0))
    assert page.execute_script("return document.querySelectorAll('main img[src=x], td script, th script').length") == 0
    fetched = page.execute_script("return performance.getEntriesByType('resource').map((one) => one.name)")
    assert [address for address in fetched if not address.startswith("data:")] == []
    assert [entry for entry in page.get_log("browser") if entry["level"] == "SEVERE"] == []


def test_pictures_are_shown_and_have_a_text(page: Any) -> None:
    images = page.find_elements("css selector", "img")
    assert len(images) == 4
    for image in images:
        assert len(image.get_attribute("alt")) > 40
        assert page.execute_script("return arguments[0].complete && arguments[0].naturalWidth > 100", image)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_can_be_read(page: Any, scheme: str) -> None:
    feature = {"features": [{"name": "prefers-color-scheme", "value": scheme}]}
    page.execute_cdp_cmd("Emulation.setEmulatedMedia", feature)
    ratio, whose = page.execute_script(CONTRAST)
    page.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})
    assert ratio >= 4.5, whose


def test_a_phone_does_not_scroll_sideways(page: Any) -> None:
    size = {"width": 390, "height": 800, "deviceScaleFactor": 2, "mobile": True}
    page.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    width = page.execute_script("return document.documentElement.scrollWidth")
    page.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
    assert width <= 390


def test_a_phone_shows_what_is_certified(page: Any) -> None:
    size = {"width": 390, "height": 800, "deviceScaleFactor": 2, "mobile": True}
    page.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    cells = "[...document.querySelectorAll('.stacked tbody th, .stacked tbody td')]"
    edges = page.execute_script(f"return {cells}.map((cell) => cell.getBoundingClientRect().right)")
    heads = page.execute_script(
        "return [...document.querySelectorAll('.stacked tbody td')].map((cell) => getComputedStyle(cell, '::before').content)"
    )
    page.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
    assert len(edges) == 4
    assert max(edges) <= 390
    assert heads[-1] == '"Every subgroup, with 95% probability"'


def test_the_first_printed_page_is_full(page: Any) -> None:
    across, down = 718, 1047  # an A4 page without its margins, in CSS pixels
    size = {"width": across, "height": down, "deviceScaleFactor": 1, "mobile": False}
    page.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    page.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
    figure = page.execute_script("return document.querySelector('figure').getBoundingClientRect().top + window.scrollY")
    page.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": ""})
    page.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
    assert figure > 0.75 * down  # text and tables that can be split come before the first picture, which cannot


def test_every_control_has_a_name_and_parts_that_scroll_take_the_focus(page: Any) -> None:
    for control in page.find_elements("css selector", "button, input"):
        assert control.accessible_name.strip()
    for part in page.find_elements("css selector", ".wide, .frame.scroll, pre"):
        assert part.get_attribute("tabindex") == "0"
        assert part.get_attribute("aria-label")


def test_it_prints(page: Any, tmp_path: Path) -> None:
    printed = page.execute_cdp_cmd("Page.printToPDF", {"printBackground": True})
    pdf = base64.b64decode(printed["data"])
    assert pdf.startswith(b"%PDF-")
    assert 3 <= pdf.count(b"/Type /Page\n") + pdf.count(b"/Type /Page ") <= 20


def test_without_script_it_is_a_plain_table(
    browser: Any, tmp_path: Path, made: xr.DataTree, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(context, "_drawing", lambda draw: "")
    text = bg.write_html(made, tmp_path / "report.html").read_text("utf-8")
    bare = tmp_path / "bare.html"
    bare.write_text(text.replace("script-src 'sha256-", "script-src 'sha256-0"), "utf-8")
    browser.get(bare.as_uri())
    assert browser.find_elements("css selector", "button, .filter") == []
    rows = browser.execute_script("return document.querySelectorAll('table.filterable tbody tr').length")
    assert rows == len(made["estimates"].to_dataset()["subgroup"]) == len(_column(browser, 0)) + 6


def test_subgroups_without_rows_are_behind_a_line_to_open(browser: Any, tmp_path: Path, made: xr.DataTree) -> None:
    browser.get(bg.write_html(made, tmp_path / "report.html").as_uri())
    closed = browser.find_element("css selector", "details.imputed")
    summary = closed.find_element("css selector", "summary")
    assert summary.text == "6 subgroups without rows, answered from the model alone"
    first = closed.find_element("css selector", "tbody tr")
    assert not first.is_displayed()
    summary.click()
    assert first.is_displayed()
    assert "imputed" in first.text
