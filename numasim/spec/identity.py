"""The identity of a run: a hash of the contents of all parts, without names, paths and comments.

A run's identity is a 128-bit BLAKE2b hash (RFC 7693) of canonical JSON: sorted keys, no spaces, normalised decimals.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from hashlib import blake2b
from typing import TYPE_CHECKING, Any

from numasim.parts.base import canonical_json
from numasim.spec.run_spec import RunSpec, workload_json, workload_name

if TYPE_CHECKING:
    from numasim.spec.sweep_spec import SweepSpec

MODEL_VERSION = 16  # incremented whenever the same specification gives other counters


def run_id(spec: RunSpec, seed_r: int) -> str:
    """Return the identity, 32 hex digits, of the run of ``spec`` with the seed ``seed_r`` of one repeat.

    Names and sources of the machine, strategy and runtime, ``skip``, ``repeat`` and the engine do not enter the hash.
    """
    before, after = _around_the_seed(spec)
    return _digest(f"{before}{seed_r}{after}{workload_json(spec.workload)}}}")


@lru_cache(maxsize=2)
def _around_the_seed(spec: RunSpec) -> tuple[str, str]:
    """Return the canonical JSON of ``spec`` in two texts: up to the seed, and from behind it to the workload."""
    before = (
        ("machine", spec.machine.contents_json),
        ("model", spec.model.json_without("skip")),
        ("model_version", str(MODEL_VERSION)),
        ("runtime", spec.runtime.contents_json),
        ("seed", ""),
    )
    after = (("strategy", spec.strategy.contents_json), ("workers", str(spec.workers)), ("workload", ""))
    return "{" + _members(before), "," + _members(after)


def _members(fields: Iterable[tuple[str, str]]) -> str:
    return ",".join(f'"{name}":{text}' for name, text in fields)


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


def spec_hash(sweep: SweepSpec) -> str:
    """Return a hash of the sweep without axes and repeats: sweeps of equal hashes may share a results directory."""
    return _digest(canonical_json({"model_version": MODEL_VERSION, **sweep.contents}))


def sweep_key(sweep: SweepSpec) -> str:
    """Return a hash of the sweep with its axes and cells: sweeps that differ only in repeats have equal hashes."""
    cells = [cell.axes for cell in sweep.cells]
    return _digest(canonical_json({"spec_hash": spec_hash(sweep), "axes": sweep.axes, "cells": cells}))


def _digest(text: str) -> str:
    return blake2b(text.encode(), digest_size=16).hexdigest()
