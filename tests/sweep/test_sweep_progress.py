from __future__ import annotations

import pytest

from numasim.sweep.progress import progress_bar


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
