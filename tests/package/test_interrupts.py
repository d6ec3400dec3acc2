"""An interrupt, or a request to terminate, ends a command with one line: which results are kept, how to continue."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from small_inputs import RUN, VALIDATION_PART

from numasim.cli import INTERRUPTED, OK, main
from numasim.engine.simulate import simulate_spec
from numasim.validate import cell_runs
from numasim.validate.cell_runs import validate_parts
from numasim.validate.part_files import part_of

SWEEP = RUN + "repeat: 3\nsweep: {workers: [2, 4]}\n"
PART = VALIDATION_PART.replace("[randomized]", "[randomized, ring]")
Capture = pytest.CaptureFixture[str]


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "spec.yaml").write_text(RUN)
    (tmp_path / "sweep.yaml").write_text(SWEEP)
    (tmp_path / "part.yaml").write_text(PART)
    return tmp_path


@pytest.fixture(autouse=True)
def heard() -> Iterator[None]:
    """Handle interrupts as in the foreground: a shell makes background jobs, and their children, ignore interrupts."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def interrupted_at(call: int, function: Callable[..., Any], number: int = signal.SIGINT) -> Callable[..., Any]:
    """Return ``function`` with a signal at its call number ``call``."""
    calls = 0

    def instead(*arguments: Any, **options: Any) -> Any:
        nonlocal calls
        calls += 1
        if calls == call:
            os.kill(os.getpid(), number)
        return function(*arguments, **options)

    return instead


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_sweep_says_how_many_runs_it_keeps_and_continues(
    number: int, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    command = ["sweep", "sweep.yaml", "-o", "out", "--jobs", "1", "--engine", "reference", "--quiet"]
    with monkeypatch.context() as patch:
        patch.setattr("numasim.engine.simulate.simulate_spec", interrupted_at(5, simulate_spec, number))
        assert main(command) == INTERRUPTED
    assert capsys.readouterr().err == (
        "numasim: interrupted: 4 of 6 runs are kept in out; the same command continues\n"
    )
    with monkeypatch.context() as patch:
        patch.setattr("numasim.engine.simulate.simulate_spec", interrupted_at(3, simulate_spec, number))
        assert main(command) == OK  # two runs were left
    assert Path("out/results.parquet").exists()


def test_a_run_says_that_it_begins_anew(monkeypatch: pytest.MonkeyPatch, capsys: Capture) -> None:
    monkeypatch.setattr("numasim.api.simulate_spec", interrupted_at(1, simulate_spec))
    assert main(["run", "spec.yaml", "--engine", "reference"]) == INTERRUPTED == 130  # 128 + SIGINT
    assert capsys.readouterr().err == "numasim: interrupted: the same command begins anew\n"


def test_a_validation_says_how_many_runs_it_keeps(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(_part: Any, _directory: Path, _jobs: int, advance: Callable[[int], None]) -> None:
        advance(1)
        raise KeyboardInterrupt

    monkeypatch.setattr(cell_runs, "_run", interrupted)
    with pytest.raises(KeyboardInterrupt) as caught:
        validate_parts([part_of("./part.yaml")], here / "out")
    assert caught.value.__notes__ == [f"1 of 2 runs are kept in {here / 'out'}; the same command continues"]


INTERRUPTED_IMPORT = """
import os, signal, sys
class Interrupt:
    def find_spec(self, name, path, target=None):
        if name == MODULE:
            os.kill(os.getpid(), signal.SIGINT)
sys.meta_path.insert(0, Interrupt())
from numasim.__main__ import main
sys.argv[1:] = ["run", "spec.yaml"]
sys.exit(main())
"""


@pytest.mark.parametrize("module", ["numasim.cli", "typer", "numasim.api", "numpy", "pydantic", "numasim.plan.plan"])
def test_an_interrupt_of_an_import_is_one_line(module: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", f"MODULE = {module!r}\n{INTERRUPTED_IMPORT}"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.stdout, done.stderr) == ("", "numasim: interrupted: the same command begins anew\n")
    assert done.returncode == INTERRUPTED


def test_the_status_is_the_same_where_an_interrupt_meets_code_in_a_text(tmp_path: Path) -> None:
    """The command ends with its usual status for interrupts; without precautions Python would end by the signal."""
    program = "import numasim.cli, numasim.__main__ as entrance, sys\n"
    program += "numasim.cli.main = lambda: exec('raise KeyboardInterrupt')\nsys.exit(entrance.main())"
    (tmp_path / "program.py").write_text(program)
    paths = [str(tmp_path), *filter(None, [os.environ.get("PYTHONPATH")])]
    done = subprocess.run(
        [sys.executable, "-m", "program"],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(paths)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.stderr, done.returncode) == ("numasim: interrupted: the same command begins anew\n", INTERRUPTED)


def test_the_command_and_the_module_begin_at_the_entrance_which_imports_nothing_before_it_can_be_interrupted() -> None:
    pyproject = tomllib.loads((Path(__file__).resolve().parents[2] / "pyproject.toml").read_text())
    assert pyproject["project"]["scripts"]["numasim"] == "numasim.__main__:main"
    program = "import sys; before = {*sys.modules}; import numasim.__main__; print(*sorted({*sys.modules} - before))"
    loaded = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout.split()
    assert [name for name in loaded if name.startswith("numasim")] == ["numasim", "numasim.__main__"]
    assert not {"typer", "pathlib", "threading", "typing"} & {*loaded}
