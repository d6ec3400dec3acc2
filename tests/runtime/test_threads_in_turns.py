"""Threads in turns: the code of threads runs one worker at a time, in an order that a seed decides. Every task runs
exactly once, and no wake-up is lost, with 2 to 64 workers. In the mode `paced` each worker has a clock that the plan's
costs advance, and the worker with the earliest clock runs: workers take the steps of the simulator.
"""

from __future__ import annotations

import re
import sys
from dataclasses import replace
from functools import partial
from itertools import product
from pathlib import Path

import pytest
from compiling import RUNTIME, compile_objects, compile_program
from idle_rules import RULES, resting
from runtime_sources import HERE, MACHINE, THREADED, library_sources, refusal, sources, told
from runtime_sources import plan_file as plan_file_on
from seeded_bugs import BUGS
from test_threads import FIB_12_CALLS, holds, needs_no_graph

from numasim.runtime.controlled_run import run_plan
from numasim.runtime.runtime_program import LIBRARY, TURNS_LIBRARY, KernelRun, Order, run_kernel

sys.path.insert(0, str(Path(__file__).parents[1] / "engine"))
sys.path.insert(0, str(Path(__file__).parents[2] / "verification"))

from engine_setup import plan_of, shipped_strategy
from registry_cells import machine, workload
from turns_against_simulator import BOUND, COUNTS, RINGS, shares, simulated, threaded
from turns_against_simulator import plan_of as plan_for_shares

from numasim.engine.simulate import simulate
from numasim.plan.plan import Plan, Run
from numasim.spec.single_part import read_strategy

BIG = "xeon-6130-4s"  # has 64 cores
TEAMS = (2, 3, 5, 16, 64)
FREE = [name for name in THREADED if needs_no_graph(name)]
JOINS = ("help", "continuation")


plan_file = partial(plan_file_on, runtime="bare", machine=BIG, seed=1)


@pytest.mark.parametrize("strategy", FREE)
def test_no_seed_loses_or_repeats_a_task(program: Path, tmp_path: Path, strategy: str) -> None:
    """Each strategy gets another team size, join and rules for idle workers; ``graph`` checks each of its tasks."""
    first = FREE.index(strategy)
    for at, rules in enumerate((None, [*RULES][first % len(RULES)])):
        named = resting(tmp_path, strategy, rules) if rules else strategy
        workers = TEAMS[(first + 2 * at) % len(TEAMS)]
        plan = plan_file(tmp_path, named, JOINS[(first + at) % 2], workers)
        order = Order("graph", {"depth": 3}, mode="turns", plan=plan, seed=1 + first, repeat=6)
        for run in run_kernel(order, program):
            holds(run)
        for run in run_kernel(replace(order, kernel="fib", parameters={"n": 12}, repeat=2), program):
            holds(run)
            assert run.columns["tasks"] == FIB_12_CALLS


@pytest.mark.parametrize("strategy", [name for name in THREADED if name not in FREE])
def test_nor_does_any_where_tasks_are_told_apart(program: Path, strategy: str) -> None:
    plan = plan_of(workload("heat-ir"), 16, shipped_strategy(strategy), machine=machine(MACHINE))
    for seed in (1, 2):
        assert run_plan(Run(plan, seed), "turns", program).correct


@pytest.mark.parametrize("rules", RULES)
@pytest.mark.parametrize("workers", TEAMS)
def test_no_wake_up_is_lost(program: Path, tmp_path: Path, rules: str, workers: int) -> None:
    """The rules `hpx` wake all sleepers at every task. With 64 workers this takes too many turns: the test uses 8."""
    workers = 8 if (rules, workers) == ("hpx", 64) else workers
    plan = plan_file(tmp_path, resting(tmp_path, "randomized", rules), JOINS[workers % 2], workers)
    for run in run_kernel(Order("graph", {"depth": 3}, mode="turns", plan=plan, seed=workers, repeat=10), program):
        holds(run)


CONDITIONAL = ("work-dealing", "locality-binding", "laws-nc", "laws", "cab")


@pytest.mark.parametrize("strategy", CONDITIONAL)
def test_nor_is_any_if_thieves_take_under_conditions(program: Path, tmp_path: Path, strategy: str) -> None:
    """No wake-up is lost either under the rules `tokio` and `go`, which bound the number of searching workers."""
    for rules, family in product(("tokio", "go"), ("ge", "uts")):
        named = read_strategy(resting(tmp_path, strategy, rules))
        plan = plan_of(workload(family), 16, named, machine=machine(BIG))
        for seed in (1, 2, 3):
            assert run_plan(Run(plan, seed), "turns", program).correct


def outcome(run: KernelRun) -> object:
    return run.makespan_ps, run.worker, run.node_attempts


