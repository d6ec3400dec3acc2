"""Every place where a command reads a file that a user names: the command, and its other files."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from bad_input_type import GOOD_RUN, BadInput, Make, Text, nothing, text_at, together
from small_inputs import VALIDATION_PART
from small_study import write_study
from sysfs_trees import Tree

YAML, GRAPH, SYSFS = "a YAML file", "a task graph in JSON", "a file of sysfs"
XML = "a text file of a measuring program, or hwloc XML"
CSV, TABLE = "a CSV file", "a results directory; run its sweep again"


@dataclass(frozen=True)
class Place:
    """``command`` reads ``file``, which should be of the kind ``kind``, after ``make`` has made all other files."""

    name: str
    command: tuple[str, ...]
    file: str
    kind: str
    make: Make = nothing


def run_with(line: str) -> Make:
    """Return a function that makes a run in which ``line`` replaces a field."""
    field = line.partition(":")[0]
    kept = [each for each in GOOD_RUN.splitlines() if not each.startswith(field + ":")]
    return text_at("run.yaml", "\n".join([*kept, line]) + "\n")


def study(folder: Path) -> None:
    """Make a study that reproduces in a second."""
    write_study(folder / "study")


def sysfs(folder: Path) -> None:
    """Make a copy of a small machine's sysfs."""
    Tree(sockets=2).write(folder / "sys")


def part(folder: Path) -> None:
    """Make a part of the validation."""
    text_at("part.yaml", VALIDATION_PART)(folder)


IMPORT = ("machine", "import", "-o", "imported.yaml")
VALIDATE = ("validate", "./part.yaml", "-o", "out")
REPRODUCE = ("reproduce", "./study", "-o", "out")
SWEEP = ("sweep", "run.yaml", "--jobs", "1", "-o", "out")
COMPILE = ("strategy", "compile", "randomized", "-o", "out.plan")
ALL = [
    Place("run", ("run", "given.yaml"), "given.yaml", YAML),
    Place("sweep", ("sweep", "given.yaml", "-o", "out"), "given.yaml", YAML),
    Place("machine of a run", ("run", "run.yaml"), "given.yaml", YAML, run_with("machine: ./given.yaml")),
    Place("base of a machine", ("run", "run.yaml"), "given.yaml", YAML, run_with("machine: {like: ./given.yaml}")),
    Place("strategy of a run", ("run", "run.yaml"), "given.yaml", YAML, run_with("strategy: ./given.yaml")),
    Place("runtime of a run", ("run", "run.yaml"), "given.yaml", YAML, run_with("runtime: ./given.yaml")),
    Place("graph of a run", ("run", "run.yaml"), "given.json", GRAPH, run_with("workload: {file: given.json}")),
    Place("graph of a sweep", SWEEP, "given.json", GRAPH, run_with("workload: {file: given.json}")),
    Place("machine show", ("machine", "show", "./given.yaml"), "given.yaml", YAML),
    Place("machine check", ("machine", "check", "./given.yaml"), "given.yaml", YAML),
    Place("machine import", (*IMPORT, "given.xml"), "given.xml", XML),
    Place("sysfs, online", (*IMPORT, "--sysfs", "sys"), "sys/devices/system/cpu/online", SYSFS, sysfs),
    Place("sysfs, cpulist", (*IMPORT, "--sysfs", "sys"), "sys/devices/system/node/node1/cpulist", SYSFS, sysfs),
    Place("sysfs, meminfo", (*IMPORT, "--sysfs", "sys"), "sys/devices/system/node/node0/meminfo", SYSFS, sysfs),
    Place("workload show", ("workload", "show", "{file: given.json}"), "given.json", GRAPH),
    Place("workload import", ("workload", "import", "given.json"), "given.json", GRAPH),
    Place("workload export", ("workload", "export", "{file: given.json}", "copy.json"), "given.json", GRAPH),
    Place("strategy show", ("strategy", "show", "./given.yaml"), "given.yaml", YAML),
    Place("show for a machine", ("strategy", "show", "ring", "--machine", "./given.yaml"), "given.yaml", YAML),
    Place("show for a runtime", ("strategy", "show", "ring", "--runtime", "./given.yaml"), "given.yaml", YAML),
    Place("strategy compile", ("strategy", "compile", "./given.yaml", "-o", "out.plan"), "given.yaml", YAML),
    Place("compile for a machine", (*COMPILE, "--machine", "./given.yaml"), "given.yaml", YAML),
    Place("compile for a runtime", (*COMPILE, "--runtime", "./given.yaml"), "given.yaml", YAML),
    Place("compile for a graph", (*COMPILE, "--graph", "given.json"), "given.json", GRAPH),
    Place("plot", ("plot", "res"), "res/results.parquet", TABLE, lambda folder: (folder / "res").mkdir()),
    Place("published table", REPRODUCE, "study/published/times.csv", CSV, study),
    Place("machine of a study", (*REPRODUCE, "--machine", "./given.yaml"), "given.yaml", YAML, study),
    Place("part of a validation", ("validate", "./given.yaml", "-o", "out"), "given.yaml", YAML),
    Place("machine to validate", (*VALIDATE, "--machine", "./given.yaml"), "given.yaml", YAML, part),
    Place("runtime to validate", (*VALIDATE, "--runtime", "./given.yaml"), "given.yaml", YAML, part),
    Place(
        "provenance of a sweep",
        SWEEP,
        "out/provenance.json",
        "the file that a sweep wrote",
        together(text_at("run.yaml", GOOD_RUN), lambda folder: (folder / "out").mkdir()),
    ),
]
PLACES = {place.name: place for place in ALL}


def at(place: str, name: str, text: Text, *says: str) -> BadInput:
    """Return the bad input in which the file of ``place`` has the contents ``text``."""
    where = PLACES[place]
    return BadInput(f"{place}: {name}", where.command, together(where.make, text_at(where.file, text)), says)
