"""The sentences that a page begins with, in which names of scores stand for their values; and the roles, counted."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from numasim.reproduce.pages.number_text import score_number
from numasim.reproduce.score.score_places import PLACE, VALUE, places
from numasim.reproduce.table_cells import ReadingRole, Role, Score, Table


def filled(sentences: Iterable[str], scores: Sequence[Score]) -> tuple[str, ...]:
    """The sentences with numbers; one that names a score which was not computed is left out."""
    by_name = {score.name: score for score in scores}
    known = [each for each in sentences if all(name in by_name for name, _ in places(each))]
    return tuple(PLACE.sub(lambda place: _number(by_name[place[1]], place[2] or VALUE), each) for each in known)


def _number(score: Score, part: str) -> str:
    return score_number(score, getattr(score, part))


def counted(number: int, one: str, many: str) -> str:
    """Write a number of things."""
    return f"{number:,} {one if number == 1 else many}"


def role_counts(
    tables: Sequence[Table], readings: Collection[ReadingRole], fitted: int, refused: int
) -> tuple[str, ...]:
    """Write how many choices have each role: ``readings`` has the role of each of them."""
    cells = {role: sum(cell.role is role for table in tables for cell in table.cells) for role in Role}
    read = {role: counted(sum(each is role for each in readings), "reading", "readings") for role in ReadingRole}
    return (
        f"input: {counted(cells[Role.INPUT], 'published value', 'published values')}, and "
        f"{read[ReadingRole.INPUT]} that the text decides",
        f"assumed where the text does not say: {read[ReadingRole.ASSUMED]}",
        f"fitted: {counted(fitted, 'parameter', 'parameters')}, to "
        f"{counted(cells[Role.FITTED], 'published value', 'published values')}; "
        f"{counted(refused, 'more was', 'more were')} refused",
        f"chosen with scored figures in view: {read[ReadingRole.CHOSEN]}",
        f"predicted: {counted(cells[Role.PREDICTED], 'published value', 'published values')}",
    )
