from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import numasim
from numasim.sweep.pool import InProcess, processes, same_imports


def interrupted_by_terminal() -> str:
    os.kill(os.getpid(), signal.SIGINT)
    return "still here"


def interrupts_blocked() -> bool:
    return signal.SIGINT in signal.pthread_sigmask(signal.SIG_BLOCK, ())


def main_module() -> str | None:
    return getattr(sys.modules["__main__"], "__file__", None)


def test_a_worker_leaves_an_interrupt_to_its_parent_and_knows_nothing_of_its_main_module(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(sys.modules["__main__"], "__file__", __file__, raising=False)
    with processes(1) as executor:
        assert executor.submit(interrupts_blocked).result()  # since before the worker's first import
        assert executor.submit(interrupted_by_terminal).result() == "still here"
        assert executor.submit(main_module).result() is None
    assert main_module() == __file__
    assert not interrupts_blocked()


def test_in_process_an_error_waits_in_the_future_and_an_interrupt_does_not() -> None:
    executor = InProcess()
    assert executor.submit(divmod, 7, 2).result() == (3, 1)
    with pytest.raises(ZeroDivisionError):
        executor.submit(divmod, 1, 0).result()
    with pytest.raises(KeyboardInterrupt):
        executor.submit(interrupt)


def interrupt() -> None:
    raise KeyboardInterrupt


def test_sources_in_the_working_directory_do_not_hide_the_package(tmp_path: Path) -> None:
    decoy = tmp_path / "numasim"
    decoy.mkdir()
    (decoy / "__init__.py").write_text("raise ImportError('the decoy')\n")
    program = "import numasim, sys; sys.stdout.write(numasim.__file__)"
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, cwd=tmp_path, env=same_imports(), capture_output=True, text=True, check=True)
    assert Path(done.stdout) == Path(numasim.__file__)
