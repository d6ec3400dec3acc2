"""Run the plans of a list (`plan_list.py`) on every engine of one installed numasim, and print all counts.

    python verification/dump_runs.py LIST --first 0

The output has a line for each run, separated by tabs: the plan's number, the run's name, the number of counted values,
and these values as JSON with sorted keys. Equal runs have equal lines. A plan has one run on each engine, one run of
its task graph in the runtime's virtual time, and, if the list says so, one traced run on each engine. Deadlocks and
refusals are outcomes, too, printed as the error's name and the numbers in its text. A plan that needs more than a
minute ends the process.
"""

from __future__ import annotations

import argparse
import dataclasses
import faulthandler
import gzip
import hashlib
import json
import os
import re
import subprocess
import sys
import traceback
from collections.abc import Callable, Iterator, Mapping
from functools import cache, partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from installed import NotFoundError, build, engines, runtime_program, symbol
from plan_list import placed

Document = dict[str, Any]
Flat = dict[str, Any]

PATIENCE_S = 60
MEASURED = frozenset({"serial_ps"})  # outputs of numasim-runtime that are measured by a clock
EXPECTED_ERRORS = ("DeadlockError", "InputError")  # any other error is a defect of numasim or of this program
FAILURE = "failure"
REFUSED = 2  # exit status of numasim-runtime
LEFT_OUT = frozenset({"engine_s", "held", "over_time", "identity", "counters"})  # fields that are timed or redundant


# ---- values by name -------------------------------------------------------------------------------------------------


def flattened(value: Any, name: str) -> Iterator[tuple[str, Any]]:
    """Yield the name and the value (number, text or list) of every leaf of nested mappings and arrays."""
    if isinstance(value, Mapping):
        for key in value:
            yield from flattened(value[key], f"{name}.{key}")
    elif isinstance(value, np.ndarray | tuple | list):
        yield name, np.asarray(value).tolist()
    else:
        yield name, value.item() if isinstance(value, np.generic) else value


def count_of(values: Any) -> int:
    """Return the number of single values."""
    return sum(map(count_of, values)) if isinstance(values, list) else 1


def columns_of(result: Any) -> Flat:
    """Return the row of the results table, and the tables of workers, of pairs of nodes and of shared objects."""
    found: Flat = dict(flattened(result.row(), "row"))
    for field in dataclasses.fields(result):
        if field.name not in LEFT_OUT:
            found |= flattened(getattr(result, field.name), field.name)
    return found


# ---- runs -----------------------------------------------------------------------------------------------------------


@cache
def resolver() -> Callable[[Document], Any]:
    """Return the function that makes a specification from a mapping. The function reads shipped files only once, if the
    installation supports this.
    """
    try:
        run = symbol("Resolver", "spec.run")().run
        from_python, place, source = (symbol(name, "spec.nodes") for name in ("from_python", "Place", "Source"))
    except NotFoundError:
        return symbol("resolve", "spec.run")  # type: ignore[no-any-return]
    here = place(source("", Path()))
    return lambda mapping: run(from_python(mapping, here), ())


def runs(plan: Document) -> Iterator[tuple[str, Flat]]:
    """Yield the name and the counts of every run of ``plan``. Files are written to the working directory."""
    if plan.get("modules") not in (None, *sys.path):
        sys.path.append(plan["modules"])
    spec = resolver()(placed(plan, Path()))
    for engine in engines():
        yield engine, outcome(partial(run_on, engine, spec))
    if runtime_program():
        yield "virtual time", outcome(partial(in_virtual_time, spec))
    for engine in engines() if plan.get("watched") else ():
        yield f"{engine}, traced", outcome(partial(traced, engine, spec))


def outcome(run: Callable[[], Flat]) -> Flat:
    """Return the counts of ``run``, or the error that ends the run."""
    try:
        return run()
    except Exception as error:
        name = type(error).__name__
        if name not in EXPECTED_ERRORS:
            return {FAILURE: traceback.format_exc()}
        return {"error": name, "numbers": numbers_in(str(error))}


def numbers_in(sentence: str) -> list[int]:
    """Return the numbers in a sentence. Its words may change between versions, and do not count."""
    return [int(digits) for digits in re.findall(r"[0-9]+", sentence)]


def run_on(engine: str, spec: Any) -> Flat:
    """Return the columns of a run."""
    return columns_of(symbol("run_spec", "api")(spec, engine))


def traced(engine: str, spec: Any) -> Flat:
    """Return the columns of a traced run, and the lines and the digest of the trace's contents."""
    path = Path("trace.json.gz")
    found = columns_of(symbol("run_spec", "api")(spec, engine, trace=path))
    text = gzip.decompress(path.read_bytes())
    return {**found, "trace.lines": text.count(b"\n"), "trace.digest": hashlib.sha256(text).hexdigest()}


def in_virtual_time(spec: Any) -> Flat:
    """Run the task graph of the plan by the runtime's program. Return the counts."""
    path = Path("plan")
    build(spec, symbol("repeat_seed", "draws")(spec.seed, 0)).write(path)
    done = subprocess.run(
        [str(runtime_program()), "plan", str(path)], capture_output=True, text=True, check=False, timeout=PATIENCE_S
    )
    if done.returncode == REFUSED:
        return {"error": "refused", "numbers": numbers_in(done.stderr)}
    if done.returncode:
        return {FAILURE: f"exit status {done.returncode}: {done.stderr}"}
    counted = {name: value for name, value in json.loads(done.stdout).items() if name not in MEASURED}
    return dict(flattened(counted, "virtual"))


# ---- output ---------------------------------------------------------------------------------------------------------


def main() -> None:
    """Run the plans that the command line names."""
    parser = argparse.ArgumentParser(description="Run a list of plans and print everything that is counted.")
    parser.add_argument("list", type=Path)
    parser.add_argument("--first", type=int, default=0, help="the number of the plan to begin with")
    given = parser.parse_args()
    lines = given.list.read_text(encoding="utf-8").splitlines()
    with TemporaryDirectory() as folder:
        os.chdir(folder)
        for number, line in enumerate(lines[given.first :], given.first):
            faulthandler.dump_traceback_later(PATIENCE_S, exit=True)
            for name, found in runs(json.loads(line)):
                text = json.dumps(found, sort_keys=True, separators=(",", ":"))
                print(number, name, sum(map(count_of, found.values())), text, sep="\t")
            print(number, "", 0, "{}", sep="\t", flush=True)  # marks the end of the plan
    faulthandler.cancel_dump_traceback_later()


if __name__ == "__main__":
    main()
