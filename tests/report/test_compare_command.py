"""`numasim compare` prints the answers of `compare`, as text and as JSON; for a mistake, one sentence."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hand_made import busy, cell, table

from numasim.cli import OK, main


@pytest.fixture
def results(tmp_path: Path) -> str:
    waits = [(None, (100, 100)), (0.5, (150, 152))]
    frame = table(*(cell(busy(*works), **{"model.task_noise": noise}) for noise, works in waits))
    pq.write_table(pa.Table.from_pandas(frame, preserve_index=False), tmp_path / "results.parquet")
    return str(tmp_path)


def test_text(results, capsys):
    assert main(["compare", results]) == OK
    said = capsys.readouterr().out
    assert said.startswith(
        "model.task_noise=0.5 is not surely faster or slower than null on fib with 2 workers: +51.0 %"
    )
    assert "of 2 pairs: at least 6 are needed to be sure" in " ".join(said.split())


def test_json(results, capsys):
    assert main(["compare", results, "--axis", "model.task_noise", "--baseline", "0.5", "--json"]) == OK
    found = json.loads(capsys.readouterr().out)
    assert (found["axis"], found["baseline"], found["column"]) == ("model.task_noise", "0.5", "makespan_ps")
    (row,) = found["rows"]
    assert (row["model.task_noise"], row["pairs"], row["difference"], row["workers"]) == (None, 2, -25.5, 2)
    assert found["sentences"][0].startswith("model.task_noise=null is not surely faster or slower than 0.5 on fib")
