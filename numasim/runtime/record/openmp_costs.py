"""`numasim calibrate --openmp`: measure the costs of an OpenMP runtime on this machine, and write a runtime file.

Nothing is fitted. Each cost is the least of many rounds of a small program that calls the runtime's entry points,
without a recorder. Costs that were not measured are taken from the preset ``ompi`` and marked as assumed.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path

from numasim.errors import InputError
from numasim.parts.models.runtime_model import CostSpec
from numasim.parts.yaml.document import yaml_text
from numasim.runtime.record.program_runs import find_openmp, find_probe
from numasim.spec.single_part import read_runtime

BASE = "ompi"
GOMP = "libgomp.so.1"
NAMES = ("libomp", "gomp")
LINES_OF_A_STEAL = 2  # cache lines whose transfers a simulated steal adds to the cost: the queue's and the join's line
MEASURED = ("push", "execute", "each", "steal", "wait", "barrier", "line", "serial")
Costs = dict[str, tuple[Decimal, str]]  # each cost in ns, and the comment with its origin


@dataclass(frozen=True)
class RuntimeKind:
    """A runtime: its rules as fields of a runtime file, and in ``source`` a sentence on the code that has the rules.

    If ``yields``, a thread that waits yields its processor after each task but the last, unless OMP_WAIT_POLICY is
    active (LLVM: ``__kmp_execute_tasks_template`` in kmp_tasking.cpp).
    """

    name: str
    rules: Mapping[str, object]
    source: str
    yields: bool


LIBOMP = RuntimeKind(
    "libomp",
    {"join": "strict", "capacity": 256, "on_full": "inline", "resume": Decimal(1), "queue_order": "lifo-fifo"},
    "LLVM: a queue of 256 tasks for each thread; a waiting thread runs descendants of its task",
    yields=True,
)
GOMP_KIND = RuntimeKind(
    "gomp",
    {"join": "strict", "capacity": 64, "on_full": "inline", "resume": Decimal(1), "queue_order": "fifo-lifo"},
    "GCC: one queue for the team, of 64 tasks for each thread; it is simulated as a queue for each thread",
    yields=False,
)


def calibrate_openmp(library: str, *, serial: bool = False, name: str | None = None) -> str:
    """Return the text of the runtime file of ``library``, which is libomp, gomp or the path of a library.

    The library runs under the environment's OMP_WAIT_POLICY, as the user's programs do. With ``serial`` the costs are
    those of a team of one thread, for which runtimes do less. Raise InputError if the library cannot be measured.
    """
    kind, path = _library(library)
    found = measured(str(path))
    costs = _serial_costs(found) if serial else _team_costs(kind, found)
    return _text(name or f"{kind.name}{'-serial' if serial else ''}", kind, costs, found)


def measured(library: str) -> dict[str, Decimal]:
    """Run the program that measures a library. Return the measured times in ns, by name."""
    variables = {**os.environ, "OMP_DYNAMIC": "false", "OMP_PROC_BIND": "false"}
    done = subprocess.run(
        [str(find_probe()), "costs", library], env=variables, capture_output=True, text=True, check=False
    )
    lines = [line.split() for line in done.stdout.splitlines()]
    found = {line[0]: Decimal(line[1]) for line in lines if len(line) == 2}
    if done.returncode or not found.keys() >= set(MEASURED):
        said = (done.stderr.strip().splitlines() or ["it ended without saying why"])[-1]
        raise InputError(f"the OpenMP runtime cannot be measured: {said}", place=library)
    return found


def _library(library: str) -> tuple[RuntimeKind, Path]:
    if library == "libomp":
        return LIBOMP, find_openmp().path
    if library == "gomp":
        return GOMP_KIND, Path(GOMP)
    if Path(library).is_file():
        return (GOMP_KIND if "gomp" in Path(library).name else LIBOMP), Path(library).resolve()
    raise InputError(
        f"there is no OpenMP runtime {library!r}",
        expected="libomp, gomp or the file of one",
        value=library,
        known=NAMES,
    )


def _team_costs(kind: RuntimeKind, found: Mapping[str, Decimal]) -> Costs:
    lines = LINES_OF_A_STEAL * found["line"]
    take = max(Decimal(0), found["steal"] - found["execute"] - lines)
    alone = max(Decimal(0), found["each"] - found["push"] - found["wait"])
    pop = min(alone, found["execute"]) if kind.yields else found["execute"]
    return {
        "push_ns": (found["push"], "making a task and putting it into the queue, two threads in the team"),
        "pop_ns": (pop, "taking an empty task from the own queue, executing and finishing it"),
        "yield_ns": (
            found["execute"] - pop,
            f"each of 100 tasks of a wait needs {found['execute']} ns, less pop_ns"
            if kind.yields
            else "the runtime does not yield between tasks",
        ),
        "join_ns": (Decimal(0), "within pop_ns"),
        "wait_ns": (found["wait"], "a taskwait without children"),
        "take_ns": (
            take,
            f"each of 100 tasks that the other thread takes needs {found['steal']} ns, less pop_ns, yield_ns and "
            f"{LINES_OF_A_STEAL} transfers of a line of {found['line']} ns, which the machine adds",
        ),
    }


def _serial_costs(found: Mapping[str, Decimal]) -> Costs:
    return {
        "push_ns": (found["serial"], "making, executing and finishing an empty task, one thread in the team"),
        "pop_ns": (Decimal(0), "within push_ns"),
        "join_ns": (Decimal(0), "within push_ns"),
        "yield_ns": (Decimal(0), "within push_ns"),
        "wait_ns": (found["wait"], "a taskwait without children"),
        "take_ns": (Decimal(0), "nobody takes tasks of others"),
    }


def _text(name: str, kind: RuntimeKind, costs: Costs, found: Mapping[str, Decimal]) -> str:
    assumed = read_runtime(BASE).costs
    values: dict[str, object] = {}
    comments = {"join": kind.source, "poll_ns": f"assumed, as in {BASE}"}
    for key in CostSpec.model_fields:
        value, source = costs.get(key, (getattr(assumed, key), f"assumed, as in {BASE}: not measured"))
        values[key] = value
        comments[f"costs.{key}"] = source
    document = {"name": name, **kind.rules, "poll_ns": read_runtime(BASE).poll_ns, "costs": values}
    barrier = f"A barrier of two threads takes {found['barrier']} ns, which a simulation has no cost for."
    policy = f"OMP_WAIT_POLICY was {os.environ.get('OMP_WAIT_POLICY', 'not set')}."
    heading = f"{name}: an OpenMP runtime, measured on this machine. Times in nanoseconds. {policy} {barrier}"
    return yaml_text(document, heading=heading, blocks=("costs",), comments=comments)
