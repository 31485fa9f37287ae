"""The HTML report in a real browser.

Without a browser these tests are skipped, but not in CI, nor where MASKPOOL_BROWSER names one.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from browser import Page, find_browser, opened
from packages import unpacked

from maskpool_verify.formats import html
from maskpool_verify.report import Report

DESKTOP, PHONE = 1280, 390
LOGGED = ("Log.entryAdded", "Runtime.consoleAPICalled", "Runtime.exceptionThrown")


@pytest.fixture(scope="module")
def page() -> Iterator[Page]:
    browser = find_browser()
    if browser is None:
        assert os.environ.get("CI") != "true", "install chromium, or set MASKPOOL_BROWSER"
        pytest.skip("there is no Chromium; set MASKPOOL_BROWSER to one")
    with opened(browser) as found:
        yield found


@pytest.fixture
def show(page: Page, tmp_path: Path) -> Any:
    """Open a report at a width."""

    def call(report: Report, width: int = DESKTOP, *, dark: bool = False) -> Page:
        file = tmp_path / "a report, in ü.html"
        file.write_text(html.render(report), "utf-8")
        page.look(width, dark=dark, mobile=width == PHONE)
        page.open(file.as_uri())
        page.evaluate("document.querySelectorAll('details').forEach(d => { d.open = true })")
        return page

    return call


def text(page: Page, selector: str) -> list[str]:
    """The visible text of elements."""
    found: list[str] = page.evaluate(f"[...document.querySelectorAll({selector!r})].map(e => e.innerText)")
    return found


@pytest.mark.parametrize("width", [DESKTOP, PHONE])
def test_nothing_is_loaded_and_nothing_goes_wrong(show: Any, any_report: Report, width: int):
    page = show(any_report, width)
    requests = [event["request"]["url"] for event in page.named("Network.requestWillBeSent")]
    assert [url.partition(":")[0] for url in requests if not url.startswith("data:")] == ["file"]
    assert page.named(*LOGGED) == []
    assert page.evaluate("document.compatMode") == "CSS1Compat"


def test_no_name_becomes_markup(show: Any, hostile: Report):
    page = show(hostile)
    assert page.evaluate("document.scripts.length") == 0
    kernel = hostile.kernels[0]
    (shown, _) = text(page, ".verdicts tbody th")
    assert "</style><script>alert('%0A')</script>|`*_[x](y)" in shown
    assert kernel.messages[0].startswith("</style>")
    assert "</style><script>" in text(page, "pre.message")[0]


def test_a_script_would_not_run(show: Any, page: Page, hostile: Report, tmp_path: Path):
    """Were something not escaped, the page's own policy would still refuse it."""
    file = tmp_path / "changed.html"
    file.write_text(html.render(hostile).replace("<main>", "<main><script>document.title = 'run'</script>"))
    page.open(file.as_uri())
    assert page.evaluate("document.title") == "maskpool-verify: refuted"
    assert "Content Security Policy" in page.named("Log.entryAdded")[0]["entry"]["text"]


def test_the_table_of_verdicts(show: Any, corpus: Report):
    page = show(corpus)
    names, verdicts = text(page, ".verdicts tbody th"), text(page, ".verdicts tbody .verdict")
    assert list(zip(names, verdicts, strict=True)) == [(k.name, k.verdict) for k in corpus.kernels]
    statuses = text(page, ".theorems .status")
    assert len(statuses) == sum(len(kernel.theorems) for kernel in corpus.kernels)
    assert statuses.count("proved") == sum(
        theorem.status == "proved" for kernel in corpus.kernels for theorem in kernel.theorems
    )
    links = page.evaluate("[...document.links].every(a => document.querySelector(a.hash) !== null)")
    assert links is True


TOPS = """[...document.querySelectorAll('.equation')].map(row =>
  [...row.cells].map(cell => (cell.querySelector('code') ?? cell.lastElementChild).getBoundingClientRect())
    .map(box => [box.left, box.top]))"""


