"""Whole commands: the time of ``numasim run`` from the start of its process to its end, and its peak memory."""

from __future__ import annotations

import json
import subprocess
import sys
from functools import partial
from pathlib import Path

from numasim.engine.simulate import ENGINES
from numasim.errors import CheckError
from numasim.files.writer import write_text
from numasim.sweep.pool import same_imports
from numasim.validate.benchmark import timed_command
from numasim.validate.benchmark.benchmark_findings import CommandCost
from numasim.validate.benchmark.effort import NATIVE, Command, Effort, spec_of
from numasim.validate.benchmark.sampling import Probe


def command_probes(effort: Effort, folder: Path) -> list[Probe[CommandCost]]:
    """A probe for every command; specifications are written to ``folder``.

    Without the native engine there are no probes: the reference engine would take minutes.
    """
    if NATIVE not in ENGINES:
        return []
    return [_probe(command, folder / f"{number}.yaml") for number, command in enumerate(effort.commands)]


def cost(arguments: list[str]) -> tuple[float, float]:
    """Seconds and peak memory in 10**6 bytes of ``numasim`` with ``arguments``. Raises CheckError where it fails."""
    command = [sys.executable, timed_command.__file__, sys.executable, "-m", "numasim", *arguments]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True, env=same_imports())
    found = json.loads(done.stdout)
    if found["status"]:
        raise CheckError(f"numasim {' '.join(arguments)} failed: {found['error'].strip()}")
    return found["seconds"], found["peak_mb"]


def _probe(command: Command, file: Path) -> Probe[CommandCost]:
    where = {"machine": command.machine, "strategy": command.strategy, "model": command.model}
    spec = spec_of(command.workload, command.workers, command.runtime, command.skip, **where)  # type: ignore[arg-type]
    write_text(file, json.dumps(spec))
    return Probe(
        partial(cost, ["run", str(file), "--engine", NATIVE, "--json"]),
        partial(CommandCost, command.name, NATIVE, most_s=command.most_s, most_mb=command.most_mb),
        command.samples,
    )
