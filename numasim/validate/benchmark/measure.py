"""All measurements in one run: samples of everything that is timed are taken in turn."""

from __future__ import annotations

import os
import platform
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from numasim import __version__
from numasim.engine.simulate import DEFAULT_ENGINE, ENGINES
from numasim.sweep.progress import progress_bar
from numasim.validate.benchmark.benchmark_findings import Findings
from numasim.validate.benchmark.commands import command_probes
from numasim.validate.benchmark.comparisons import lace_comparisons, simgrid_comparisons, task_runtime_comparisons
from numasim.validate.benchmark.effort import Effort
from numasim.validate.benchmark.ratios import ratio_probes
from numasim.validate.benchmark.sampling import Probe, take
from numasim.validate.benchmark.simulation_rates import (
    bare_probe,
    effect_probes,
    family_memory,
    family_probes,
    family_ratios,
    rate_probes,
)
from numasim.validate.benchmark.sweep_costs import overhead_probe, sweep_comparisons

PROGRAMS = (simgrid_comparisons, lace_comparisons, task_runtime_comparisons)


def measure(effort: Effort | None = None, progress: bool = False) -> Findings:
    """Measure everything on every engine there is; ``progress`` shows a bar on a terminal's standard error."""
    effort = effort or Effort()
    with TemporaryDirectory() as folder:
        compared = [sweep_comparisons(effort), *(compare(effort, Path(folder)) for compare in PROGRAMS)]
        sections: dict[str, list[Probe[Any]]] = {
            "bare": [bare_probe(effort)],
            "overhead": [overhead_probe(effort)],
            "rates": rate_probes(effort),
            "effect_rates": effect_probes(effort),
            "family_times": family_probes(effort),
            "commands": command_probes(effort, Path(folder)),
            "ratios": [*ratio_probes(effort), *(probe for part in compared for probe in part.probes)],
        }
        found = _taken(sections, effort.samples, progress)
    (bare,), (overhead,) = found.pop("bare"), found.pop("overhead")
    return Findings(
        host=host(),
        samples=effort.samples,
        bare_timeouts_per_second=bare,
        family_ratios=tuple(family_ratios(found["family_times"])),
        family_memory=tuple(family_memory(effort)),
        sweep_overhead_ms=overhead,
        peak_memory_mb=peak_memory_mb(),
        not_compared=tuple(sentence for part in compared for sentence in part.missing),
        **found,
    )


def _taken(sections: dict[str, list[Probe[Any]]], samples: int, progress: bool) -> dict[str, tuple[Any, ...]]:
    probes = [probe for section in sections.values() for probe in section]
    with progress_bar(samples * len(probes), progress) as advance:
        findings = iter(take(probes, samples, advance))
    return {name: tuple(next(findings) for _ in section) for name, section in sections.items()}


def host() -> dict[str, str | int]:
    """The machine and the versions that were measured."""
    return {
        "numasim": __version__,
        "engines": ", ".join(ENGINES),
        "default_engine": DEFAULT_ENGINE,
        "python": platform.python_version(),
        "platform": platform.platform(),
        "processors": os.cpu_count() or 1,
    }


def peak_memory_mb() -> float:
    """The largest resident set of this process so far, in 10**6 bytes."""
    import resource

    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / 1e6
