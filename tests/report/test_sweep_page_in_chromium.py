"""The page of a sweep in headless Chromium, without a network: drawn, redrawn, read, on a desk and on a phone."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pandas as pd
import pytest
from headless_browser import quiet_page, started_browser
from playwright.sync_api import Browser, Page

from numasim.engine.unit_text import time_text
from numasim.report.comparison_cells import DRAWN_COLUMNS, estimate
from numasim.report.components import LINE_COLOURS
from numasim.report.sweep_page import sweep_page

HOSTILE = "<img src=x onerror=alert(1)> $$x$$ @{cell}"
NO_PAIRS = pd.DataFrame({"run_id": []})
SPOT = """() => {
  const view = Object.values(Bokeh.index).find((each) => each.frame);
  const { x, y, cell } = view.model.renderers.find((each) => each.name === "marks").data_source.data;
  const box = view.canvas_view.el.getBoundingClientRect();
  return [box.x + view.frame.x_scale.compute(x.at(-1)), box.y + view.frame.y_scale.compute(y.at(-1)), cell.at(-1)];
}"""
TOOLTIPS = """() => {
  const texts = (node) => [...node.children].filter((child) => child.tagName !== "STYLE").map((child) =>
    child.shadowRoot ? texts(child.shadowRoot) : child.children.length ? texts(child) : child.textContent).flat();
  return [...document.querySelectorAll(".bk-Tooltip")].filter((each) => getComputedStyle(each).display !== "none")
    .map((each) => texts(each.shadowRoot).join(" "));
}"""


@pytest.fixture(scope="module")
def runs(frame_maker: Callable[..., pd.DataFrame]) -> pd.DataFrame:
    frame = frame_maker(workers=[2, 8, 24], repeats=3)
    return frame.replace({"strategy": {"threshold": HOSTILE}})


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with started_browser() as started:
        yield started


@pytest.fixture(scope="module")
def page(browser: Browser, runs: pd.DataFrame, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Page]:
    """Yield one page for all tests; each test chooses its axes."""
    file: Path = tmp_path_factory.mktemp("sent") / "index.html"
    file.write_text(sweep_page(runs, NO_PAIRS, f"# {HOSTILE}", None))
    with quiet_page(browser, file, viewport={"width": 1280, "height": 1000}) as opened:
        yield opened


def choose(page: Page, column: str, x: str, colour: str, facet: str) -> None:
    for name, value in {"column": column, "x": x, "colour": colour, "facet": facet}.items():
        if page.locator(f"#{name}").input_value() != value:
            page.locator(f"#{name}").select_option(value)
    page.locator(f'#chart[data-drawn="{column}|{x}|{colour}|{facet}"]').wait_for()


FIRST_COLOUR = """async () => {
  const count = () => {
    const { canvas } = Object.values(Bokeh.index).find((each) => each.frame).canvas_view.primary;
    const { buffer } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data;
    return new Uint32Array(buffer).filter((word) => word === 0xffb27200).length; // #0072b2: alpha, blue, green, red
  };
  while (count() < 100) await new Promise(requestAnimationFrame);
}"""
DRAWN = """() => {
  const view = Object.values(Bokeh.index).find((each) => each.frame);
  const { colour } = view.model.renderers.find((each) => each.name === "marks").data_source.data;
  return [[...new Set(colour)], view.model.y_scale.type, view.model.y_range.start, view.model.y_range.end];
}"""


def drawn(page: Page) -> tuple[list[str], str, float, float]:
    """Return the colours of the first panel's marks, and the kind, the start and the end of the panel's scale."""
    page.locator("#chart[data-drawn]").wait_for()
    colours, kind, low, high = page.evaluate(DRAWN)
    return colours, kind, low, high


def values(page: Page) -> list[list[str]]:
    """Return the rows of the table below the plot."""
    return [
        row.split("\t")
        for row in page.locator("#values tbody tr").evaluate_all(
            'all => all.map(row => [...row.cells].map(cell => cell.textContent).join("\\t"))'
        )
    ]


def test_it_opens_with_the_efficiency_over_the_workers(page: Page, runs: pd.DataFrame) -> None:
    page.locator('#chart[data-drawn="efficiency|workers|strategy|workload"]').wait_for()
    assert page.locator("#chart h3").all_inner_texts() == [f"workload: {name}" for name in runs.workload.unique()]
    assert page.locator("#legend button").all_inner_texts() == list(runs.strategy.unique())
    choose(page, "makespan_ps", "workers", "strategy", "workload")  # all efficiencies coincide
    page.evaluate(FIRST_COLOUR)


def test_lines_that_lie_on_each_other_are_seen_and_named(page: Page, runs: pd.DataFrame) -> None:
    """All efficiencies are zero: the last line would hide the others without a hint."""
    choose(page, "efficiency", "workers", "strategy", "workload")
    names = ", ".join(runs.strategy.unique())
    for workload in runs.workload.unique():
        assert f"{names} lie on each other (workload: {workload})." in page.locator("#meaning").inner_text()
    dashes = page.evaluate("""() => Object.values(Bokeh.index).find((each) => each.frame).model.renderers
      .map(({ glyph }) => glyph).filter(({ type }) => type === "Line")
      .map(({ line_dash, line_dash_offset }) => [line_dash.value, line_dash_offset.value])""")
    assert dashes == [[[12, 24], -12 * turn] for turn in range(3)]
    choose(page, "makespan_ps", "workers", "strategy", "workload")
    assert "lie on each other" not in page.locator("#meaning").inner_text()


def test_every_cell_has_the_estimate_of_the_table(page: Page, runs: pd.DataFrame) -> None:
    choose(page, "makespan_ps", "workers", "strategy", "workload")
    shown = {tuple(row[:3]): row[3:] for row in values(page)}
    cells = runs.groupby(["workload", "workers", "strategy"])
    assert len(shown) == len(cells)
    for (workload, workers, strategy), same in cells:
        found = estimate(same, "makespan_ps")
        value, interval, repeats = shown[workload, str(workers), strategy]
        assert (float(value.split()[0]), value.split()[1], repeats) == (
            pytest.approx(float(time_text(found.value).split()[0]), rel=2e-3),
            time_text(found.value).split()[1],
            "3",
        )
        assert interval.endswith(", the range of 3")
        assert [float(end.split()[0]) for end in interval.split(" to ")] == [
            pytest.approx(end / found.value * float(value.split()[0]), rel=2e-3) for end in (found.low, found.high)
        ]


def test_axes_change_places_and_one_value_of_what_is_left_is_held(page: Page) -> None:
    choose(page, "steal_miss_ratio", "strategy", "workload", "")
    assert page.locator("#held label").count() == 1
    assert page.locator("#held select option:checked").all_inner_texts() == ["24"]
    assert {row[1] for row in values(page)} == {"24"}
    page.locator("#held select").select_option(label="2")
    assert {row[1] for row in values(page)} == {"2"}
    assert "steal attempts" in page.locator("#meaning").inner_text().lower()
    page.locator("#x").select_option("workload")  # was the axis of the colours, which now show strategies
    page.locator('#chart[data-drawn="steal_miss_ratio|workload|strategy|"]').wait_for()
    choose(page, "steal_miss_ratio", "workers", "", "workload")
    page.locator("#colour").select_option("workers")  # was x, which now shows the third axis
    page.locator('#chart[data-drawn="steal_miss_ratio|strategy|workers|workload"]').wait_for()


def test_a_mark_tells_its_cell(page: Page) -> None:
    choose(page, "makespan_ps", "workers", "strategy", "")
    page.locator("#chart").scroll_into_view_if_needed()
    x, y, cell = page.evaluate(SPOT)
    assert "workers: 24" in cell
    page.mouse.move(x - 3, y)
    page.mouse.move(x, y)
    page.locator(".bk-Tooltip").first.wait_for()
    (told,) = page.evaluate(TOOLTIPS)
    assert cell in told
    assert "the range of 3" in told
    page.mouse.move(0, 0)


def test_a_colour_can_be_put_out(page: Page) -> None:
    choose(page, "makespan_ps", "workers", "strategy", "workload")
    assert drawn(page)[0] == list(LINE_COLOURS[:3])
    page.locator("#legend button").first.click()
    assert page.locator("#legend button").first.get_attribute("aria-pressed") == "false"
    assert drawn(page)[0] == list(LINE_COLOURS[1:3])
    page.locator("#legend button").first.click()
    assert drawn(page)[0] == list(LINE_COLOURS[:3])


def test_scales_can_be_shared_and_logarithmic(page: Page) -> None:
    choose(page, "makespan_ps", "workers", "strategy", "workload")
    _, kind, low, alone = drawn(page)
    assert (kind, low) == ("LinearScale", 0)
    page.locator("#same-scale").check()
    assert drawn(page)[3] > 2 * alone  # the other program takes more than twice as long
    page.locator("#logarithmic").check()
    _, kind, low, _ = drawn(page)
    assert (kind, low > 0) == ("LogScale", True)
    page.locator("#logarithmic").uncheck()
    page.locator("#same-scale").uncheck()


def test_every_column_can_be_chosen(page: Page, runs: pd.DataFrame) -> None:
    names = page.locator("#column option").evaluate_all("all => all.map(one => one.value)")
    assert names == [name for name in DRAWN_COLUMNS if runs[name].notna().any()]
    for name in ("bytes_remote", "speedup"):  # the first column is zero in all runs
        page.locator("#column").select_option(name)
        page.locator(f'#chart[data-drawn^="{name}|"]').wait_for()


def test_names_are_text_wherever_they_stand(page: Page) -> None:
    choose(page, "makespan_ps", "strategy", "", "")  # names on the axis
    choose(page, "makespan_ps", "workers", "", "strategy")  # names above panels
    assert page.locator("img[src=x]").count() == 0
    assert f"strategy: {HOSTILE}" in page.locator("#chart h3").all_inner_texts()


@pytest.mark.parametrize("width", [390, 1280])
def test_nothing_reaches_over_the_edge_of_the_page(page: Page, width: int) -> None:
    page.set_viewport_size({"width": width, "height": 800})
    choose(page, "makespan_ps", "workers", "strategy", "workload")
    wide, window = page.evaluate("[document.documentElement.scrollWidth, window.innerWidth]")
    assert wide <= window
