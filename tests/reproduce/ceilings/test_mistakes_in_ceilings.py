"""Mistakes in what a study says about ceilings: one line with file, line, what would be right and the nearest name."""

from __future__ import annotations

from pathlib import Path

import pytest
from small_study import write_study

from numasim.errors import InputError
from numasim.reproduce.study.study import read_study

LINE_TABLE = """\
title: A line
source: section 5
kind: regression
published: line.csv
program: grid
rows: statistic
with: {x: steal_attempts, y: makespan_s}
columns:
  printed: {quantity: statistic, role: predicted}
"""
VOLUMES = """\
title: Volumes
source: section 6
published: volumes.csv
program: trees
rows: program
columns:
  plain_gb: {variant: plain, quantity: remote_gb, role: predicted}
  domains_gb: {variant: domains, quantity: remote_gb, role: predicted}
"""
LATENCY = """\
title: Latency
source: section 7
kind: machine-latency
published: latency.csv
rows: [reader, home]
with: {reader: reader, home: home}
columns:
  latency_ns: {quantity: latency_ns, role: input}
"""
CEILINGS = """\
ceilings:
  twice:
    same:
      - [{table: "1.1", column: plain_s}, {table: "1.1", column: domains_s}]
  noise:
    of runs:
      scores: times
      regression: {table: "3.1", column: printed}
      regression_runs: 50
      at: {table: "1.2", column: attempts, row: "24"}
      runs: 10
      because: section 5
  digits:
    gains:
      over: {table: "1.1", column: plain_s}
      under: {table: "1.1", column: domains_s}
      decimals: 2
      because: section 1
  physics:
    bytes:
      volumes: [{table: "3.2", column: plain_gb}, {table: "3.2", column: domains_gb}]
      times: [{table: "1.1", column: plain_s}, {table: "1.1", column: domains_s}]
      latency: {table: "3.3", column: latency_ns, remote: ["0, 1"], local: ["0, 0"]}
      line: 64
      workers: 2
      because: section 6
"""
LINE_CSV = "statistic,printed\nslope,1\nintercept,100\nresidual_sum_of_squares,48\n"
FILES = {
    "tables/table-3-1.yaml": LINE_TABLE,
    "tables/table-3-2.yaml": VOLUMES,
    "tables/table-3-3.yaml": LATENCY,
    "published/line.csv": LINE_CSV,
    "published/volumes.csv": "program,plain_gb,domains_gb\nsmall,4,2\nlarge,9,3\n",
    "published/latency.csv": "reader,home,latency_ns\n0,0,75\n0,1,125\n",
}


def study_with(folder: Path, old: str = "", new: str = "", file: str = "study.yaml") -> Path:
    """The small study with a ceiling of each kind, in which ``old`` became ``new``."""
    write_study(folder)
    for name, text in FILES.items():
        (folder / name).write_text(text)
    with (folder / "study.yaml").open("a") as study:
        study.write(CEILINGS)
    path = folder / file
    text = path.read_text()
    assert old in text
    at = text.index(old, text.index("ceilings:")) if file == "study.yaml" else text.index(old)
    path.write_text(text[:at] + new + text[at + len(old) :])
    return folder


def line_of(folder: Path, text: str, file: str) -> int:
    lines = (folder / file).read_text().splitlines()
    begin = lines.index("ceilings:") if file == "study.yaml" else 0
    return next(number for number, line in enumerate(lines[begin:], begin + 1) if text.splitlines()[0] in line)


def test_ceilings_without_a_mistake_are_read(tmp_path: Path) -> None:
    assert read_study(str(study_with(tmp_path / "small"))).file.ceilings.noise["of runs"].scores == ("times",)