@pytest.mark.parametrize("mode", ["turns", "paced"])
def test_a_seed_repeats_its_run(program: Path, tmp_path: Path, mode: str) -> None:
    plan = plan_file(tmp_path, resting(tmp_path, "randomized", "tokio"), "help", 16)
    one, again, other = (
        outcome(run_kernel(Order("graph", {"depth": 4}, mode=mode, plan=plan, seed=seed), program)[0])
        for seed in (7, 7, 8)
    )
    assert one == again != other


@pytest.fixture(scope="module")
def turned(c_compiler: str) -> dict[str, Path]:
    """Compile the library's code of threads with NS_TURNS: workers take turns. Return the objects by source name."""
    folders = ("dependences", "execution", "following", "queues", "search", "sync", "threads", "turns")
    files = [path for folder in folders for path in sorted((RUNTIME / "source" / folder).glob("*.c"))]
    return {path.stem: made for path, made in zip(files, compile_objects(c_compiler, files, FLAGS), strict=True)}


FLAGS = ("-O1", "-DNS_TURNS")
[BUG] = [bug for bug in BUGS if bug.name == "a worker sleeps without a second look for tasks"]


def seeds_program(compiler: str, program: Path, turned: dict[str, Path]) -> Path:
    """Link seeds.c with the library, in which the objects ``turned`` replace the objects of the same sources."""
    others = [path for path in library_sources() if path.stem not in turned]
    files = [HERE / "turns" / "seeds.c", *others, *turned.values()]
    return compile_program(compiler, program, files, ("-O1", "-Wl,--defsym=ns_thread_mode=ns_turns_mode"))


def test_a_lost_wake_up_is_found_and_its_seed_repeats_it(
    c_compiler: str, turned: dict[str, Path], tmp_path: Path
) -> None:
    """Tasks go to random queues. Only the owner of a queue takes tasks from it, and sleeps after one failed round.
    With the bug, about one seed in twenty loses a wake-up: then nobody takes the owner's task.
    """
    [original] = sources("sleepers.c")
    [broken] = compile_objects(c_compiler, [BUG.write(original, tmp_path / "sleepers.c")], FLAGS)
    dealt = tmp_path / "dealt.yaml"
    idle = "phases: [{rounds: 1, pause_ns: 0}], sleep: {recheck: each}, wake: {at: every-push, chain: 0}"
    dealt.write_text(f"name: dealt\ndispatch: [{{to: any, pick: random}}]\nsteal: [{{from: own}}]\nidle: {{{idle}}}\n")
    plan = plan_file(tmp_path, str(dealt), "help", 4)
    wrong = seeds_program(c_compiler, tmp_path / "wrong", {**turned, "sleepers": broken})
    found = told(wrong, "turns", plan, 1, 300).splitlines()
    assert found
    assert all("all workers sleep" in sentence for sentence in found)
    seed = re.findall(r"\(seed (\d+)\)", found[0])[0]
    assert told(wrong, "turns", plan, seed, 1).splitlines() == found[:1]
    right = seeds_program(c_compiler, tmp_path / "right", turned)
    assert told(right, "turns", plan, 1, 300) == ""


def test_the_installed_library_has_the_mode(c_compiler: str, tmp_path: Path) -> None:
    plan = plan_file(tmp_path, "randomized", "help", 5)
    flags = ("-Wl,--undefined=ns_turns_mode",)
    files = [HERE / "turns" / "seeds.c", TURNS_LIBRARY, LIBRARY]
    program = compile_program(c_compiler, tmp_path / "seeds", files, flags)
    for mode in ("turns", "paced"):
        assert told(program, mode, plan, 1, 20) == ""


def test_a_program_without_the_library_says_so(c_compiler: str, tmp_path: Path) -> None:
    plan = plan_file(tmp_path, "randomized", "help", 5)
    program = compile_program(c_compiler, tmp_path / "seeds", [HERE / "turns" / "seeds.c", LIBRARY])
    assert "threads in turns are in libnumasim-turns, which this program is linked without" in told(
        program, "turns", plan, 1, 1
    )


def test_turns_are_not_rehearsed(program: Path) -> None:
    said = refusal(program, "--kernel", "fib", "--mode", "turns", "--rehearse")
    assert "--rehearse goes with the modes native" in said


def check_same_steps(plan: Plan, seed: int, naps_ps: int = 0) -> None:
    """Check that threads take the steps of the simulator: the makespan and all steals are equal.

    When the last task ends, the simulator drops the probes and naps of other workers. On threads each other worker
    completes one probe, or one nap of at most ``naps_ps``, and a worker woken then does not count its wake-up.
    """
    workers = plan.workers.workers
    expected, found = simulate(plan, seed), run_plan(Run(plan, seed), "paced")
    counts = {name: int(expected.per_worker[name].sum()) for name in COUNTS}
    assert found.makespan_ps == expected.makespan_ps
    for name in ("steal_success", "steal_success_remote"):
        assert found.columns[name] == counts[name]
    assert 0 <= found.columns["steal_attempts"] - counts["steal_attempts"] <= workers
    assert 0 <= counts["wakeups"] - found.columns["wakeups"] <= workers
    assert 0 <= found.columns["asleep_ps"] - counts["asleep_ps"] <= workers * naps_ps


