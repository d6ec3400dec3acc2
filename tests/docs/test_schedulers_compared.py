"""The page that compares all schedulers says what its tables say, and the tables what is simulated."""

from __future__ import annotations

import importlib.util
import re
import sys
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

DOCS = Path(__file__).parents[2] / "docs"
TABLES = DOCS / "gallery" / "schedulers"
RUNS = pd.read_csv(TABLES / "runs.csv").set_index(["program", "machine", "scheduler"])
SECTIONS = re.split(r"^## ", (DOCS / "gallery" / "schedulers.md").read_text("utf-8"), flags=re.MULTILINE)[1:]


@pytest.fixture(scope="module")
def drawn() -> Any:
    spec = importlib.util.spec_from_file_location("draw_schedulers", DOCS / "pictures" / "draw_schedulers.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["draw_schedulers"] = module
    spec.loader.exec_module(module)
    return module


def test_the_tables_have_every_program_machine_and_scheduler(drawn: Any) -> None:
    wanted = [
        (program, machine, name)
        for program in drawn.PROGRAMS
        for machine in drawn.MACHINES
        for name in drawn.SCHEDULERS
    ]
    assert list(RUNS.index) == wanted, "python docs/pictures/draw_schedulers.py"


@pytest.mark.parametrize("scheduler", ["rayon", "lace"])
def test_a_run_gives_the_kept_times(drawn: Any, scheduler: str) -> None:
    found = drawn.run_one(("fib", "epyc-9654-2s", scheduler))
    assert found["makespan_ms"] == pytest.approx(RUNS.loc[("fib", "epyc-9654-2s", scheduler), "makespan_ms"], abs=6e-4)


def test_an_exchange_gives_the_kept_times(drawn: Any) -> None:
    one = drawn.EXCHANGES[0]
    after = [drawn.exchange((one, machine)) for machine in drawn.MACHINES]
    (row,) = pd.DataFrame([drawn.told(one, RUNS, after)]).to_dict("records")
    assert pd.read_csv(TABLES / "fib.csv").iloc[0].to_dict() == row


@pytest.mark.parametrize("section", SECTIONS, ids=lambda section: section.split("\n")[0])
def test_percentages_and_times_of_the_text_are_in_the_tables(section: str) -> None:
    files = re.findall(r":file: (\S+)", section)
    table = "\n".join((TABLES.parent / file).read_text("utf-8") for file in files)
    text = re.sub(r"```.*?```|`[^`]*`", "", section, flags=re.DOTALL)
    said = [group for found in re.finditer(r"([\d.]+)(?: to\s([\d.]+))?\s%", text) for group in found.groups() if group]
    assert {f"{number}%" for number in said} <= set(re.findall(r"\d+%", table))
    times = [group for found in re.finditer(r"([\d.]+)(?: to ([\d.]+)) ms", text) for group in found.groups()]
    assert {*times} <= set(re.findall(r"[\d.]+", table))
