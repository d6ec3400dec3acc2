"""The page of a validation in headless Chromium, without a network: quiet, complete, and within its window."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from fake_runtime import FakeRuntime, part_file, slower
from playwright.sync_api import Page, sync_playwright

from numasim.validate.cell_runs import validate_parts
from numasim.validate.comparison_tables import write_pages
from numasim.validate.part_files import part_of

NAMES = ("chromium", "chromium-browser", "google-chrome")
LONGEST_MS = 1_800_000  # a time limit for any step, so that nothing hangs


@pytest.fixture(scope="module")
def page_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the page without other files. In its parts some cells exceed a bound, and some cells' counters differ."""
    folder = tmp_path_factory.mktemp("validation")
    with pytest.MonkeyPatch.context() as patch:
        FakeRuntime(slower(2, "graph")).install(patch, folder)
        parts = [part_of(part_file(folder, costs=costs), kernels=("graph",)) for costs in ("measured", "model")]
        written = write_pages(validate_parts(parts, folder / "out"), folder / "out")
    return Path(shutil.copy(written, tmp_path_factory.mktemp("sent") / "page.html"))


@pytest.fixture(params=[1280, 390])
def page(request: pytest.FixtureRequest, page_file: Path) -> Iterator[Page]:
    path = next(filter(None, map(shutil.which, NAMES)), None)
    if path is None:
        pytest.skip(f"no Chromium on the path (looked for {', '.join(NAMES)})")
    complaints: list[str] = []
    with sync_playwright() as driver:
        browser = driver.chromium.launch(
            executable_path=path, args=["--no-sandbox", "--disable-gpu"], timeout=LONGEST_MS
        )
        opened = browser.new_context(viewport={"width": request.param, "height": 800}, offline=True).new_page()
        opened.set_default_timeout(LONGEST_MS)
        opened.on("console", lambda message: complaints.append(message.text))
        opened.on("pageerror", lambda error: complaints.append(str(error)))
        opened.goto(page_file.as_uri(), wait_until="load")
        yield opened
        browser.close()
    assert complaints == []


def test_the_page_is_whole_and_within_its_window(page: Page) -> None:
    wide, window = page.evaluate("[document.documentElement.scrollWidth, window.innerWidth]")
    assert wide <= window
    (picture,) = page.locator("img").evaluate_all("all => all.map(one => [one.complete, one.naturalWidth])")
    assert picture[0]
    assert picture[1] > 0
    targets = page.locator("nav a").evaluate_all("all => all.map(one => one.getAttribute('href'))")
    assert targets == ["#measured", "#model"]
    assert page.locator("#measured li", has_text="graph n=6, randomized, 2 workers: predicted").count() == 1
    assert page.locator("#model tbody tr").count() == 4
