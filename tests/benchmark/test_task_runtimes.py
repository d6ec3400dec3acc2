"""Four programs of tasks on the C runtime, oneTBB and libomp: each result is worked out here in another way."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from installed_scripts import only_installed, script

from numasim.benchmark.compared import MissingError
from numasim.benchmark.comparisons import task_runtimes
from numasim.benchmark.comparisons.built_programs import Language, build, printed_numbers
from numasim.benchmark.comparisons.task_runtimes import (
    OTHERS,
    OURS,
    TITLES,
    Library,
    seconds_of_pair,
    task_runtime_comparisons,
)
from numasim.benchmark.effort import Effort
from numasim.errors import CheckError

SIZES = {"nqueens": 7, "sort": 30_000, "strassen": 256, "uts": 50}  # so that tasks sort, merge and multiply in parts
SMALL = replace(Effort(), runtime_kernels=SIZES)
MASK = 2**64 - 1


def mix(z: int) -> int:
    """SplitMix64, as Steele, Lea and Flood (2014) write it."""
    z = (z + 0x9E3779B97F4A7C15) & MASK
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9 & MASK
    z = (z ^ (z >> 27)) * 0x94D049BB133111EB & MASK
    return z ^ (z >> 31)


def digest(numbers: list[int]) -> int:
    total = 0
    for number in numbers:
        total = mix(total ^ number)
    return total


def sorted_keys(size: int) -> int:
    return digest(sorted(mix(at) % 2**32 for at in range(size)))


def product(size: int) -> int:
    cells = range(size * size)
    a, b = (np.array([mix(at ^ flip) % 2**32 for at in cells], np.uint32).reshape(size, size) for flip in (0, MASK))
    return digest((a @ b).ravel().tolist())


def tree_nodes(size: int) -> int:
    """A child's number is a hash of its parent's, and a node has four children with probability 0.2475."""
    nodes, left = 1, list(range(size))
    while left:
        node = left.pop()
        nodes += 1
        if mix(node) < 2**64 * 2475 // 10_000:
            left += [mix(node ^ mix(number + 1)) for number in range(4)]
    return nodes


EXPECTED: dict[str, Callable[[int], int]] = {
    "nqueens": {7: 40}.__getitem__,  # OEIS A000170
    "sort": sorted_keys,
    "strassen": product,
    "uts": tree_nodes,
}


@pytest.fixture
def installed(prefix: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let pkg-config find the C runtime beside all else that is installed."""
    (folder,) = prefix.glob("**/pkgconfig")
    monkeypatch.setenv("PKG_CONFIG_PATH", str(folder))


@pytest.mark.usefixtures("installed")
@pytest.mark.parametrize("library", [OURS, *OTHERS], ids=lambda library: library.title)
def test_every_kernel_is_right_on_every_library(library: Library, tmp_path: Path) -> None:
    for kernel, size in SIZES.items():
        try:
            program = library.program(kernel, tmp_path)
        except MissingError as missing:
            if library is OURS:
                raise
            pytest.skip(str(missing))
        right = EXPECTED[kernel](size)
        for threads in ("1", "2"):
            result, took_ns = printed_numbers(program, str(size), threads)
            assert (kernel, result) == (kernel, right)
            assert took_ns > 0


@pytest.mark.usefixtures("installed")
def test_whatever_is_installed_is_compared(tmp_path: Path) -> None:
    comparisons = task_runtime_comparisons(SMALL, tmp_path)
    ratios = [probe.finding(*probe.sample()) for probe in comparisons.probes]
    assert len(ratios) == len({ratio.name for ratio in ratios}) == (2 - len(comparisons.missing)) * 4 * 2
    assert {ratio.bound for ratio in ratios} <= {None}
    assert all(min(ratio.ours, ratio.other) > 0 for ratio in ratios)  # of which there are none without other libraries


def test_every_kernel_has_a_size() -> None:
    assert Effort().runtime_kernels.keys() == SIZES.keys() == TITLES.keys()


def test_a_library_that_is_missing_is_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def program(self: Library, kernel: str, folder: Path) -> Path:
        if self.title == "libomp":
            raise MissingError("there is no libomp")
        return script(folder / f"{kernel}_on_{self.title}", "echo 5 3000000000")

    monkeypatch.setattr(Library, "program", program)
    comparisons = task_runtime_comparisons(SMALL, tmp_path)
    assert comparisons.missing == ("the C runtime with libomp: there is no libomp",)
    names = [probe.finding(*probe.sample()).name for probe in comparisons.probes]
    assert names[:3] == [
        "C runtime, n-queens of 7, 1 thread: to oneTBB",
        "C runtime, n-queens of 7, 2 threads: to oneTBB",
        "C runtime, sort of 30,000, 1 thread: to oneTBB",
    ]
    assert len(names) == 8


def test_without_our_library_there_is_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    only_installed(monkeypatch, tmp_path / "bin", {"c++": "", "pkg-config": "exit 1"})
    comparisons = task_runtime_comparisons(SMALL, tmp_path)
    assert comparisons.probes == ()
    assert comparisons.missing == ("the C runtime with oneTBB and libomp: pkg-config finds no numasim",)


def test_seconds_are_of_the_processor_time_that_programs_print(tmp_path: Path) -> None:
    ours = script(tmp_path / "ours", 'echo "$1" 3000000000')
    other = script(tmp_path / "other", 'echo "$1" "$2"000000000')
    assert seconds_of_pair(ours, other, 12, 2) == (3.0, 2.0, 1.5)


def test_results_that_differ_are_reported(tmp_path: Path) -> None:
    ours, other = script(tmp_path / "uts_on_a", "echo 41 1"), script(tmp_path / "uts_on_b", "echo 42 1")
    said = r"^uts_on_a and uts_on_b of size 9 on 2 threads have the results 41 and 42; they are to be equal$"
    with pytest.raises(CheckError, match=said):
        seconds_of_pair(ours, other, 9, 2)


@pytest.mark.usefixtures("installed")
def test_a_result_that_is_wrong_on_every_library_is_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A merge that leaves its second part out is found by the program itself."""
    source = task_runtimes.PROGRAMS / "sort.cpp.txt"
    spoilt = tmp_path / "spoilt.cpp.txt"
    spoilt.write_text(source.read_text().replace("other.at + other.count, to)", "other.at, to)"))
    monkeypatch.setattr(task_runtimes, "build", partial(built_from, spoilt))
    program = OURS.program("sort", tmp_path)
    with pytest.raises(CheckError, match=r"^sort_on_numasim 30000 2 failed with status 1: the result is \d+, not \d+$"):
        printed_numbers(program, "30000", "2")


def built_from(
    file: Path, program: Path, language: Language, source: str, options: Sequence[str], trial: Sequence[str]
) -> None:
    """As `build`, from another file than the one that is asked for."""
    del source
    build(program, language, str(file), [*options, f"-I{task_runtimes.PROGRAMS}"], trial)
