"""Standard task graphs (STG) of Kasahara's laboratory.

The first number of a file is the number of tasks. In most files it does not count the first and the last task, which
take no time. Some files have a number of processors behind the number of tasks. Then each task has a line: its number,
its time, the number of its predecessors, and the predecessors. Remarks begin with ``#``. Times have no unit. Source: T.
Tobita and H. Kasahara, J. Sched. 5 (2002) 379-394.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from numasim.workload.imports.read_graph import ReadGraph

FORMAT = "standard task graph"
MOST_DIGITS = 9
UNIT_MEANS = "the time unit of its tasks"


def looks_like_stg(text: str) -> bool:
    """Return whether the first line has one or two whole numbers, and the next line begins as a task."""
    lines = _lines(text)
    first = next(lines, (0, []))[1]
    second = next(lines, (0, []))[1]
    return len(first) in (1, 2) and all(map(_is_number, first)) and (not second or all(map(_is_number, second[:2])))


def read_stg(text: str, path: str) -> ReadGraph:
    """Return the graph of the text of a file; raise InputError with the line for mistakes."""
    graph = ReadGraph(path, FORMAT, Path(path).stem, None, UNIT_MEANS, "which memory tasks access, nor their kernels")
    lines = _lines(text)
    line, head = next(lines)
    count = _whole(graph, head[0], line)
    graph.take(("numbers of tasks", "times", "predecessors"), {"numbers of tasks", "times", "predecessors"})
    graph.take(["number of processors"] * (len(head) - 1) + ["remarks"] * text.count("#"), ())
    waits: list[tuple[int, int, list[str]]] = []
    for line, words in lines:
        if len(words) < 3:
            expected = "a task's number, its time, and for how many it waits"
            graph.refuse(f"a line has {len(words)} numbers", expected, line)
        task = graph.add_task(str(_whole(graph, words[0], line)), words[1], line)
        number, sources = _whole(graph, words[2], line), words[3:]
        if number != len(sources):
            problem = f"the task {words[0]} waits for {number} tasks, and {len(sources)} are named"
            graph.refuse(problem, "as many as it says", line)
        waits.append((line, task, [str(_whole(graph, word, line)) for word in sources]))
    for line, task, sources in waits:
        for source in sources:
            graph.add_edge(graph.task(source, f"the task {graph.names[task]}", line), task, line)
    if waits and not count <= len(graph.names) <= count + 2:
        expected = f"{count:,} to {count + 2:,}, with one before and one behind them"
        graph.refuse(f"there are {len(graph.names):,} tasks, and the first number says {count:,}", expected, line)
    return graph.finish()


def _whole(graph: ReadGraph, word: str, line: int) -> int:
    if not word.isdecimal() or len(word) > MOST_DIGITS:
        problem = f"{word[:40]!r} is neither the number of a task nor how many there are"
        graph.refuse(problem, "a whole number below 10^9", line)
    return int(word)


def _is_number(word: str) -> bool:
    return word.lstrip("-").replace(".", "", 1).isdecimal()


def _lines(text: str) -> Iterator[tuple[int, list[str]]]:
    """Yield (number, words) of each line with words, without remarks."""
    for number, line in enumerate(text.split("\n"), 1):
        words = line.partition("#")[0].split()
        if words:
            yield number, words
