"""The progress of a sweep on the terminal and in a notebook."""

from __future__ import annotations

from itertools import count

import pytest

from numasim.sweep import progress
from numasim.sweep.progress import NotebookBar, progress_bar


def advance_to_the_end(total: int, wanted: bool) -> None:
    with progress_bar(total, wanted) as advance:
        for _ in range(total):
            advance(1)


def test_the_bar_is_on_stderr_of_a_terminal(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    advance_to_the_end(12, wanted=True)
    out, err = capsys.readouterr()
    assert out == ""
    assert "12/12" in err


@pytest.mark.parametrize(("terminal", "wanted", "total"), [("1", False, 3), ("1", True, 0), ("0", True, 3)])
def test_nothing_is_said_unasked(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, terminal: str, wanted: bool, total: int
) -> None:
    monkeypatch.setenv("TTY_COMPATIBLE", terminal)
    monkeypatch.delenv("FORCE_COLOR", raising=False)
    advance_to_the_end(total, wanted)
    assert capsys.readouterr() == ("", "")


class Output:
    """The output of a notebook's cell: ``shown`` has every text that was drawn in the cell."""

    def __init__(self) -> None:
        self.shown: list[str] = []

    def display(self, bar: NotebookBar, display_id: bool) -> Output:
        assert display_id
        self.update(bar)
        return self

    def update(self, thing: NotebookBar) -> None:
        self.shown.append(repr(thing))


def test_a_notebook_keeps_one_line_without_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """If each run takes a second, the bar is drawn for each run. The last line depends only on the number of runs."""
    clock = count()
    monkeypatch.setattr(progress, "monotonic", lambda: next(clock))
    output = Output()
    bar = NotebookBar(4, "runs", output.display)
    for _ in range(4):
        bar(1)
    bar.close()
    seconds = ["", ", about 3 s left", ", about 2 s left", ", about 1 s left"]
    begun = [f"{done} of 4 runs{left}" for done, left in enumerate(seconds)]
    assert output.shown == [*begun, "4 runs", "4 runs simulated"]


def test_a_bar_in_a_notebook_is_not_drawn_for_each_of_many_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "monotonic", lambda: 0.0)
    output = Output()
    bar = NotebookBar(1000, "runs", output.display)
    for _ in range(400):
        bar(1)
    bar.close()
    assert output.shown == ["0 of 1,000 runs", "400 of 1,000 runs simulated"]
