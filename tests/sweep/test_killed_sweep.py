"""Sweeps that are killed or interrupted, each sweep in a process of its own."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Callable
from pathlib import Path

from test_run_sweep import same_tables
from toy_sweep import REPEAT, WAIT_S, stalled, sweep_toy, toy_sweep, wait_until

from numasim.sweep.store.results_store import SHARDS
from numasim.sweep.store.results_tables import RESULTS

Start = Callable[..., subprocess.Popen[str]]


def shards(directory: Path) -> int:
    return len(list((directory / SHARDS).glob("[0-9]*.parquet")))


def end_by(number: int, process: subprocess.Popen[str]) -> str:
    """Send a signal, wait for the end, and return the text on stderr.

    An interrupt reaches the workers too, like an interrupt from a terminal. A kill reaches only the sweep.
    """
    send = os.killpg if number == signal.SIGINT else os.kill
    send(process.pid, number)
    _, text = process.communicate(timeout=WAIT_S)
    assert process.returncode == -number
    return text


def alive(process: int) -> bool:
    try:
        return ") Z " not in Path(f"/proc/{process}/stat").read_text()
    except OSError:
        return False


def children_of(process: subprocess.Popen[str]) -> list[int]:
    return [int(child) for child in Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()]


def test_three_kills_and_a_resume_end_with_the_same_bytes(
    tmp_path: Path, undisturbed: Path, start_sweep: Start
) -> None:
    # Each sweep gets further than the last.
    stalls = ("stall_at_two_workers", "stall_at_three_workers", "stall_at_strategy_b")
    for jobs, runner in enumerate(stalls, start=1):
        before = shards(tmp_path)
        process = start_sweep(tmp_path, jobs, runner, REPEAT)
        wait_until(lambda seen=before: shards(tmp_path) > seen, process)  # type: ignore[misc]
        workers = children_of(process)
        assert len(workers) >= jobs - 1
        end_by(signal.SIGKILL, process)
        wait_until(lambda gone=workers: not any(map(alive, gone)))  # type: ignore[misc]
        assert not (tmp_path / RESULTS).exists()
    outcome = sweep_toy(toy_sweep(repeat=REPEAT), tmp_path, jobs=1)
    assert 0 < outcome.executed < outcome.rows
    assert same_tables(tmp_path, undisturbed)


def test_an_interrupt_leaves_no_process_and_no_temporary_and_can_be_resumed(
    tmp_path: Path, undisturbed: Path, start_sweep: Start, started_in: Path
) -> None:
    process = start_sweep(tmp_path, 2, "stall_at_three_workers", REPEAT)
    wait_until(lambda: shards(tmp_path) > 0 and len(stalled(started_in)) == 2, process)
    children = children_of(process)
    text = end_by(signal.SIGINT, process)
    assert text.count("KeyboardInterrupt") == 1  # the workers print nothing
    wait_until(lambda: not any(map(alive, children)))
    assert not list(tmp_path.rglob(".tmp-*"))
    assert sweep_toy(toy_sweep(repeat=REPEAT), tmp_path).executed < 6 * REPEAT
    assert same_tables(tmp_path, undisturbed)


def test_two_sweeps_at_once_are_one_too_many(tmp_path: Path, start_sweep: Start) -> None:
    first = start_sweep(tmp_path, 1, "stall_at_three_workers", REPEAT)
    wait_until(lambda: shards(tmp_path) > 0, first)
    second = start_sweep(tmp_path, 1, "stall_at_three_workers", REPEAT)
    _, text = second.communicate(timeout=WAIT_S)
    assert text.strip().endswith(
        "another command is writing here; expected another folder, or to wait until that command has ended"
    )
    assert first.poll() is None
    end_by(signal.SIGKILL, first)
