"""Check whether another installed numasim gives the same columns and both hashes for every plan of a list.

    python verification/same_as.py --other /path/venv/bin/python --other-sources /path/src --plans 6000 --jobs 2

The interpreter ``--other`` draws the list, as specifications, with the generators of ``--other-sources``. So both
installations get the same plans, and changes of this checkout do not change the list. Each plan runs on every engine
and in the runtime's virtual time (which refuses ranges of items); one plan in seven is traced as well. All columns,
both hashes included, the tables of workers, of pairs of nodes and of shared objects, and the traces are compared
exactly. ``--cache`` names a folder that keeps the counts of an installation, so that later comparisons run only the
changed installation. Exit status 1 if anything differs.
"""

from __future__ import annotations

import argparse
import gzip
import hashlib
import json
import os
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from itertools import zip_longest
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

HERE = Path(__file__).resolve().parent
LISTER, DUMPER = HERE / "plan_list.py", HERE / "dump_runs.py"
PROGRAMS = (HERE / "installed.py", LISTER, DUMPER)
PLANS_OF_PART = 500  # plans that one process runs and one file keeps
SHOWN_RUNS, SHOWN_OF_RUN = 20, 3  # at most so many differing runs are shown, with so many differences each
LONGEST = 60  # largest number of characters of a shown value
MOST_SAID = 2000  # largest number of characters of a dead process' last output
FAILURE, DIED = "failure", "died"
RENAMED = {  # beginnings of names in this installation -> beginnings of the same names in the other installation
    "per_worker": "workers",
    "sync_objects.object": "words.word",
    "sync_objects": "words",
}


class Side(NamedTuple):
    """An installed numasim: the interpreter that imports the package, and a digest of all files in the package."""

    label: str
    python: str
    package: str
    digest: str
    engines: tuple[str, ...]

    @property
    def environment(self) -> dict[str, str]:
        """Return the environment variables of this side's processes.

        PYTHONPATH is set for this checkout, so only the side `THIS` keeps it. No side keeps PYTHONSAFEPATH.
        """
        return _environment(self.label == THIS)


THIS, OTHER = "this", "other"
DESCRIBE = """
import hashlib, json, sys
sys.path.append(sys.argv[1])
from installed import PACKAGE, engines, runtime_program
digest = hashlib.sha256()
for path in sorted([*PACKAGE.rglob("*"), *(PACKAGE.parent / "configs").rglob("*.yaml")]):
    if path.is_file() and path.suffix not in (".pyc", ".c", ".cpp", ".h", ".hpp"):
        digest.update(str(path.relative_to(PACKAGE.parent)).encode() + path.read_bytes())
built = engines() + (("virtual time",) if runtime_program() else ())
print(json.dumps([str(PACKAGE), digest.hexdigest(), built]))
"""


def _environment(keeps_paths: bool) -> dict[str, str]:
    left_out = {"PYTHONSAFEPATH"} | (set() if keeps_paths else {"PYTHONPATH"})
    return {name: value for name, value in os.environ.items() if name not in left_out}


def side(label: str, python: str) -> Side:
    """Return the installation that the interpreter ``python`` imports."""
    command = [python, "-c", DESCRIBE, str(HERE)]
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=_environment(label == THIS), cwd="/")
    package, digest, built = json.loads(done.stdout)
    return Side(label, python, package, digest, tuple(built))


# ---- runs, by a part of the list ------------------------------------------------------------------------------------


class Run(NamedTuple):
    """A line of `dump_runs.py`."""

    plan: int
    name: str
    values: int
    text: str


def parts(lines: list[str]) -> list[list[str]]:
    """Return the plans in parts of `PLANS_OF_PART` plans."""
    return [lines[first : first + PLANS_OF_PART] for first in range(0, len(lines), PLANS_OF_PART)]


def dumped(of: Side, part: list[str], cache: Path) -> Path:
    """Return the file with the runs of ``part``. ``cache`` keeps the file."""
    path = cache / f"{_digest(of.digest, *part, *(program.read_text() for program in PROGRAMS))}.gz"
    if not path.is_file():
        with TemporaryDirectory(dir=cache) as folder:
            temporary = Path(folder) / "runs.gz"
            with gzip.open(temporary, "wt", encoding="utf-8", compresslevel=3) as file:
                file.writelines(_lines(of, part))
            temporary.replace(path)
    return path


def _digest(*texts: str) -> str:
    digest = hashlib.sha256()
    for text in texts:
        digest.update(text.encode() + b"\0")
    return digest.hexdigest()[:32]


