"""All processes of the tests import the numasim that pytest has found, whatever folder the processes start in."""

from __future__ import annotations

import gc
import importlib.util
import os
import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest
from compiling import install_library
from hypothesis import HealthCheck, settings
from shared_builds import built_once, open_folder
from tiers import LONG_SECONDS, TESTS, asked_for, is_slow, rank_of, tier_of

import numasim
from numasim.runtime.runtime_program import PROGRAM

PACKAGE = Path(numasim.__file__).parent
sys.path.insert(0, str(Path(__file__).parent / "engine"))  # tests of other folders use its makers of plans

# All property tests have this profile, so that no test depends on the speed of the machine or on random examples.
settings.register_profile(
    "numasim",
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much],
)
settings.load_profile("numasim")

SECONDS: Counter[str] = Counter()  # [module] seconds of the tests that are not slow


gc.disable()  # modules and tests that pytest imports stay in memory: garbage collection would only take time


def pytest_collection_finish() -> None:
    """Exempt all present objects from garbage collection. Enable garbage collection again, but make it rare: a plan
    makes many objects that live as long as the plan.
    """
    gc.freeze()
    gc.set_threshold(20_000)
    gc.enable()


def pytest_configure(config: pytest.Config) -> None:
    """Let new interpreters find the same numasim, even if their folder has another one."""
    paths = [str(PACKAGE.parent), os.environ.get("PYTHONPATH", "")]
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, paths))
    os.environ["PYTHONSAFEPATH"] = "1"
    # Compiled modules are kept, whatever the environment says: compiling the tests takes longer than collecting them,
    # and each started process would compile numasim again.
    sys.dont_write_bytecode = False
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    if folder := open_folder():
        config.add_cleanup(lambda: shutil.rmtree(folder))


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Return True for a module without a selected test, so that pytest does not import the module."""
    is_module = collection_path.name.startswith("test_") and collection_path.suffix == ".py"
    return True if is_module and not asked_for(collection_path, config.option.markexpr) else None


def pytest_itemcollected(item: pytest.Item) -> None:
    """Mark a test with the tier of its module, and a slow test as slow."""
    item.add_marker(tier_of(item.path))
    if is_slow(item.path, item.nodeid.partition("::")[2]):
        item.add_marker("slow")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Run the longest modules first."""
    items.sort(key=lambda item: rank_of(item.path))


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Add up the times of the tests of each module that are not slow."""
    if "slow" not in report.keywords:
        SECONDS[report.nodeid.partition("::")[0]] += report.duration


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print the modules whose tests take long but are not marked as slow. No test fails, because machines differ."""
    for module, seconds in SECONDS.most_common():
        if seconds > LONG_SECONDS:
            terminalreporter.write_line(
                f"{module}: {seconds:.0f} s for tests that are not slow; more than {LONG_SECONDS} s is long: "
                f"{TESTS.name}/tiers.py, SLOW, says what to do"
            )


def pytest_report_header() -> str:
    """Return the tested package and whether its native engine is built."""
    built = importlib.util.find_spec("numasim.engine.native._engine") is not None
    return f"numasim: {PACKAGE}, native engine {'built' if built else 'NOT built'}"


@pytest.fixture(scope="session")
def compiler() -> str:
    """Return a C++ compiler. Skip the test if there is no compiler."""
    found = next(filter(None, map(shutil.which, ("c++", "g++", "clang++"))), None)
    if found is None:
        pytest.skip("no C++ compiler here: only the reference engine can be built and tested")
    return found


@pytest.fixture(scope="session")
def c_compiler() -> str:
    """Return a C compiler. Skip the test if there is no compiler."""
    found = next(filter(None, map(shutil.which, ("cc", "gcc", "clang"))), None)
    if found is None:
        pytest.skip("no C compiler here: the task runtime can neither be built nor tested")
    return found


@pytest.fixture(scope="session")
def prefix(c_compiler: str) -> Path:
    """Return a folder with the C library, built and installed as by users, without counters."""
    return built_once("installed", lambda folder: install_library(folder, c_compiler))


@pytest.fixture(scope="session")
def measured(program: Path) -> Path:
    """Return a file with the output of `numasim-runtime probe --quick`, measured once for all tests."""

    def measure(file: Path) -> None:
        with file.open("w") as printed:
            subprocess.run([program, "probe", "--quick"], stdout=printed, check=True)

    return built_once("measured.json", measure)


@pytest.fixture(scope="session")
def program(request: pytest.FixtureRequest) -> Path:
    """Return ``numasim-runtime`` of the tested numasim; the test fails if the program could be built and is missing."""
    if not PROGRAM.is_file():
        request.getfixturevalue("c_compiler")
        pytest.fail(f"{PROGRAM} is not built: pip install . does it, or cmake with lib/runtime by itself")
    return PROGRAM
