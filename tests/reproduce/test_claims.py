"""Tables of claims: what holds is decided by hand, each claim by the runs of its variants."""

from __future__ import annotations

import math
from pathlib import Path

import pytest
from reproduce.small_study import write_study

from numasim.errors import InputError
from numasim.reproduce.kinds.claims import ClaimSpec
from numasim.reproduce.reproduce import reproduce
from numasim.reproduce.score.scores import class_scores
from numasim.reproduce.score.scoring import score_rules
from numasim.reproduce.study.study import read_study
from numasim.reproduce.table_cells import Cell

VALUES = {"a": 1.0, "b": 2.0, "c": 2.1}


@pytest.mark.parametrize(
    ("said", "holds", "by_chance"),
    [
        ({"least": "a", "most": ["b", "c"]}, True, 1 / 3),
        ({"least": ["b", "a"], "most": "c"}, True, 1 / 3),
        ({"least": ["a", "c"], "most": "b"}, False, 1 / 3),
        ({"least": "b", "most": "b"}, False, 1 / 2),  # equal is not less
        ({"least": "a", "most": "b", "times": 1.99}, True, 1 / 2),
        ({"least": "a", "most": "b", "times": 2}, False, 1 / 2),
        ({"alike": ["b", "c"], "within": 0.06}, True, None),
        ({"alike": ["b", "c"], "within": 0.04}, False, None),
        ({"of": ["a", "b"], "below": 2.05}, True, None),
        ({"of": ["a", "b"], "below": 2}, False, None),
    ],
)
def test_a_claim_holds_or_not(said: dict[str, object], holds: bool, by_chance: float | None) -> None:
    claim = ClaimSpec.model_validate({"quantity": "makespan_s", "row": "small", **said})
    assert (claim.holds(VALUES), claim.by_chance) == (holds, by_chance)


CLAIMS = """\
title: What is said
source: section 5
kind: claims
published: said.csv
program: trees
rows: claim
columns:
  holds: {quantity: holds, role: predicted, score: said}
with:
  claims:
    larger trees take longer: {quantity: makespan_s, row: small, of: [plain, domains], below: 1}
    the tasks are equally many: {quantity: tasks, row: small, alike: [plain, domains], within: 0}
    domains steal more elsewhere: {quantity: steal_success_remote, row: small, least: plain, most: domains}
"""


def study(folder: Path, table: str = CLAIMS) -> Path:
    write_study(folder, {"study.yaml": ("  times: {", "  said: {metric: claims-held}\n  times: {")})
    labels = ("larger trees take longer", "the tasks are equally many", "domains steal more elsewhere")
    (folder / "published" / "said.csv").write_text("claim,holds\n" + "".join(f"{label},1\n" for label in labels))
    (folder / "tables" / "said.yaml").write_text(table.replace("quantity: tasks", "quantity: serial_s"))
    return folder


def test_claims_are_scored_by_how_many_hold(tmp_path: Path) -> None:
    """Two of them cannot fail; the third is the only one that a random order could fulfil."""
    read = read_study(str(study(tmp_path / "study")), ["said"])
    (table,) = reproduce(read, tmp_path / "out", quick=True, jobs=1).tables
    cells: dict[str, Cell] = {cell.row: cell for cell in table.cells}
    assert cells["larger trees take longer"].mean == cells["the tasks are equally many"].mean == 1
    third = cells["domains steal more elsewhere"]
    assert (third.null, cells["the tasks are equally many"].null) == (1 / 2, None)
    assert third.note.startswith("successful steals from other nodes [count]: plain ")
    (score,) = class_scores([table], score_rules(read))
    assert math.isclose(score.value, (2 + third.mean) / 3)
    assert score.null == 1 / 2


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        ("below: 1", "within: 1", "of needs below"),
        ("least: plain, most: domains", "least: plain", "least needs most"),
        ("within: 0}", "below: 3}", "alike needs two variants"),
        ("of: [plain, domains], below: 1", "within: 1", "a claim has least and most"),
        ("least: plain", "least: plian", "plain"),
        ("row: small, of", "row: smal, of", "small"),
        ("steal_success_remote", "steal_success_remot", "steal_success_remote"),
        ("    larger trees take longer", "    taller trees take longer", "larger trees take longer"),
    ],
)
def test_mistakes_in_claims_are_named(tmp_path: Path, old: str, new: str, problem: str) -> None:
    assert old in CLAIMS
    with pytest.raises(InputError, match=problem):
        read_study(str(study(tmp_path / "study", CLAIMS.replace(old, new, 1))))
