"""Compare every engine with the reference engine on many random plans. Every difference is a defect.

    python verification/long_equality.py --plans 10000
    python verification/long_equality.py --plans 10000 --first 7500
    python verification/long_equality.py --plans 10000 --with "attempts, followers, ragged ranges"
    python verification/long_equality.py --cells

A plan is the input of a run without the seed. Plan number k of a seed is always the same, whatever the number of plans
and processes. ``--only K`` runs plan K alone. With ``--with A,B`` plan k is drawn again until it has feature A or
feature B of `tests/engine/plan_features.py`. ``--cells`` takes, instead of random plans, every workload family under
every shipped strategy on every shipped machine. A process that dies, or needs more than a minute of processor time for
one plan, counts as a difference. At the end come tables with the number of plans that have each feature. Exit status 0
if the engines agree on all plans, else 1.
"""

from __future__ import annotations

import argparse
import signal
import sys
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from multiprocessing import get_context
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests" / "engine"))

from equality import OTHERS, Verdict, judge  # isort: skip
from plan_features import NAMES, features_of  # isort: skip
from random_recipes import RandomRun, numbered_run  # isort: skip
from registry_cells import SMALL, every_cell, run_of_cell  # isort: skip

PATIENCE_S = 60
REPORT_EVERY_S = 10
WORKERS = get_context("spawn")
CELLS = list(every_cell())


@dataclass(frozen=True)
class Source:
    """The source of plans: random plans of a ``seed``, or, if it is None, every family under every strategy on every
    machine. With ``wanted``, each random plan has at least one of these features.
    """

    seed: int | None
    wanted: tuple[str, ...] = ()

    def plan(self, number: int) -> RandomRun:
        """Return plan ``number``."""
        if self.seed is not None:
            return numbered_run(self.seed, number, self._fits)
        cell, run = CELLS[number], run_of_cell(CELLS[number])
        recipe = {**cell._asdict(), "workload": {"name": cell.family, **SMALL[cell.family]}, "seed": run.seed}
        return RandomRun(run.plan, run.seed, recipe)

    def _fits(self, run: RandomRun) -> bool:
        return not self.wanted or not {*self.wanted}.isdisjoint(features_of(run))

    def __str__(self) -> str:
        """Return the options that choose this source."""
        if self.seed is None:
            return "--cells"
        return f"--seed {self.seed}" + (f' --with "{", ".join(self.wanted)}"' if self.wanted else "")


def serve(pipe: Connection, source: Source, numbers: range) -> None:
    """Judge plans and send a verdict for each."""
    for number in numbers:
        signal.setitimer(signal.ITIMER_PROF, PATIENCE_S)  # a signal ends this process, even in the middle of a plan
        pipe.send((number, judge(source.plan(number))))
    pipe.close()


@dataclass
class Share:
    """The plans that one process judges, in order. If a plan kills the process, another goes on with the next plan."""

    source: Source
    numbers: range
    process: BaseProcess = field(init=False)
    pipe: Connection = field(init=False)

    def __post_init__(self) -> None:
        self._start()

    def _start(self) -> None:
        self.pipe, sending = WORKERS.Pipe(duplex=False)
        self.process = WORKERS.Process(target=serve, args=(sending, self.source, self.numbers), daemon=True)
        self.process.start()
        sending.close()

    def receive(self) -> tuple[int, Verdict]:
        """Return the verdict on the next plan, even if the plan has ended its process."""
        try:
            answer: tuple[int, Verdict] = self.pipe.recv()
        except EOFError:
            self.process.join()
            return self._leave_out(_fate(self.process.exitcode))
        self.numbers = self.numbers[1:]
        return answer

    def _leave_out(self, reason: str) -> tuple[int, Verdict]:
        """Return the verdict on a plan that has ended its process. A new process continues after the plan."""
        number, self.numbers = self.numbers[0], self.numbers[1:]
        if self.numbers:
            self._start()
        return number, Verdict(("mode: died",), reason)


