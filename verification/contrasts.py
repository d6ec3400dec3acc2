"""Check that `numasim compare` names the cause of a planted effect, and no cause if there is no effect.

    python verification/contrasts.py

A cell is one setting of a sweep, run several times. A null contrast compares two cells that differ only in their random
numbers: one strategy with two seeds. Each null contrast is asked as a question of its own, without the correction for
many settings; and all are asked together as one question. One strategy under two names gets the same random numbers, so
its two cells must be equal. A planted effect changes one thing that costs time, such as the bandwidth of a link; the
sentence of the answer must name this change. Exit status 1 if a null contrast has a cause, or if fewer than
`NAMED_BOUND` planted effects are named.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pandas as pd

from numasim.engine.simulate import DEFAULT_ENGINE, simulate_spec
from numasim.report.answers.question import compare
from numasim.spec.sweep_spec import load_sweep
from numasim.sweep.planned_runs import plan_runs
from numasim.sweep.store.parquet import finished, rows_of
from numasim.sweep.store.results_tables import cells_table, results_tables

NAMED_BOUND = 18  # the least number of planted effects that must be named
REPEAT = 12

# ---- null contrasts ----

SQUARE, WIDE, XEON = "opteron-8380-4s", "xeon-6130-4s", "xeon-e5-2620-2s"
ENDS = {
    XEON: [(0, 1)],
    SQUARE: [(0, 1), (0, 2), (1, 3), (2, 3)],
    WIDE: [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)],
}
PLACED = ("interleave", "first-touch-master")
MACHINES = (XEON, SQUARE, WIDE)
PROGRAMS = (
    {"name": "fib", "n": 13},
    {"name": "uts"},
    {"name": "sparselu-single", "blocks": 12},
    {"name": "strassen", "n": 256, "cutoff": 64},
    {"name": "sort", "n": 65536},
)
STRATEGIES = ("randomized", "steal-half", "topology-aware")


def null_frame(programs: Sequence[Mapping[str, Any]], repeat: int) -> pd.DataFrame:
    """Return the table of several machines, programs and strategies, each with two seeds."""
    return frame_of(_nulls(programs, repeat, {"strategy": list(STRATEGIES), "seed": [1, 2]}))


def _nulls(programs: Sequence[Mapping[str, Any]], repeat: int, axes: dict[str, Any]) -> dict[str, Any]:
    return {
        "machine": XEON,
        "workload": {"name": "fib", "n": 5},
        "strategy": "randomized",
        "runtime": "ompi",
        "workers": 8,
        "repeat": repeat,
        "sweep": {"machine": list(MACHINES), "workload": [dict(program) for program in programs], **axes},
    }


def under_two_names(programs: Sequence[Mapping[str, Any]], repeat: int) -> pd.DataFrame:
    """Return the comparisons of each strategy with itself under another name, which draws the same numbers."""
    frames = [frame_of(_nulls(programs, repeat, {"strategy": [name, {"like": name}]})) for name in STRATEGIES]
    return pd.concat([compare(frame, "strategy").table for frame in frames])


@dataclass(frozen=True)
class Nulls:
    """The number of null contrasts, the number with a sure difference, and the number with a cause."""

    contrasts: int
    sure_alone: int
    caused_alone: int
    sure_together: int
    caused_together: int


def null_contrasts(frame: pd.DataFrame) -> Nulls:
    """Compare the seeds in every cell separately, and in all cells together."""
    together = compare(frame, "seed").table
    alone = pd.concat(
        [compare(cell, "seed").table for _, cell in frame.groupby(["machine", "workload", "strategy"], sort=False)]
    )
    return Nulls(
        len(alone),
        int(alone["sure"].sum()),
        int((alone["because"] != "").sum()),
        int(together["sure"].sum()),
        int((together["because"] != "").sum()),
    )


# ---- planted effects ----


@dataclass(frozen=True)
class Planted:
    """A planted effect: ``axis`` changes from one value to another value. The right sentence contains ``word``."""

    name: str
    axis: str
    values: tuple[Any, Any]
    word: str
    spec: dict[str, Any] = field(default_factory=dict)

    def names(self, sentence: str) -> bool:
        """Return whether a sentence names the effect as a cause, not in its words on "all else"."""
        because = sentence.partition(", because ")[2].partition(", while all else")[0]
        return self.word in because


def slower(machine: str, **fields: Any) -> tuple[str, dict[str, Any]]:
    """Return a machine, and the same machine with other fields."""
    return machine, {"like": machine, **fields}


def links(machine: str, gbs: float) -> dict[str, Any]:
    """Return all links of a machine, at another bandwidth."""
    return {"links": [{"between": list(pair), "bandwidth_gbs": gbs} for pair in ENDS[machine]]}


def planted_effects() -> tuple[Planted, ...]:
    """Return twenty effects: of links, controllers, distances, locks, runtime costs, back-off, cores and work."""
    spread = {"workload": {"name": "strassen", "n": 512, "cutoff": 64}, "strategy": placed("interleave"), "workers": 16}
    master = {**spread, "strategy": placed("first-touch-master")}
    fib = {"workload": {"name": "fib", "n": 16}}
    lu = {"workload": {"name": "sparselu-single", "blocks": 16}}
    lock = {"workload": {"name": "spinlock", "acquisitions": 100}}
    sleep = {**lock, "strategy": {"like": "randomized", "locks": {"kind": "mutex", "spin_ns": 100}}}
    crowd = {**spread, "workers": 64}
    transform = {"workload": {"name": "fft", "n": 65536}, "machine": WIDE, "workers": 64}
    full = {**fib, "workers": 24}
    thin, narrow = slower(XEON, **controllers(10)), slower(WIDE, **controllers(8))
    domains = {"workload": {"name": "fib", "n": 16}, "strategy": "affinity-locks", "workers": 16}
    barriers = {
        "workload": {"name": "syncbench", "construct": "barrier"},
        "strategy": {"like": "randomized", "locks": {"barrier": "central"}},
    }
    far = {"same_core_ns": 50, "same_socket_ns": 500, "cross_socket_ns": 1100}
    threads = {"smt": {"busy_ppm": 325000, "poll_ppm": 850000}}
    return (
        Planted("links of a square halved", "machine", slower(SQUARE, **links(SQUARE, 2)), "busiest link", spread),
        Planted("links of four sockets halved", "machine", slower(WIDE, **links(WIDE, 8.5)), "busiest link", crowd),
        Planted("links at a tenth", "machine", slower(XEON, **links(XEON, 2)), "busiest link", spread),
        Planted("links, memory on one node", "machine", slower(WIDE, **links(WIDE, 4)), "busiest link", master),
        Planted("controllers halved", "machine", thin, "busiest controller", spread),
        Planted("controllers at a quarter", "machine", narrow, "busiest controller", crowd),
        Planted("controllers, memory on one node", "machine", thin, "busiest controller", master),
        Planted("longer links of a square", "machine", slower(SQUARE, hop_latency_ns=400), "remote memory", spread),
        Planted("longer links of four sockets", "machine", slower(WIDE, hop_latency_ns=600), "remote memory", crowd),
        Planted("slow lines, one lock", "machine", slower(SQUARE, coherence=far), "waiting for locks", lock),
        Planted("slow lines, locks of domains", "machine", slower(SQUARE, coherence=far), "waiting for locks", domains),
        Planted("a mutex that wakes slowly", "runtime.costs.futex_ns", (900, 9000), "waiting for locks", sleep),
        Planted("slow lines, barriers", "machine", slower(SQUARE, coherence=far), "at barriers", barriers),
        Planted("spawning ten times slower", "runtime.costs.push_ns", (60, 600), "overhead", fib),
        Planted("joining fifty times slower", "runtime.costs.join_ns", (20, 1000), "overhead", fib),
        Planted("polls a hundred times slower", "runtime.poll_ns", (270, 100000), "in back-off", lu),
        Planted("probes 250 times slower", "runtime.costs.probe_ns", (20, 5000), "in probes", lu),
        Planted("threads of a core half as fast", "machine", slower(XEON, **threads), "of cores", full),
        Planted("twice the work", "workload.leaf_ns", (100, 200), "work rises", fib),
        Planted("memory on one node", "strategy.placement", PLACED, "busiest controller", transform),
    )


def placed(policy: str) -> dict[str, Any]:
    """Return a strategy with random victims, and with pages placed by a policy."""
    return {"like": "randomized", "placement": policy}


def controllers(gbs: float) -> dict[str, Any]:
    """Return memory controllers of another bandwidth."""
    return {"nodes": {"imc_bandwidth_gbs": gbs}}


def answer_to(effect: Planted, repeat: int = REPEAT) -> str:
    """Return the sentence about a planted effect."""
    usual = {"machine": SQUARE, "strategy": "randomized", "runtime": "ompi", "workers": 8, "repeat": repeat}
    found = frame_of({**usual, **effect.spec, "sweep": {effect.axis: list(effect.values)}})
    return compare(found).sentences[0]


def frame_of(document: Mapping[str, Any]) -> pd.DataFrame:
    """Run a sweep in this process. Return its table of results."""
    sweep = load_sweep(dict(document))
    planned = plan_runs(sweep)
    results = {
        run.run_id: finished(
            run.run_id, DEFAULT_ENGINE, simulate_spec(run.spec, run.seed, DEFAULT_ENGINE, False), run.spec.workers
        )
        for run in planned
    }
    runs = rows_of([results[run.run_id] for run in planned])
    (table,) = results_tables([runs], cells_table(sweep, ""), sweep.repeat)
    frame: pd.DataFrame = table.to_pandas()
    return frame


def main() -> int:
    """Ask all questions and print the answers."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--quiet", action="store_true", help="print the counts alone")
    quiet = parser.parse_args().quiet
    nulls = null_contrasts(null_frame(PROGRAMS, REPEAT))
    print(f"null contrasts: {nulls.contrasts}")
    print(
        f"  each a question of its own: {nulls.sure_alone} differences called sure, {nulls.caused_alone} with a cause"
    )
    print(f"  all of them one question: {nulls.sure_together} called sure, {nulls.caused_together} with a cause")
    twins = under_two_names(PROGRAMS, REPEAT)
    caused = int((twins["because"] != "").sum())
    zero = int((twins["difference"] == 0).sum())
    print(f"strategies under two names: {len(twins)}, of which {zero} differ by nothing, {caused} with a cause")
    named = 0
    for effect in planted_effects():
        sentence = answer_to(effect)
        found = effect.names(sentence)
        named += found
        if not quiet:
            print(f"{'named' if found else 'NOT NAMED'}: {effect.name}\n  {sentence}")
    print(f"planted effects: {named} of {len(planted_effects())} named (bound {NAMED_BOUND})")
    return int(nulls.caused_alone + nulls.caused_together + caused > 0 or named < NAMED_BOUND)


if __name__ == "__main__":
    raise SystemExit(main())
