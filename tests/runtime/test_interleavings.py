"""All interleavings of small programs on the deque, lane, dependences, locks, conditions, barriers and sleepers of the
runtime.

The sources are the library's own. The explorer in tests/runtime/explorer decides before each of their atomic accesses
which thread goes on. Litmus tests compare the explorer with known results of memory models. Other tests put bugs into
the sources, which the explorer must find.
"""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest
from compiling import CORE, compile_objects, compile_program
from runtime_sources import HERE, LOCKS, sources
from seeded_bugs import BUGS, Bug

EXPLORER = HERE / "explorer"
FLAGS = ["-O2", "-g1", "-DNS_EXPLORE", f"-I{EXPLORER}"]
ABOUT = ("deque/short", "lane/short", "lock", "condition", "barrier", "dependent", "sleep")
IN_ARENA = [*FLAGS, "-include", "arena_allocation.h"]


@pytest.fixture(scope="module")
def parts(c_compiler: str) -> dict[str, Path]:
    """Return the objects of the explorer and of the explored sources, by the names of their sources."""
    own = [*sorted(EXPLORER.glob("*.c")), *sources("fiber.c"), CORE / "base" / "pieces.c"]
    explored = sources(*LOCKS, "split.c", "deque.c", "lane.c", "dependences.c", "sleepers.c")
    made = compile_objects(c_compiler, own, FLAGS) + compile_objects(c_compiler, explored, IN_ARENA)
    return {source.stem: path for source, path in zip([*own, *explored], made, strict=True)}


@pytest.fixture(scope="module")
def program(c_compiler: str, parts: dict[str, Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the explorer of the unchanged sources."""
    return compile_program(c_compiler, tmp_path_factory.mktemp("explorer") / "explorer", list(parts.values()))


def explore(program: Path, memory: str, prefix: str) -> dict[str, str]:
    """Return and print the result of each case whose name begins with ``prefix``. Check the exit status."""
    found = subprocess.run([program, memory, prefix], check=False, capture_output=True, text=True, timeout=1800)
    print(found.stdout)
    cases = dict(re.findall(rf"^(\S.*) {memory}: (.*); \d+ schedules, ", found.stdout, re.MULTILINE))
    sound = all(sentence == "sound" for sentence in cases.values())
    assert cases, found.stderr
    assert found.returncode == (0 if sound else 1), found.stderr
    return cases


@pytest.mark.parametrize(
    ("memory", "about"),
    [
        *(("reordered", about) for about in ABOUT),
        # in the model `reordered` the longer cases of these subjects have too many schedules
        *(("buffered", about) for about in ("deque", "lane", "long/two sleepers")),
    ],
)
def test_every_schedule_is_sound(program: Path, memory: str, about: str) -> None:
    """Each case runs in the weakest memory model that can be explored, which has all schedules of stricter models."""
    assert set(explore(program, memory, about).values()) == {"sound"}


@pytest.mark.parametrize("bug", BUGS, ids=lambda bug: bug.name)
def test_a_seeded_bug_is_found(c_compiler: str, parts: dict[str, Path], tmp_path: Path, bug: Bug) -> None:
    [original] = sources(bug.source)
    changed = bug.write(original, tmp_path / bug.source)
    [made] = compile_objects(c_compiler, [changed], IN_ARENA)
    objects = [*(path for name, path in parts.items() if name != original.stem), made]
    broken = compile_program(c_compiler, tmp_path / "explorer", objects)
    for case in bug.cases:
        assert explore(broken, bug.memory, case)[case] != "sound"


ONE_SEEN = "one of two stores is seen by the other"
FOUND = "who is told of a message finds it"
COUNTS = "each of two increments counts"
STUCK = "nobody can go on, and not all have ended"
ALWAYS = {
    "litmus/store then load, sequential": "sound",
    "litmus/message, released": "sound",
    "litmus/increment, one step": "sound",
    "litmus/increment, two steps": COUNTS,
    "litmus/draw": "sound",
    "litmus/apart": "sound",
    "litmus/wait in vain": STUCK,
    "litmus/sleep on": STUCK,
}


@pytest.mark.parametrize(
    ("memory", "store_then_load", "relaxed_message"),
    [("sequential", "sound", "sound"), ("buffered", ONE_SEEN, "sound"), ("reordered", ONE_SEEN, FOUND)],
)
def test_memory_promises_what_its_kind_promises(
    program: Path, memory: str, store_then_load: str, relaxed_message: str
) -> None:
    found = explore(program, memory, "litmus")
    particular = {"litmus/store then load, release": store_then_load, "litmus/message, relaxed": relaxed_message}
    assert found == ALWAYS | particular


def test_as_many_schedules_as_permutations_and_no_more(program: Path) -> None:
    """Four threads that add to one word have 4! schedules. Two threads without a common word have one schedule."""
    for case, schedules in (("litmus/draw", 24), ("litmus/apart", 1)):
        found = subprocess.run([program, "sequential", case], check=True, capture_output=True, text=True)
        assert f"; {schedules} schedules, " in found.stdout


@pytest.mark.parametrize("arguments", [[], ["relaxed"], ["sequential", "lock/spin"], ["sequential", "", ""]])
def test_what_is_not_known_is_refused(program: Path, arguments: list[str]) -> None:
    found = subprocess.run([program, *arguments], check=False, capture_output=True, text=True)
    assert (found.returncode, found.stderr[:10]) == (2, "explorer: ")