def _fate(status: int | None) -> str:
    if status == -signal.SIGPROF:
        return f"it takes more than {PATIENCE_S} s of processor time"
    return f"the process died with exit status {status}"


def verdicts(source: Source, numbers: range, jobs: int) -> Iterator[tuple[int, Verdict]]:
    """Yield the number and the verdict of every plan, as soon as the verdict is known."""
    shares = [Share(source, numbers[first::jobs]) for first in range(min(jobs, len(numbers)))]
    while shares:
        ready = wait([share.pipe for share in shares])
        for share in shares:
            if share.pipe in ready:
                yield share.receive()
        shares = [share for share in shares if share.numbers]


@dataclass
class Tally:
    """The verdicts so far, counted."""

    plans: int
    labels: Counter[str] = field(default_factory=Counter)
    done: int = 0
    problems: int = 0
    begun_s: float = field(default_factory=time.monotonic)
    said_s: float = 0.0

    def add(self, verdict: Verdict) -> None:
        """Count one plan."""
        self.done += 1
        self.problems += verdict.problem is not None
        self.labels.update(verdict.labels)

    def progress(self) -> None:
        """Print the progress every few seconds."""
        past_s = time.monotonic() - self.begun_s
        if past_s - self.said_s >= REPORT_EVERY_S:
            self.said_s = past_s
            rate = self.done / past_s
            print(f"{self.done:,} of {self.plans:,} plans, {rate:.0f} a second, {self.problems} problems", flush=True)

    def summary(self) -> str:
        """Return tables of the features of plans and of how the plans ended, and the result."""
        words = {f"with: {name}" for name in NAMES}
        lines = [f"{self.labels[label]:8,}  {label}" for label in sorted({*self.labels} | words)]
        never = [word for word in sorted(words) if not self.labels[word]]
        lines.append(f"\n{len(words) - len(never)} of {len(words)} features occur{': not ' if never else ''}")
        lines[-1] += ", ".join(word.removeprefix("with: ") for word in never)
        engines = ", ".join(OTHERS) or "no other engine is built"
        return "\n".join([*lines, f"{self.done:,} plans on reference, {engines}: {self.problems} problems"])


def feature_names(text: str) -> tuple[str, ...]:
    """Return the names of features, which are between commas."""
    names = tuple(name.strip() for name in text.split(","))
    for name in names:
        if name not in NAMES:
            raise argparse.ArgumentTypeError(f"there is no feature {name!r}; expected some of {', '.join(NAMES)}")
    return names


def arguments() -> argparse.Namespace:
    """Return the options of the command line."""
    parser = argparse.ArgumentParser(description="Hold every engine against the reference engine on random plans.")
    parser.add_argument("--plans", type=int, default=10_000)
    parser.add_argument("--first", type=int, default=0, metavar="K", help="leave out the plans before plan K")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument(
        "--with",
        type=feature_names,
        default=(),
        dest="wanted",
        metavar="A,B",
        help="plans that have one of these features",
    )
    parser.add_argument("--cells", action="store_true", help="the cells of the registries instead of random plans")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--only", type=int, metavar="K", help="show and judge plan K alone")
    return parser.parse_args()


def main() -> int:
    """Judge the plans that the command line asks for."""
    given = arguments()
    source, plans = (Source(None), len(CELLS)) if given.cells else (Source(given.seed, given.wanted), given.plans)
    if given.only is not None:
        run = source.plan(given.only)
        verdict = judge(run)
        print(run, *verdict.labels, verdict.problem or "no problem", sep="\n")
        return verdict.problem is not None
    numbers = range(given.first, plans)
    tally = Tally(len(numbers))
    for number, verdict in verdicts(source, numbers, given.jobs):
        tally.add(verdict)
        tally.progress()
        if verdict.problem:
            print(f"plan {number}: {verdict.problem}")
            print(f"again: python {sys.argv[0]} {source} --only {number}", flush=True)
    print(tally.summary())
    return tally.problems > 0 or tally.done < len(numbers)


if __name__ == "__main__":
    sys.exit(main())
