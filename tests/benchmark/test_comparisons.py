"""The same programs on other libraries: what is missing or goes wrong is one sentence; results are worked out here."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from numasim.engine.simulate import DEFAULT_ENGINE, ENGINES, simulate
from numasim.errors import CheckError
from numasim.runtime.runtime_program import PROGRAM
from numasim.validate.benchmark import comparisons
from numasim.validate.benchmark.comparisons import (
    C_RUNTIME,
    CPP,
    OTHERS,
    STEALING,
    C,
    Language,
    Library,
    MissingError,
    build,
    compiler_of,
    lace_comparisons,
    ns_per_call,
    package_options,
    package_variable,
    printed_numbers,
    seconds_of_pair,
    simgrid_comparisons,
    simgrid_events_per_second,
    task_runtime_comparisons,
)
from numasim.validate.benchmark.effort import NATIVE, SEED, Effort, independent_tasks, plan_of


def script(file: Path, text: str) -> Path:
    """A program that runs ``text`` in a shell."""
    file.write_text(f"#!/bin/sh\n{text}\n")
    file.chmod(0o755)
    return file


def only_installed(monkeypatch: pytest.MonkeyPatch, folder: Path, programs: Mapping[str, str]) -> None:
    """Let processes find no programs but these, each with what it does, and no compilers by variables."""
    folder.mkdir()
    for name, text in programs.items():
        script(folder / name, text)
    monkeypatch.setenv("PATH", str(folder))
    for variable in ("CC", "CXX"):
        monkeypatch.delenv(variable, raising=False)


# ---- programs that are built ----

SOURCE = "fib_numasim.c.txt"  # a file that is there; no real compiler reads it here
BUILDS_A_PROGRAM = (  # a compiler whose programs run whatever $TEXT says
    'while [ $# -gt 0 ]; do [ "$1" = -o ] && made=$2; shift; done; printf \'#!/bin/sh\\n%s\\n\' "$TEXT" > "$made"; '
    '/bin/chmod 755 "$made"'
)


@pytest.mark.parametrize(("language", "name"), [(C, "C"), (CPP, r"C\+\+")])
def test_a_missing_compiler_is_named(
    language: object, name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    only_installed(monkeypatch, tmp_path / "bin", {})
    with pytest.raises(MissingError, match=f"^there is no {name} compiler$"):
        compiler_of(language)  # type: ignore[arg-type]


def test_a_compiler_that_the_environment_names_is_the_only_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    only_installed(monkeypatch, tmp_path / "bin", {"cc": "", "mine": ""})
    assert compiler_of(C) == str(tmp_path / "bin" / "cc")
    monkeypatch.setenv("CC", "mine")
    assert compiler_of(C) == str(tmp_path / "bin" / "mine")
    monkeypatch.setenv("CC", "theirs")
    with pytest.raises(MissingError, match=r"^there is no C compiler theirs$"):
        compiler_of(C)


def test_a_missing_package_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    only_installed(monkeypatch, tmp_path / "bin", {})
    with pytest.raises(MissingError, match=r"^there is no pkg-config$"):
        package_options("lace")
    script(tmp_path / "bin" / "pkg-config", "exit 1")
    with pytest.raises(MissingError, match=r"^pkg-config finds no lace$"):
        package_options("lace")


def test_programs_find_the_library_where_its_package_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    answers = (
        'case "$1" in --variable=libdir) echo /far/lib;; --variable=*) echo;; *) echo "-I/far -L/far/lib -lit";; esac'
    )
    only_installed(monkeypatch, tmp_path / "bin", {"pkg-config": answers})
    assert package_options("it") == ["-I/far", "-L/far/lib", "-lit", "-Wl,-rpath,/far/lib"]
    assert package_variable("it", "counters") == ""
    script(tmp_path / "bin" / "pkg-config", 'case "$1" in --variable=*) echo;; *) echo "-lit";; esac')
    assert package_options("it") == ["-lit"]


def test_what_cannot_be_built_is_a_sentence_with_the_first_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    says = "echo 'In file included from a.c:1:' >&2; echo 'a.c:3: error: no such type' >&2; echo more >&2; exit 1"
    only_installed(monkeypatch, tmp_path / "bin", {"cc": says})
    with pytest.raises(MissingError) as missing:
        build(tmp_path / "made", C, SOURCE, [], [])
    assert str(missing.value) == f"{SOURCE} cannot be built: a.c:3: error: no such type"


def test_what_cannot_be_run_is_a_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    only_installed(monkeypatch, tmp_path / "bin", {"cc": BUILDS_A_PROGRAM})
    monkeypatch.setenv("TEXT", "echo 'libit.so.0 is not there' >&2; exit 127")
    with pytest.raises(MissingError, match=rf"^{SOURCE} cannot be run: libit.so.0 is not there$"):
        build(tmp_path / "made", C, SOURCE, [], [])
    monkeypatch.setenv("TEXT", "exit 3")
    with pytest.raises(MissingError, match=rf"^{SOURCE} cannot be run$"):
        build(tmp_path / "made", C, SOURCE, [], [])


def test_numbers_are_read_and_anything_else_is_reported(tmp_path: Path) -> None:
    assert printed_numbers(script(tmp_path / "good", 'echo "$2" 7'), "5", "6") == [6, 7]
    with pytest.raises(CheckError, match=r"^words 5 printed 'no numbers'; whole numbers are expected$"):
        printed_numbers(script(tmp_path / "words", "echo no numbers"), "5")
    with pytest.raises(CheckError, match=r"^wrong 5 failed with status 1: the result is 3, not 4$"):
        printed_numbers(script(tmp_path / "wrong", "echo 'the result is 3, not 4' >&2; exit 1"), "5")


# ---- Lace ----

SMALL_FIB = replace(Effort(), runtime_fib=10)  # fib(10) is 55 and makes 177 calls


def use_scripts(monkeypatch: pytest.MonkeyPatch, folder: Path, missing: str = "", counters: str = "ON") -> None:
    """Let both programs be scripts: a call takes 20 ns on ours and 10 on Lace, whatever N and the workers."""
    for package, nanoseconds in ((comparisons.OURS, 3540), (comparisons.LACE, 1770)):
        script(folder / f"fib_{package}", f"echo 55 {nanoseconds}")

    def built(package: str, folder: Path) -> Path:
        if package == missing:
            raise MissingError(f"pkg-config finds no {package}")
        return folder / f"fib_{package}"

    monkeypatch.setattr(comparisons, "_fib_program", built)
    monkeypatch.setattr(comparisons, "package_variable", lambda package, variable: counters)


@pytest.mark.parametrize(("counters", "bound", "how"), [("ON", 1.5, "with counters"), ("OFF", 1.2, "no counters")])
def test_both_programs_are_compared_at_the_same_size(
    counters: str, bound: float, how: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    use_scripts(monkeypatch, tmp_path, counters=counters)
    ratios = [probe.finding(*probe.sample()) for probe in lace_comparisons(SMALL_FIB, tmp_path).probes]
    assert [(each.ours, each.other, each.ratio) for each in ratios] == [(20.0, 10.0, 2.0)] * 2 + [(20.0, 20.0, 1.0)]
    assert [(each.kind, each.bound) for each in ratios] == [("at most", bound)] * 2 + [("at most", 1.1)]
    assert [how in each.name for each in ratios] == [True, True, False]


def test_without_lace_many_threads_are_compared_with_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    use_scripts(monkeypatch, tmp_path, missing=comparisons.LACE)
    found = lace_comparisons(SMALL_FIB, tmp_path)
    assert [probe.finding(*probe.sample()).bound for probe in found.probes] == [1.1]
    assert found.missing == ("the C runtime with Lace: pkg-config finds no lace",)


def test_without_our_library_nothing_is_compared(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    only_installed(monkeypatch, tmp_path / "bin", {"cc": "", "pkg-config": "exit 1"})
    found = lace_comparisons(SMALL_FIB, tmp_path)
    assert found.probes == ()
    (sentence,) = found.missing
    assert sentence == "the C runtime with Lace and with its own one thread: pkg-config finds no numasim"


def test_a_wrong_result_is_reported(tmp_path: Path) -> None:
    with pytest.raises(CheckError, match=r"^fib_bad says that fib\(10\) is 54; it is 55$"):
        ns_per_call(script(tmp_path / "fib_bad", "echo 54 100"), 1, 10)


def test_our_program_is_right(prefix: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder,) = prefix.glob("**/pkgconfig")
    monkeypatch.delenv("PKG_CONFIG_PATH", raising=False)
    monkeypatch.setenv("PKG_CONFIG_LIBDIR", str(folder))  # and no other library
    found = lace_comparisons(SMALL_FIB, tmp_path)
    (ratio,) = (probe.finding(*probe.sample()) for probe in found.probes)
    assert min(ratio.ours, ratio.other) > 0
    assert found.missing == ("the C runtime with Lace: pkg-config finds no lace",)


# ---- oneTBB and libomp ----

SIZES = {"nqueens": 7, "sort": 30_000, "strassen": 256, "uts": 50}  # so that tasks sort, merge and multiply in parts
SMALL_KERNELS = replace(Effort(), runtime_kernels=SIZES)
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
@pytest.mark.parametrize("library", [C_RUNTIME, *OTHERS], ids=lambda library: library.title)
def test_every_kernel_is_right_on_every_library(library: Library, tmp_path: Path) -> None:
    for kernel, size in SIZES.items():
        try:
            program = library.program(kernel, tmp_path)
        except MissingError as missing:
            if library is C_RUNTIME:
                raise
            pytest.skip(str(missing))
        right = EXPECTED[kernel](size)
        for threads in ("1", "2"):
            result, took_ns = printed_numbers(program, str(size), threads)
            assert (kernel, result) == (kernel, right)
            assert took_ns > 0


@pytest.mark.usefixtures("installed")
def test_whatever_is_installed_is_compared(tmp_path: Path) -> None:
    found = task_runtime_comparisons(SMALL_KERNELS, tmp_path)
    ratios = [probe.finding(*probe.sample()) for probe in found.probes]
    assert len(ratios) == len({ratio.name for ratio in ratios}) == (2 - len(found.missing)) * 4 * 2
    assert {ratio.bound for ratio in ratios} <= {None}
    assert all(min(ratio.ours, ratio.other) > 0 for ratio in ratios)  # of which there are none without other libraries


def test_a_library_that_is_missing_is_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def program(self: Library, kernel: str, folder: Path) -> Path:
        if self.title == "libomp":
            raise MissingError("there is no libomp")
        return script(folder / f"{kernel}_on_{self.title}", "echo 5 3000000000")

    monkeypatch.setattr(Library, "program", program)
    found = task_runtime_comparisons(SMALL_KERNELS, tmp_path)
    assert found.missing == ("the C runtime with libomp: there is no libomp",)
    names = [probe.finding(*probe.sample()).name for probe in found.probes]
    assert names[:3] == [
        "C runtime, n-queens of 7, 1 thread: to oneTBB",
        "C runtime, n-queens of 7, 2 threads: to oneTBB",
        "C runtime, sort of 30,000, 1 thread: to oneTBB",
    ]
    assert len(names) == 8


def test_without_our_library_there_is_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    only_installed(monkeypatch, tmp_path / "bin", {"c++": "", "pkg-config": "exit 1"})
    found = task_runtime_comparisons(SMALL_KERNELS, tmp_path)
    assert found.probes == ()
    assert found.missing == ("the C runtime with oneTBB and libomp: pkg-config finds no numasim",)


def test_results_that_differ_are_reported(tmp_path: Path) -> None:
    ours, other = script(tmp_path / "uts_on_a", "echo 41 1"), script(tmp_path / "uts_on_b", "echo 42 1")
    said = r"^uts_on_a and uts_on_b of size 9 on 2 threads have the results 41 and 42; they are to be equal$"
    with pytest.raises(CheckError, match=said):
        seconds_of_pair(ours, other, 9, 2)


@pytest.mark.usefixtures("installed")
def test_a_result_that_is_wrong_on_every_library_is_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A merge that leaves its second part out is found by the program itself."""
    source = comparisons.PROGRAMS / "sort.cpp.txt"
    spoilt = tmp_path / "spoilt.cpp.txt"
    spoilt.write_text(source.read_text().replace("other.at + other.count, to)", "other.at, to)"))
    monkeypatch.setattr(comparisons, "build", partial(built_from, spoilt))
    program = C_RUNTIME.program("sort", tmp_path)
    with pytest.raises(CheckError, match=r"^sort_on_numasim 30000 2 failed with status 1: the result is \d+, not \d+$"):
        printed_numbers(program, "30000", "2")