def _lines(of: Side, part: list[str]) -> Iterator[str]:
    """Yield the output lines of the processes. If a plan ends its process, a new process continues after the plan."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "list"
        path.write_text("\n".join(part) + "\n", encoding="utf-8")
        first = 0
        while first < len(part):
            command = [of.python, str(DUMPER), str(path), "--first", str(first)]
            with (Path(folder) / "said").open("w+", encoding="utf-8") as said:
                process = subprocess.Popen(
                    command, stdout=subprocess.PIPE, stderr=said, text=True, env=of.environment, cwd=folder
                )
                with process:
                    assert process.stdout is not None
                    for line in process.stdout:
                        first += line.split("\t", 2)[1] == ""
                        yield line
                if first < len(part):
                    said.seek(0)
                    yield _death(first, f"exit status {process.returncode}: {said.read()[-MOST_SAID:]}")
                    first += 1


def _death(plan: int, reason: str) -> str:
    """Return the line of a plan that has ended its process."""
    return f"{plan}\t{DIED}\t1\t{json.dumps({FAILURE: reason})}\n"


def read(path: Path) -> Iterator[Run]:
    """Yield the runs of a file."""
    with gzip.open(path, "rt", encoding="utf-8") as file:
        for line in file:
            plan, name, values, text = line.rstrip("\n").split("\t", 3)
            if name:
                yield Run(int(plan), name, int(values), text)


# ---- comparison -----------------------------------------------------------------------------------------------------


@dataclass
class Group:
    """The runs of one kind of plans, counted."""

    plans: set[int] = field(default_factory=set)
    runs: int = 0
    values: int = 0
    errors: Counter[str] = field(default_factory=Counter)  # deadlocks and refusals that both sides share
    differences: int = 0

    def __str__(self) -> str:
        """Return the figures in one line."""
        ended = "".join(f", {count:,} of them {name}" for name, count in sorted(self.errors.items()))
        return (
            f"{len(self.plans):,} plans, {self.runs:,} runs{ended}, {self.values:,} values, "
            f"{self.differences:,} differences"
        )


@dataclass
class Comparison:
    """The comparison so far, by group of plans and name of runs."""

    groups: dict[tuple[str, str], Group] = field(default_factory=dict)
    shown: int = 0  # number of differing runs that were shown

    def add(self, first: int, plans: list[dict[str, Any]], this: Iterable[Run], other: Iterable[Run]) -> None:
        """Compare the runs of ``plans``. ``first`` is the number of the first of these plans in the whole list."""
        both: dict[tuple[int, str], list[Run | None]] = {}
        for at, runs in enumerate((this, other)):
            for run in runs:
                both.setdefault((run.plan, run.name), [None, None])[at] = run
        for (number, name), (mine, its) in both.items():
            plan = plans[number]
            group = self.groups.setdefault((plan["group"], name), Group())
            group.plans.add(first + number)
            group.runs += 1
            found = mine or its
            assert found is not None
            group.values += found.values
            if found.text.startswith('{"error"'):
                group.errors[_ending(found.text)] += 1
            sentences = list(differences(mine, its))
            if its and mine and name == "virtual time" and json.loads(its.text).get("error") == "refused":
                group.errors["refused by the other"] += 1  # an older version without caches and flows in virtual time
                sentences = []
            group.differences += len(sentences)
            self._show(f"plan {first + number}, {plan['name']}, {name}", sentences)

    def _show(self, run: str, sentences: list[str]) -> None:
        """Print the first differences of the first runs that differ."""
        self.shown += bool(sentences)
        if self.shown <= SHOWN_RUNS:
            for sentence in sentences[:SHOWN_OF_RUN]:
                print(f"DIFFERENCE {run}: {sentence}", flush=True)
            if len(sentences) > SHOWN_OF_RUN:
                print(f"    and {len(sentences) - SHOWN_OF_RUN} more of this run", flush=True)

    @property
    def differences(self) -> int:
        """Return the number of differences in all groups together."""
        return sum(group.differences for group in self.groups.values())

    def summary(self) -> str:
        """Return a line for each group, and a line for all groups together."""
        whole = Group()
        for group in self.groups.values():
            whole.plans |= group.plans
            whole.runs += group.runs
            whole.values += group.values
            whole.differences += group.differences
        lines = [f"{plans}; {runs}: {group}" for (plans, runs), group in sorted(self.groups.items())]
        return "\n".join([*lines, f"all: {whole}"])


def _ending(text: str) -> str:
    return {"DeadlockError": "deadlocks", "InputError": "refused"}.get(name := json.loads(text)["error"], str(name))


def differences(this: Run | None, other: Run | None) -> Iterator[str]:
    """Yield a sentence for each name whose values differ, and for each failure, even if both sides have the same
    failure.
    """
    if this is None or other is None:
        yield f"only {THIS if other is None else OTHER} has this run"
        return
    if this.text == other.text and not this.text.startswith(f'{{"{FAILURE}"'):
        return
    mine, its = (json.loads(run.text) for run in (this, other))
    mine = {renamed(name): value for name, value in mine.items()}
    for name in sorted(mine.keys() | its.keys()):
        if name == FAILURE or mine.get(name) != its.get(name):
            yield difference(name, mine.get(name), its.get(name))


def renamed(name: str) -> str:
    """Return the other installation's name for ``name``."""
    for here, there in RENAMED.items():
        if name.startswith(here):
            return there + name.removeprefix(here)
    return name


