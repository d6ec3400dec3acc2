"""The page in headless Chromium, without a network: complete, quiet, readable on a desk, on a phone, in the dark."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from headless_browser import WIDTHS, open_page, quiet_page, started_browser
from made_up_findings import TABLES, made_up, written
from playwright.sync_api import Browser, Page


@pytest.fixture(scope="module")
def page_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a copy of the page in a folder without other files."""
    return shutil.copy(written(tmp_path_factory).page, tmp_path_factory.mktemp("sent") / "page.html")


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with started_browser() as started:
        yield started


@pytest.fixture(params=WIDTHS)
def page(request: pytest.FixtureRequest, browser: Browser, page_file: Path) -> Iterator[Page]:
    with quiet_page(browser, page_file, viewport={"width": request.param, "height": 800}) as opened:
        yield opened


def unfold(page: Page) -> None:
    page.evaluate("document.querySelectorAll('details').forEach(one => one.open = true)")


def test_every_picture_is_there_and_says_what_it_shows(page: Page) -> None:
    pictures = page.locator("img").evaluate_all(
        "all => all.map(one => [one.complete, one.naturalWidth, one.naturalHeight, one.alt.length])"
    )
    assert len(pictures) == len(TABLES) + 3  # the times first, then the score sheet and the ablations
    assert all(complete and min(rest) > 0 for complete, *rest in pictures)


def test_nothing_reaches_over_the_edge_of_the_page(page: Page) -> None:
    unfold(page)
    wide, window = page.evaluate("[document.documentElement.scrollWidth, window.innerWidth]")
    assert wide <= window
    beyond = page.locator("section, p, h1, h2, h3, nav, dl, ul").evaluate_all(
        "all => all.filter(one => one.getBoundingClientRect().right > innerWidth).map(one => one.outerHTML)"
    )
    assert beyond == []


def test_what_is_wider_than_the_page_can_be_scrolled(page: Page) -> None:
    unfold(page)
    cut = page.locator(".wide, figure").evaluate_all(
        "all => all.filter(one => one.scrollWidth > one.clientWidth)"
        ".filter(one => getComputedStyle(one).overflowX != 'auto').length"
    )
    assert cut == 0


def test_the_score_sheet_is_seen_with_every_class(page: Page) -> None:
    sheet = page.locator("#scores")
    assert sheet.is_visible()
    names = [score.name for score in made_up().scores]
    first, folded = sheet.locator("table").all()
    assert first.is_visible()
    assert not folded.is_visible()
    sheet.locator("summary").first.click()
    assert folded.is_visible()
    for sheet_part in (first, folded):
        assert [row.split("\t")[0] for row in sheet_part.locator("tbody tr").all_inner_texts()] == names


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_can_be_read_in_both_schemes(browser: Browser, page_file: Path, scheme: str) -> None:
    opened = open_page(browser, color_scheme=scheme)
    opened.goto(page_file.as_uri())
    unfold(opened)
    ratios = opened.evaluate(CONTRASTS)
    opened.context.close()
    assert min(ratios) >= 4.5  # the least contrast of the Web Content Accessibility Guidelines, level AA


CONTRASTS = """() => {
  const light = colour => colour.match(/[0-9.]+/g).slice(0, 3).map(value => value / 255)
    .map(value => value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4)
    .reduce((sum, value, index) => sum + value * [0.2126, 0.7152, 0.0722][index], 0);
  const paper = one => {
    for (; one; one = one.parentElement) {
      const colour = getComputedStyle(one).backgroundColor;
      if (colour !== 'rgba(0, 0, 0, 0)') return colour;
    }
  };
  return [...document.querySelectorAll('p, a, td, th, dd, dt, .mark, .good, .bad, .unknown')].map(one => {
    const [above, below] = [light(getComputedStyle(one).color), light(paper(one))].sort((a, b) => b - a);
    return (above + 0.05) / (below + 0.05);
  });
}"""


def test_it_prints_on_paper(browser: Browser, page_file: Path) -> None:
    opened = open_page(browser)
    opened.goto(page_file.as_uri())
    printed = opened.pdf(format="A4")
    opened.emulate_media(media="print")
    assert opened.locator("#table-3-4 table").is_visible()  # on paper nothing is folded
    opened.set_viewport_size({"width": 718, "height": 1000})  # A4 without its margins, at 96 pixels an inch
    cut = opened.locator("table").evaluate_all("all => Math.max(...all.map(one => one.getBoundingClientRect().right))")
    opened.context.close()
    assert printed.startswith(b"%PDF")
    assert cut <= 718
