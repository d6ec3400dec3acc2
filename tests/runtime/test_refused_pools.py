"""What a program of the C library is left with where it asks for a pool that cannot be made."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from compiling import ADDRESSES, compile_program
from runtime_sources import HERE, library_sources

FILE, FORMAT, OPTION = -2, -3, -8  # error codes of numasim/runtime.h
MODES = 4


@pytest.fixture(scope="module")
def refused_pools(c_compiler: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    files = [HERE / "refused" / "refused_pools.c", *library_sources()]
    return compile_program(c_compiler, tmp_path_factory.mktemp("refused") / "refused_pools", files, ADDRESSES)


def test_a_pool_that_cannot_be_made_leaves_nothing_to_trip_over(refused_pools: Path, tmp_path: Path) -> None:
    (tmp_path / "damaged").write_bytes(b"NSFIELD1 and nothing behind it")
    told = subprocess.run(
        [refused_pools, tmp_path / "missing", tmp_path / "damaged"], capture_output=True, text=True, check=False
    )
    assert (told.returncode, told.stderr) == (0, "")
    errors = [int(line.split(" ")[0]) for line in told.stdout.splitlines()]
    assert errors == [FILE, FORMAT] * MODES + [OPTION, OPTION]
