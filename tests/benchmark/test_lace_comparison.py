"""fib on the C runtime and on Lace: the same size on both, the goal of how the runtime was built, results checked."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from installed_scripts import only_installed, script

from numasim.benchmark.compared import MissingError
from numasim.benchmark.comparisons import lace
from numasim.benchmark.comparisons.lace import fib, lace_comparisons, ns_per_call
from numasim.benchmark.effort import Effort
from numasim.errors import CheckError

SMALL = replace(Effort(), runtime_fib=10)  # fib(10) is 55 and makes 177 calls


def use_scripts(monkeypatch: pytest.MonkeyPatch, folder: Path, missing: str = "", counters: str = "ON") -> None:
    """Let both programs be scripts: a call takes 20 ns on ours and 10 on Lace, whatever N and the workers."""
    for package, nanoseconds in ((lace.OURS, 3540), (lace.LACE, 1770)):
        script(folder / f"fib_{package}", f"echo 55 {nanoseconds}")

    def built(package: str, folder: Path) -> Path:
        if package == missing:
            raise MissingError(f"pkg-config finds no {package}")
        return folder / f"fib_{package}"

    monkeypatch.setattr(lace, "_built", built)
    monkeypatch.setattr(lace, "package_variable", lambda package, variable: counters)


@pytest.mark.parametrize(("counters", "bound", "how"), [("ON", 1.5, "with counters"), ("OFF", 1.2, "no counters")])
def test_both_programs_are_compared_at_the_same_size(
    counters: str, bound: float, how: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    use_scripts(monkeypatch, tmp_path, counters=counters)
    ratios = [probe.finding(*probe.sample()) for probe in lace_comparisons(SMALL, tmp_path).probes]
    assert [(each.ours, each.other, each.ratio) for each in ratios] == [(20.0, 10.0, 2.0)] * 2 + [(20.0, 20.0, 1.0)]
    assert [(each.kind, each.bound) for each in ratios] == [("at most", bound)] * 2 + [("at most", 1.1)]
    assert [how in each.name for each in ratios] == [True, True, False]


def test_without_lace_many_threads_are_compared_with_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    use_scripts(monkeypatch, tmp_path, missing=lace.LACE)
    comparisons = lace_comparisons(SMALL, tmp_path)
    assert [probe.finding(*probe.sample()).bound for probe in comparisons.probes] == [1.1]
    assert comparisons.missing == ("the C runtime with Lace: pkg-config finds no lace",)


def test_without_our_library_nothing_is_compared(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    only_installed(monkeypatch, tmp_path / "bin", {"cc": "", "pkg-config": "exit 1"})
    comparisons = lace_comparisons(SMALL, tmp_path)
    assert comparisons.probes == ()
    (sentence,) = comparisons.missing
    assert sentence == "the C runtime with Lace and with its own one thread: pkg-config finds no numasim"


def test_a_wrong_result_is_reported(tmp_path: Path) -> None:
    with pytest.raises(CheckError, match=r"^fib_bad says that fib\(10\) is 54; it is 55$"):
        ns_per_call(script(tmp_path / "fib_bad", "echo 54 100"), 1, 10)


def test_fibonacci_numbers() -> None:
    assert [fib(n) for n in range(11)] == [0, 1, 1, 2, 3, 5, 8, 13, 21, 34, 55]


def test_our_program_is_right(prefix: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder,) = prefix.glob("**/pkgconfig")
    monkeypatch.delenv("PKG_CONFIG_PATH", raising=False)
    monkeypatch.setenv("PKG_CONFIG_LIBDIR", str(folder))  # and no other library
    comparisons = lace_comparisons(SMALL, tmp_path)
    (ratio,) = (probe.finding(*probe.sample()) for probe in comparisons.probes)
    assert min(ratio.ours, ratio.other) > 0
    assert comparisons.missing == ("the C runtime with Lace: pkg-config finds no lace",)
    assert lace._goal() == (1.2, "no counters")  # as `prefix` is built