def built_from(
    file: Path, program: Path, language: Language, source: str, options: Sequence[str], trial: Sequence[str]
) -> None:
    """As `build`, from another file than the one that is asked for."""
    del source
    build(program, language, str(file), [*options, f"-I{comparisons.PROGRAMS}"], trial)


# ---- SimGrid ----

SMALL_SIM = replace(Effort(), simgrid_tasks=600)
needs_native = pytest.mark.skipif(NATIVE not in ENGINES, reason="the native engine is compared")


@pytest.fixture
def simgrid(tmp_path: Path) -> Path:
    """The program on SimGrid; what asks for it is skipped where that is not installed."""
    program = tmp_path / "stealing_simgrid"
    try:
        build(program, CPP, STEALING, package_options("simgrid"), ("10", "2", "1"))
    except MissingError as missing:
        pytest.skip(str(missing))
    return program


@pytest.mark.skipif(not PROGRAM.exists(), reason="the runtime is not built")
@pytest.mark.parametrize("tasks", [1, 7, 40, 333])
def test_two_workers_do_what_those_of_the_bare_loop_do(simgrid: Path, tasks: int) -> None:
    """No two events are at one time here, so that their order does not depend on the simulator."""
    executed, events, makespan, _ = printed_numbers(simgrid, str(tasks), "2", "2")
    command = [PROGRAM, "bare", "independent", str(tasks), "2", "2"]
    bare = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    starts = 2  # of the workers, events there
    assert (executed, makespan, events) == (tasks, bare["makespan_ns"], bare["events"] - starts)


