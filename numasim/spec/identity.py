"""The identity of a run: the contents of everything that is simulated, not names, paths or comments.

A run's identity is a 128-bit BLAKE2b hash (RFC 7693) of canonical JSON: sorted keys, no spaces, normalised decimals.
"""

from __future__ import annotations

from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING, Any

from numasim.files.bounded_bytes import read_bytes
from numasim.files.file_kinds import GRAPH
from numasim.parts.base import canonical_json
from numasim.workload.parameters import WorkloadFile, WorkloadParameters

if TYPE_CHECKING:
    from numasim.spec.run_spec import RunSpec
    from numasim.spec.sweep_spec import SweepSpec

MODEL_VERSION = 8  # incremented whenever the same specification gives other counters


def run_id(spec: RunSpec, seed_r: int) -> str:
    """Return the identity, 32 hex digits, of the run of ``spec`` with the seed ``seed_r`` of one repeat.

    Names and sources of the machine, strategy and runtime, ``skip``, ``repeat`` and the engine do not enter.
    """
    fields = (
        ("machine", spec.machine.contents_json),
        ("model", canonical_json(spec.model.model_dump(exclude={"skip"}))),
        ("model_version", str(MODEL_VERSION)),
        ("runtime", spec.runtime.contents_json),
        ("seed", str(seed_r)),
        ("strategy", spec.strategy.contents_json),
        ("workers", str(spec.workers)),
        ("workload", workload_json(spec.workload)),
    )
    return _digest("{" + ",".join(f'"{name}":{text}' for name, text in fields) + "}")


def identity(spec: RunSpec, seed_r: int, engine: str) -> dict[str, Any]:
    """Return the identity columns of a single run: the first repeat of ``spec``, whose seed is ``seed_r``."""
    return {
        "run_id": run_id(spec, seed_r),
        "seed": spec.seed,
        "repeat": 0,
        "engine": engine,
        "machine": spec.machine.name,
        "workload": workload_name(spec.workload),
        "strategy": spec.strategy.name,
        "workers": spec.workers,
    }


def workload_name(workload: WorkloadParameters | WorkloadFile) -> str:
    """Return the benchmark's name, or the file that the task graph comes from."""
    return workload.file if isinstance(workload, WorkloadFile) else workload.name


def workload_json(workload: WorkloadParameters | WorkloadFile) -> str:
    """Return the contents as JSON: a benchmark's name and parameters, or the contents of a graph file without its path.

    InputError where that file can no longer be read.
    """
    if isinstance(workload, WorkloadFile):
        graph = read_bytes(Path(workload.file), GRAPH)
        return canonical_json({"file": blake2b(graph, digest_size=16).hexdigest()})
    return canonical_json(workload.model_dump())


def spec_hash(sweep: SweepSpec) -> str:
    """Return a hash of the sweep without axes and repeats: sweeps of equal hashes may share a results directory."""
    return _digest(canonical_json({"model_version": MODEL_VERSION, **sweep.contents}))


def _digest(text: str) -> str:
    return blake2b(text.encode(), digest_size=16).hexdigest()
