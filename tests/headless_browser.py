"""Debian's Chromium without a window, through the playwright package, whose own browser is not used."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, sync_playwright

NAMES = ("chromium", "chromium-browser", "google-chrome")
QUIET = (  # switches against connections that Chromium makes by itself
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
WIDTHS = (1280, 390)
LONGEST_MS = 1_800_000  # the limit of any step, which only prevents hanging


@contextmanager
def started_browser() -> Iterator[Browser]:
    """Yield the browser. Skip the test if the browser is missing."""
    path = next(filter(None, map(shutil.which, NAMES)), None)
    if path is None:
        pytest.skip(f"no Chromium on the path (looked for {', '.join(NAMES)})")
    with sync_playwright() as driver:
        started = driver.chromium.launch(executable_path=path, args=list(QUIET), timeout=LONGEST_MS)
        yield started
        started.close()


def open_page(browser: Browser, **options: Any) -> Page:
    """Return a page with the timeouts that a busy machine needs."""
    context = browser.new_context(offline=True, **options)
    context.set_default_timeout(LONGEST_MS)
    return context.new_page()


@contextmanager
def quiet_page(browser: Browser, file: Path, **options: Any) -> Iterator[Page]:
    """Yield the page of a file. The browser must not complain, and must request nothing but the file."""
    opened = open_page(browser, **options)
    complaints: list[str] = []
    opened.on("console", lambda said: complaints.append(said.text) if said.type in {"error", "warning"} else None)
    opened.on("pageerror", lambda error: complaints.append(str(error)))
    opened.on("dialog", lambda dialog: complaints.append(dialog.message))
    asked: list[str] = []
    opened.on("request", lambda sent: asked.append(sent.url))
    opened.goto(file.as_uri(), wait_until="load")
    yield opened
    opened.context.close()
    assert complaints == []
    assert [url for url in asked if not url.startswith("data:")] == [file.as_uri()]
