"""Who waits for whom because of files: a task that reads a file waits for those that write it."""

from __future__ import annotations

from numasim.workload.imports.read_graph import ReadFile, ReadGraph

MOST_PAIRS = 20_000_000


def file_edges(graph: ReadGraph) -> list[tuple[int, int]]:
    """(writer, reader) of every file; of tasks that both read and write one, the later in the file waits for the
    earlier, and so do several that write the same file.
    """
    if not graph.files_order:
        return []
    pairs = sum(len(each.writers) * len(each.readers) for each in graph.files.values())
    if pairs > MOST_PAIRS:
        graph.refuse(f"files are written and read by {pairs:,} pairs of tasks", f"at most {MOST_PAIRS:,}")
    return [edge for each in graph.files.values() if each.writers for edge in _edges_of(each)]


def _edges_of(used: ReadFile) -> list[tuple[int, int]]:
    writers, readers = sorted(set(used.writers)), sorted(set(used.readers))
    own = set(writers)
    return [
        (writer, reader)
        for reader in readers
        for writer in writers
        if writer != reader and (reader not in own or writer < reader)
    ]
