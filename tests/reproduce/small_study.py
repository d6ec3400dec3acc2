"""The text of a made-up study (of a paper) with two small programs. Tests change the text; a reproduction takes 1 s."""

from __future__ import annotations

from pathlib import Path

STUDY = """\
from pathlib import Path

from numasim.reproduce.table_cells import Role
from numasim.reproduce.programs import Change, Fields, Program
from numasim.reproduce.setting import Side
from numasim.reproduce.study import Paper, ScoreRule, make_study, question
from numasim.reproduce.study_tables import (
    NOTHING, Claim, Claims, Column, Compared, Elsewhere, Peaks, Quotient, StudyTable, Totals,
)

HERE = Path(__file__).resolve().parent
CSV = HERE / "published"
READINGS = {}
TREES = Program(
    "trees",
    spec={"runtime": "ompi", "strategy": "randomized", "workers": "threads"},
    rows={"small": {"workload": {"name": "fib", "n": 6}}, "large": {"workload": {"name": "fib", "n": 9}}},
    variants={"plain": {"strategy": "randomized"}, "domains": {"strategy": "topology-aware"}},
    quick={"without": ["large"]},
)
GRID = Program(
    "grid",
    spec={"workload": {"name": "matmul", "n": 64}, "runtime": "own", "strategy": "randomized", "workers": 24},
    quick={"set": {"workload.n": 16}},
)
TIMES = {
    "plain_s": Column("makespan_s", "plain", role=Role.FITTED),
    "domains_s": Column("makespan_s", "domains", score="times", baseline="plain_s"),
}
ATTEMPTS = Column("steal_attempts", null_from=Elsewhere("1.3", "attempts"), fitted=("2",))
GAIN = Column("speedup", "domains", published=Quotient("plain_s", "domains_s"))
TABLES = [
    StudyTable("1.1", "Times", "section 1", CSV / "times.csv", "program", TIMES, "trees"),
    StudyTable("1.2", "Steals", "section 2", CSV / "steals.csv", "workers", {"attempts": ATTEMPTS}, "grid", "workers"),
    StudyTable("1.3", "Steals again", "section 2", CSV / "steals.csv", "workers",
               {"attempts": Column("steal_attempts")}, "grid", "workers"),
    StudyTable("figure-1", "Gains", "section 3", CSV / "times.csv", "program", {"gain": GAIN}, "trees"),
]
RULES = [ScoreRule("times", "mape", 0.15)]
MORE = {}
# here
STUDY = make_study(
    HERE, "xeon-e5-2620-2s", TABLES, (TREES, GRID),
    Paper("A small study", "nobody", {name: question(name, each) for name, each in READINGS.items()},
          inconsistencies=(("the first table contradicts itself", ("1.1",)),), notes={"1.1": ("read off a plot",)}),
    seed=3, repeat=2, rules=tuple(RULES), ablations={"caches": {"model.cache": "none"}}, **MORE,
)
"""
PUBLISHED = {
    "times.csv": "program,plain_s,domains_s\nsmall,4,2\nlarge,9,3\n",
    "steals.csv": "workers,attempts\n2,10\n24,300\n32,900\n",
}


def write_study(folder: Path, old: str = "", new: str = "", more: str = "", **published: str) -> Path:
    """Write the study to ``folder``; in its code ``new`` replaces ``old``, and ``more`` replaces the line ``# here``.

    ``published`` has the texts of CSV files by name; these files are added to those of the study, or replace them.
    """
    assert old in STUDY
    (folder / "published").mkdir(parents=True, exist_ok=True)
    (folder / "study.py").write_text(STUDY.replace(old, new, 1).replace("# here\n", more))
    for name, text in {**PUBLISHED, **{f"{name}.csv": text for name, text in published.items()}}.items():
        (folder / "published" / name).write_text(text)
    return folder