@pytest.mark.parametrize("strategy", THREADED)
def test_threads_steal_as_the_simulator_says(strategy: str) -> None:
    """`verification/turns_against_simulator.py` prints the shares of all strategies.

    Workers that ask for a lock at the same time get the lock in the order of their numbers in the simulator, but in the
    order of their requests on threads. After such a request the steps differ. So for strategies with locks for searches
    only the shares of steals are compared.
    """
    plan = plan_for_shares(strategy, 16, RINGS)
    if not plan.words.search:
        check_same_steps(plan, 1)
        return
    seeds = range(1, 9)
    for one, other in zip(shares(simulated(plan, seeds)), shares(threaded(plan, seeds)), strict=True):
        assert abs(one - other) <= BOUND


UNDER_LOCKS = {
    "of domains": "like: affinity-locks",
    "of queues": "like: phoenix-locality-random",
    # Thieves and the workers that put tasks into queues wait for the same lock.
    "of queues, where tasks are dealt": "queues: {deque: {per: worker, own: lifo, steal: fifo, lock: yes}}\n"
    "dispatch: [{to: any, pick: random}]\nsteal: [{from: others}]\nlocks: {kind: mcs, probe: lock-first}",
}


@pytest.mark.parametrize("locks", UNDER_LOCKS)
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_searches_under_locks_take_the_same_steps(tmp_path: Path, locks: str, seed: int) -> None:
    """With three workers, no two workers ask for a lock at the same time."""
    (tmp_path / "locked.yaml").write_text(f"name: locked\n{UNDER_LOCKS[locks]}\n")
    check_same_steps(plan_for_shares(str(tmp_path / "locked.yaml"), 3, RINGS, root_children=12), seed)


NAPS_PS = {"cilk": 500_000, "spinning": 2_000_000}


@pytest.mark.parametrize("rules", RULES)
@pytest.mark.parametrize("seed", [1, 2])
def test_threads_sleep_as_the_simulator_says(tmp_path: Path, rules: str, seed: int) -> None:
    plan = plan_for_shares(resting(tmp_path, "randomized", rules), 16, RINGS)
    check_same_steps(plan, seed, NAPS_PS.get(rules, 0))


SLEEPING = "idle: {phases: [{rounds: 4, pause_ns: 50}], searchers: {busy_share: 2}, sleep: {recheck: each}%s}"
SEARCHES = {
    "a forgotten last victim": "steal: [{from: last, chance: 1, forget: yes}, {from: others}]",
    "the awake": "steal: [{from: others, pick: permutation, tries: all, if: awake}]\n" + SLEEPING % "",
    "rounds away from the thief": "join: leapfrog\nsteal: [{from: thief}, {from: others, leap_after: 3}]",
    "batches": "queues: {pool: {per: machine}, deque: {per: worker}}\n"
    "dispatch: [{to: any, queue: pool, pick: in-order}]\n"
    "steal: [{from: own, queue: pool, amount: {share: workers, round: above, most: 8}}, {from: others}]",
}


@pytest.mark.parametrize("search", SEARCHES)
@pytest.mark.parametrize("seed", [1, 2])
def test_searches_of_other_runtimes_take_the_same_steps(tmp_path: Path, search: str, seed: int) -> None:
    (tmp_path / "searching.yaml").write_text(f"name: searching\n{SEARCHES[search]}\n")
    check_same_steps(plan_for_shares(str(tmp_path / "searching.yaml"), 16, RINGS), seed)


def test_yields_between_tasks_take_the_same_steps() -> None:
    for join in ("help", "strict"):
        plan = plan_for_shares("randomized", 16, RINGS | {"join": join, "costs": {"yield_ns": 70}})
        check_same_steps(plan, 1)


DEALT = "steal: [{from: others, tries: all, if: awake}]\ndispatch: [{to: any, pick: random}]\n"
MISSED = "queues: {deque: {per: worker, lock: yes}}\nsteal: [{from: others, pick: in-order, tries: all}]\n"


@pytest.mark.parametrize("search", [DEALT + SLEEPING % "", MISSED + SLEEPING % ", wake: {missed: yes}"])
def test_no_task_is_lost_if_queues_are_left_out_or_locked(program: Path, tmp_path: Path, search: str) -> None:
    (tmp_path / "searching.yaml").write_text(f"name: searching\n{search}\n")
    for workers in TEAMS[:4]:
        plan = plan_file(tmp_path, str(tmp_path / "searching.yaml"), JOINS[workers % 2], workers)
        for run in run_kernel(Order("graph", {"depth": 3}, mode="turns", plan=plan, seed=1, repeat=20), program):
            holds(run)
