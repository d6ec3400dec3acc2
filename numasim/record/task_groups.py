"""Taskgroups: where a wait for children says the same as the wait of a group for all descendants.

A group waits for the tasks that its task has made since its begin, and for all that these have made. A wait for
children is the same if no older child is unfinished, and if no task in the group leaves a descendant unfinished.
"""

from __future__ import annotations

from numasim.record.event_walk import RecordedTask, Step, Walked


def loose_tasks(walked: Walked) -> frozenset[int]:
    """The tasks that may end while a descendant of theirs is unfinished."""
    unjoined = {number for number, task in walked.tasks.items() if _leaves_children(walked, task)}
    found = set(unjoined)
    ascending = list(unjoined)
    while ascending:
        number = ascending.pop()
        parent = walked.tasks[number].parent
        if parent in walked.tasks and parent not in found and not _joined_by_group(walked, parent, number):
            found.add(parent)
            ascending.append(parent)
    return frozenset(found)


def needs_descendants(walked: Walked, task: RecordedTask, loose: frozenset[int]) -> bool:
    """Whether a group of ``task`` differs from a wait for its children."""
    unjoined: list[int] = []
    groups: list[int] = []
    for step in task.steps:
        match step[0]:
            case Step.SPAWN:
                if not walked.tasks[step[1]].in_place:
                    unjoined.append(step[1])
            case Step.WAIT | Step.BARRIER:
                unjoined.clear()
                groups = [0] * len(groups)
            case Step.GROUP_BEGIN:
                groups.append(len(unjoined))
            case Step.GROUP_WAIT:
                before = groups.pop()
                if before or any(child in loose for child in unjoined):
                    return True
                unjoined.clear()
    return False


def _leaves_children(walked: Walked, task: RecordedTask) -> bool:
    """Whether a child that ``task`` has made may be unfinished when it ends."""
    unjoined: list[int] = []
    groups: list[int] = []
    for step in task.steps:
        match step[0]:
            case Step.SPAWN:
                if not walked.tasks[step[1]].in_place:
                    unjoined.append(step[1])
            case Step.WAIT | Step.BARRIER:
                unjoined.clear()
            case Step.GROUP_BEGIN:
                groups.append(len(unjoined))
            case Step.GROUP_WAIT:
                del unjoined[groups.pop() :]
    return bool(unjoined)


def _joined_by_group(walked: Walked, parent: int, child: int) -> bool:
    """Whether ``parent`` makes ``child`` in a group, which waits for what the child leaves."""
    depth = 0
    for step in walked.tasks[parent].steps:
        match step[0]:
            case Step.GROUP_BEGIN:
                depth += 1
            case Step.GROUP_WAIT:
                depth -= 1
            case Step.SPAWN if step[1] == child:
                return depth > 0
    return False