NAMES = [
    ("twice:", "twise:", ("no field 'twise'", "'twice'")),
    ('- [{table: "1.1"', '- [{table: "1.8"', ("no table '1.8'", "did you mean '1.")),
    ("column: domains_s}]", "column: domain_s}]", ("no column 'domain_s'", "'domains_s'")),
    ("scores: times", "scores: time", ("no score 'time'", "'times'")),
    ("scores: times", "scores: [times, tomes]", ("no score 'tomes'", "'times'")),
    ("column: printed", "column: prnted", ("no column 'prnted'", "'printed'")),
    ('row: "24"', 'row: "25"', ("no row '25'",)),
    ("regression_runs: 50", "regression_runs: 2", ("regression_runs", "at least 3")),
    ("runs: 10", "runs: 0", ("runs",)),
    ("      under:", "      uder:", ("no field 'uder'", "'under'")),
    ("column: plain_gb", "column: plane_gb", ("no column 'plane_gb'", "'plain_gb'")),
    ('remote: ["0, 1"]', 'remote: ["0, 2"]', ("no row '0, 2'", "'0, 1'")),
    ('local: ["0, 0"]', "local: []", ("local",)),
    ("line: 64", "line: 0", ("line",)),
    ("decimals: 2", "decimals: 2\n      computed: undr", ("'under'",)),
]  # fmt: skip
MEANINGS = [
    ('regression: {table: "3.1", column: printed}', 'regression: {table: "1.1", column: plain_s}',
     ("is of kind runs",)),
    ('under: {table: "1.1", column: domains_s}', 'under: {table: figure-1, column: gain}',
     ("no column with printed values 'gain'",)),
    ('under: {table: "1.1", column: domains_s}', 'under: {table: "1.2", column: attempts}', ("no row in common",)),
    ('volumes: [{table: "3.2", column: plain_gb}', 'volumes: [{table: "1.1", column: plain_s}',
     ("'plain_s' is in s", "one in GB")),
    ("[{table: \"1.1\", column: plain_s}, {table: \"1.1\", column: domains_s}]",
     '[{table: "1.1", column: plain_s}, {table: "1.2", column: attempts}]', ("no row in common",)),
]  # fmt: skip


@pytest.mark.parametrize(("old", "new", "says"), [*NAMES, *MEANINGS])
def test_a_mistake_is_named_with_its_line(old: str, new: str, says: tuple[str, ...], tmp_path: Path) -> None:
    folder = study_with(tmp_path / "small", old, new)
    with pytest.raises(InputError) as error:
        read_study(str(folder))
    text = str(error.value)
    assert all(part in text for part in says), text
    first = line_of(folder, new, "study.yaml")
    assert text.startswith(
        tuple(f"{folder}/study.yaml:{line}:" for line in range(first - 1, first + new.count("\n") + 1))
    )


@pytest.mark.parametrize(
    ("file", "old", "new", "says"),
    [
        ("published/line.csv", "squares,48", "squares,-48", "the sum of squares is negative"),
        ("published/line.csv", "intercept,100", "intercept,-1000", "the line is not above 0 there"),
        ("published/line.csv", "slope,1\n", "", "no statistic 'slope'"),
        ("published/times.csv", "large,9,3", "large,0,3", "more than half its last digit"),
        ("published/times.csv", "large,9,3", "large,9e300,3e-300", "a ratio between"),
    ],
)
def test_a_value_that_cannot_be_computed_with_is_refused(
    file: str, old: str, new: str, says: str, tmp_path: Path
) -> None:
    folder = study_with(tmp_path / "small", old, new, file)
    with pytest.raises(InputError, match=r"^[^ ]+: ") as error:
        read_study(str(folder))
    assert says in str(error.value)


def test_times_of_nothing_are_refused(tmp_path: Path) -> None:
    """Without the ceiling of digits, which refuses a zero before."""
    folder = study_with(tmp_path / "small", "large,9,3", "large,0,3", "published/times.csv")
    path = folder / "study.yaml"
    text = path.read_text()
    path.write_text(text[: text.index("  digits:")] + text[text.index("  physics:") :])
    with pytest.raises(InputError, match="the time of 'large' is 0; expected times above 0"):
        read_study(str(folder))