def test_equations_are_aligned(show: Any, corpus: Report):
    page = show(corpus)
    rows = page.evaluate(TOPS)
    assert len(rows) == sum(len(trace.listing) for kernel in corpus.kernels for trace in kernel.traces)
    for (left, top), (right, other_top) in rows:
        assert abs(top - other_top) < 1
        assert right > left + 300
    columns = [{round(row[column][0]) for row in rows} for column in (0, 1)]
    assert all(len(found) <= 2 for found in columns), "hanging lines are indented"


def test_equations_are_below_each_other_on_a_phone(show: Any, corpus: Report):
    for (_, top), (_, other_top) in show(corpus, PHONE).evaluate(TOPS):
        assert other_top > top


OUTSIDE = """(() => {
  const found = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const node = walker.currentNode;
    if (!node.data.trim() || node.parentElement.closest('thead')) continue;
    const range = document.createRange();
    range.selectNodeContents(node);
    for (const box of range.getClientRects())
      if (box.width && (box.left < 0 || box.right > innerWidth)) found.push(node.data.trim().slice(0, 60));
  }
  return found;
})()"""


@pytest.mark.parametrize("width", [PHONE, 320, 768, DESKTOP])
def test_all_text_is_inside_the_window(show: Any, any_report: Report, width: int):
    page = show(any_report, width)
    assert page.evaluate("document.documentElement.scrollWidth") == width
    assert page.evaluate(OUTSIDE) == []


@pytest.mark.parametrize(("width", "shown"), [(DESKTOP, "beside"), (PHONE, "below")])
def test_every_counterexample_is_drawn_once(show: Any, corpus: Report, width: int, shown: str):
    page = show(corpus, width)
    boxes = page.evaluate(
        "[...document.querySelectorAll('svg.bags')].map(svg => "
        "[svg.getAttribute('class'), svg.getBoundingClientRect().height])"
    )
    assert [kind for kind, height in boxes if height] == [f"bags {shown}"] * sum(
        len(kernel.counterexamples) for kernel in corpus.kernels
    )


def test_the_first_broken_equation_is_marked(show: Any, corpus: Report):
    marks = text(show(corpus), "#kernel-2 ~ details .equation.broken")
    assert len(marks) == 2
    assert "breaks permutation" in marks[0]
    assert "f:bool[n] = concatenate[dimension=0] d e" in marks[0]


@pytest.mark.parametrize("width", [DESKTOP, PHONE])
def test_tables_stay_tables_for_a_screen_reader(show: Any, corpus: Report, width: int):
    page = show(corpus, width)
    nodes = page.call("Accessibility.getFullAXTree")["nodes"]
    roles = [node.get("role", {}).get("value") for node in nodes if not node["ignored"]]
    tables = 2 + sum(bool(k.theorems) + sum(bool(t.listing) for t in k.traces) for k in corpus.kernels)
    assert roles.count("table") == tables
    assert roles.count("row") >= sum(len(kernel.theorems) for kernel in corpus.kernels)
    images = [n["name"]["value"] for n in nodes if n.get("role", {}).get("value") in ("image", "img")]
    assert sum(name.startswith("Counterexample to ") for name in images) == sum(
        len(kernel.counterexamples) for kernel in corpus.kernels
    )


@pytest.mark.parametrize("width", [DESKTOP, PHONE])
@pytest.mark.parametrize("dark", [False, True])
def test_accessibility(show: Any, corpus: Report, width: int, dark: bool, tmp_path: Path):
    """The rules of axe, contrast among them."""
    package = unpacked("axe-core@4.14.1", tmp_path)
    page = show(corpus, width, dark=dark)
    page.evaluate((package / "axe.min.js").read_text("utf-8") + "; 0")
    found = page.evaluate(
        "axe.run({resultTypes: ['violations']}).then(r => r.violations.map("
        "v => [v.id, v.help, v.nodes.slice(0, 3).map(n => n.html)]))"
    )
    assert found == []


def test_dark_and_light(show: Any, corpus: Report):
    colours = [
        show(corpus, dark=dark).evaluate("getComputedStyle(document.documentElement).backgroundColor")
        for dark in (False, True)
    ]
    assert colours == ["rgb(255, 255, 255)", "rgb(18, 23, 29)"]