def test_every_task_is_executed_and_no_worker_rests(simgrid: Path) -> None:
    """Work is shared out to the last task: the makespan is the mean of all work, but for a task and some probes."""
    tasks, workers = 6000, 24
    executed, events, makespan, took_ns = printed_numbers(simgrid, str(tasks), str(workers), "2")
    work = sum(500 + (mix(task ^ 0x5BD1E995) >> 32) * 1000 // 2**32 for task in range(tasks))
    assert executed == tasks
    assert tasks < events < 1.2 * tasks
    assert work / workers <= makespan <= work / workers + 2 * 1499
    assert took_ns > 0


def test_an_event_of_the_engine_is_the_end_of_a_task_or_of_a_probe() -> None:
    row = simulate(plan_of(independent_tasks(3000), 24, "bare", "off"), SEED, DEFAULT_ENGINE).row()
    assert row["events"] == pytest.approx(row["tasks"] + row["steal_attempts"], rel=0.01)


@needs_native
def test_both_are_compared(simgrid: Path, tmp_path: Path) -> None:
    del simgrid  # it is installed
    found = simgrid_comparisons(SMALL_SIM, tmp_path)
    (ratio,) = (probe.finding(*probe.sample()) for probe in found.probes)
    assert (ratio.name, ratio.unit) == ("independent, event by event, 24 workers: to SimGrid", "events/s")
    assert min(ratio.ours, ratio.other) > 0
    assert found.missing == ()


def test_the_rate_is_of_events_and_not_of_tasks(tmp_path: Path) -> None:
    program = script(tmp_path / "stealing_simgrid", 'echo "$1" 1500 99 2000000000')
    assert simgrid_events_per_second(program, 1000, 24, 2) == 750.0


@needs_native
def test_without_simgrid_there_is_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    only_installed(monkeypatch, tmp_path / "bin", {"c++": "", "pkg-config": "exit 1"})
    found = simgrid_comparisons(SMALL_SIM, tmp_path)
    assert found.probes == ()
    assert found.missing == ("the native engine with SimGrid: pkg-config finds no simgrid",)