def difference(name: str, mine: Any, its: Any) -> str:
    """Return a sentence on a value that differs; for a table, with the place in the table."""
    place = ""
    while isinstance(mine, list) and isinstance(its, list) and len(mine) == len(its) and mine != its:
        at = next(i for i, (one, two) in enumerate(zip_longest(mine, its)) if one != two)
        place, mine, its = f"{place}[{at}]", mine[at], its[at]
    return f"{name}{place} is {_short(mine)} in {THIS}, {_short(its)} in {OTHER}"


def _short(value: Any) -> str:
    if isinstance(value, str) and "\n" in value:
        return value
    text = "missing" if value is None else json.dumps(value)
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}..."


# ---- the whole ------------------------------------------------------------------------------------------------------


def listed(drawn_by: Side, sources: Path, plans: int, seed: int, cache: Path) -> list[str]:
    """Return the lines of the list, which is kept in ``cache``."""
    generators = [*sorted((sources / "tests").rglob("random_*.py")), *sorted((sources / "configs").rglob("*.yaml"))]
    texts = [path.read_text() for path in (LISTER, *generators)]
    key = _digest(drawn_by.digest, str(plans), str(seed), *texts)
    path = cache / f"{key}.list"
    if not path.is_file():
        command = [drawn_by.python, str(LISTER), "--sources", str(sources), "--plans", str(plans), "--seed", str(seed)]
        done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True, env=drawn_by.environment, cwd="/")
        with TemporaryDirectory(dir=cache) as folder:
            temporary = Path(folder) / "list"
            temporary.write_text(done.stdout, encoding="utf-8")
            temporary.replace(path)
    return path.read_text(encoding="utf-8").splitlines()


def compare(this: Side, other: Side, lines: list[str], jobs: int, cache: Path) -> Comparison:
    """Run the list on both sides, ``jobs`` processes at a time, and compare part after part."""
    comparison, begun_s = Comparison(), time.monotonic()
    with ThreadPoolExecutor(jobs) as pool:
        pairs: list[tuple[list[str], list[Future[Path]]]] = [
            (part, [pool.submit(dumped, of, part, cache) for of in (other, this)]) for part in parts(lines)
        ]
        done = 0
        for part, (its, mine) in pairs:
            comparison.add(done, [json.loads(line) for line in part], read(mine.result()), read(its.result()))
            done += len(part)
            past_s = time.monotonic() - begun_s
            print(f"{done:,} of {len(lines):,} plans, {comparison.differences} differences, {past_s:.0f} s", flush=True)
    return comparison


def main() -> int:
    """Compare what the command line asks for."""
    parser = argparse.ArgumentParser(description="Compare the results of two installations of numasim, exactly.")
    parser.add_argument("--other", required=True, help="the interpreter that imports the other numasim")
    parser.add_argument(
        "--other-sources", type=Path, help="its checkout, whose tests draw the plans (default: this one)"
    )
    parser.add_argument("--this", default=sys.executable, help="the interpreter that imports this numasim")
    parser.add_argument("--plans", type=int, default=6000)
    parser.add_argument("--seed", type=int, default=1, help="of the random plans")
    parser.add_argument("--jobs", type=int, default=2, help="processes at a time")
    parser.add_argument("--cache", type=Path, help="where lists and counts are kept (default: nowhere)")
    given = parser.parse_args()
    this, other = side(THIS, given.this), side(OTHER, given.other)
    for each in (this, other):
        print(f"{each.label}: {each.package}, {each.digest[:12]}: {', '.join(each.engines)}")
    with TemporaryDirectory() as folder:
        cache = given.cache or Path(folder)
        cache.mkdir(parents=True, exist_ok=True)
        drawn_by, sources = (other, given.other_sources) if given.other_sources else (this, HERE.parent)
        lines = listed(drawn_by, sources.resolve(), given.plans, given.seed, cache.resolve())
        found = compare(this, other, lines, given.jobs, cache.resolve())
    print(found.summary())
    missing = [name for name in other.engines if name not in this.engines]
    if missing:
        print(f"not compared, since {THIS} does not have it: {', '.join(missing)}")
    return int(bool(found.differences or missing))


if __name__ == "__main__":
    sys.exit(main())
