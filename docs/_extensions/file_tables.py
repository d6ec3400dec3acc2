"""Descriptions of the tables of runs, sweeps, reproductions and validations: files, rows and columns."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from numasim.engine.columns import DESCRIBED, Column, Kind
from numasim.engine.phase_rows import SUMS
from numasim.report.answers.answers_file import ANSWER_COLUMNS
from numasim.schema.enumerations import COUNTS, TIMES


@dataclass(frozen=True)
class FileTable:
    """A table: its file or attribute, the thing that has a row, and the columns in their order."""

    name: str
    file: str
    row: str
    columns: tuple[Column, ...]


def _columns(group: str, *entries: tuple[str, str] | tuple[str, str, str] | tuple[str, str, str, Kind]) -> list[Column]:
    """Return columns of other tables than the results table; an entry has name, meaning, unit and kind."""
    filled = [(*entry, *("", "integer")[len(entry) - 2 :]) for entry in entries]
    return [Column(name, group, name.replace("_", " "), unit, meaning, kind) for name, meaning, unit, kind in filled]


def _known(names: Iterable[str]) -> list[Column]:
    return [DESCRIBED[name] for name in names]


def _in_order(names: Sequence[str]) -> list[str]:
    """Return ``names`` in the order of a results table."""
    order = list(DESCRIBED)
    return sorted(names, key=order.index)


_OF_SWEEP = _columns(
    "sweep",
    (
        "assumed",
        "The assumed fields of the machine that the specification does not rule out, with semicolons between them.",
        "",
        "text",
    ),
    ("error", "The sentence that a run ended with that failed; null for all others.", "", "text"),
)
_WORKER = _columns(
    "workers",
    ("worker", "The number of the worker; producers beside the workers follow them."),
    ("role", "worker, or producer for a thread beside the workers that makes items of ranges.", "", "text"),
    ("node", "The NUMA node that it runs on."),
)
_PAIR = _columns(
    "node_pairs",
    ("node_from", "The node of the thief, or of the core that accesses memory."),
    ("node_to", "The node of the victim's queue, or the home of the memory."),
)
_PAIR_COUNTS = _columns(
    "node_pairs",
    ("bytes_cache", "Bytes that caches of the other node sent; only where bytes are told apart.", "B"),
    ("bytes", "Bytes that cores of the one node moved from and to memory of the other.", "B"),
    ("bytes_ownership", "Bytes fetched for ownership, which are written later; only where bytes are told apart.", "B"),
    ("bytes_read", "Bytes read; only where bytes are told apart.", "B"),
    ("bytes_written", "Bytes written back; only where bytes are told apart.", "B"),
    ("conflicts", "Attempts on the one node that aborted at objects which workers of the other had opened."),
)
_PHASE_RUN = _columns(
    "iterations",
    ("phase", "The number of the phase."),
    ("name", "Its name; empty where it has none.", "", "text"),
    ("iteration", "The pass through the outermost loop around the phase, from 0."),
    ("turn", "How often the phase has run before."),
    ("start_ps", "When it began.", "ps"),
    ("time_ps", "How long it took.", "ps"),
)
_TIMING = _columns("timing", ("engine_s", "Wall-clock time of the engine alone.", "s", "ratio"))
_BIN = _columns(
    "over time",
    ("begin_ps", "The beginning of the stretch of time.", "ps"),
    ("end_ps", "The end of the stretch of time.", "ps"),
)
_STATES = _columns(
    "over time",
    ("worker", "The number of the worker."),
    ("node", "The NUMA node that it runs on."),
    ("work_ps", "Time that it executed segments and items.", "ps"),
    ("overhead_ps", "Time of the runtime's own operations.", "ps"),
    ("idle_ps", "Time that it searched and backed off.", "ps"),
    ("parked_ps", "Time that it slept in a blocking join or for a condition.", "ps"),
    ("idle_barrier_ps", "Time that it waited while worker 0 was in a serial phase, or at a barrier.", "ps"),
)
_QUEUE = _columns(
    "over time",
    ("queue", "The number of the queue."),
    ("node", "Its home; -1 for a queue of the whole machine."),
    ("tasks", "The mean number of tasks in it.", "", "ratio"),
)
_RESOURCE = _columns(
    "over time",
    ("resource", "The number of the resource."),
    ("name", "What it is: a controller, a link, the port of a cache, the address space.", "", "text"),
    ("unit", "The unit of its capacity.", "", "text"),
    ("capacity", "What the program can get of it at most, in that unit."),
    ("used", "The mean of what the program used, in that unit.", "", "ratio"),
    ("share", "used divided by capacity.", "", "ratio"),
)
_STEALS = _columns(
    "over time",
    ("near", "Successful steals inside a node."),
    ("far", "Successful steals from another node."),
)
_OBJECT = _columns(
    "synchronisation objects",
    ("object", "Its name.", "", "text"),
    ("role", "lock, atomic, condition or barrier.", "", "text"),
    ("node", "The node on which its lines live."),
    ("acquisitions", "How often it was granted; of locks and atomic words."),
    ("handoffs_local", "How often one of its lines went to another worker of the same node."),
    ("handoffs_remote", "How often one of its lines went to a worker of another node."),
    ("wait_ps", "Time that workers waited for it; of locks and atomic words.", "ps"),
    ("hold_ps", "Time that it was held; of locks and atomic words.", "ps"),
)
_SCORE = _columns(
    "reproductions",
    ("table", "The table, or all for the score of a class of quantities over all tables.", "", "text"),
    ("quantity", "The class of quantities, or the quantity of the column.", "", "text"),
    ("metric", "How far simulated values are from published ones.", "", "text"),
    ("value", "The score.", "", "ratio"),
    ("bound", "The bound that the study sets; empty where it sets none.", "", "ratio"),
    ("cells", "Cells that the score is over."),
    ("seeds_low", "Lower end of the 95 % interval over the seeds, by bootstrap.", "", "ratio"),
    ("seeds_high", "Upper end of the 95 % interval over the seeds, by bootstrap.", "", "ratio"),
    ("rows_low", "Lower end of the 95 % interval over the rows, by bootstrap.", "", "ratio"),
    ("rows_high", "Upper end of the 95 % interval over the rows, by bootstrap.", "", "ratio"),
    ("readings_low", "The lowest score under other readings of the source, one changed at a time.", "", "ratio"),
    ("readings_high", "The highest score under other readings of the source, one changed at a time.", "", "ratio"),
    ("parameters_low", "The lowest score at the ends of the ranges of fitted parameters, one at a time.", "", "ratio"),
    (
        "parameters_high",
        "The highest score at the ends of the ranges of fitted parameters, one at a time.",
        "",
        "ratio",
    ),
    ("null", "The score of the best simple rule.", "", "ratio"),
    ("against_null", "The score over only those cells that the best simple rule predicts.", "", "ratio"),
    ("met", "yes where the bound is met, no where it is missed.", "", "text"),
    ("beats_null", "yes where the score is skill: better than that of the best simple rule.", "", "text"),
    ("column", "The column of the table; empty for a class.", "", "text"),
    ("role", "What the published values are to the simulation: input, fitted or predicted.", "", "text"),
    ("ceiling", "The best score that the published values leave within reach (model 7.4).", "", "ratio"),
    ("question", "What is asked of the predictions: absolute values, or what a change does.", "", "text"),
    ("degenerate", "Why the score says little of the column, if so.", "", "text"),
    ("rule", "The name of the best simple rule.", "", "text"),
)
_CELL = _columns(
    "reproductions",
    ("row", "The row of the published table.", "", "text"),
    ("column", "The column of the published table.", "", "text"),
    ("variant", "The variant of the program.", "", "text"),
    ("quantity", "What is counted or measured.", "", "text"),
    ("unit", "Its unit; 1 for a ratio, holds for a statement that holds (1) or not (0).", "", "text"),
    ("role", "What the published value is to the simulation: input, reference, fitted or predicted.", "", "text"),
    ("score", "The class of quantities that the cell is scored in.", "", "text"),
    ("published", "The published value; empty if nobody printed a value, or only a range.", "", "ratio"),
    ("simulated", "The mean over the seeds.", "", "ratio"),
    ("low", "Lower end of its 95 % interval.", "", "ratio"),
    ("high", "Upper end of its 95 % interval.", "", "ratio"),
    ("seeds", "Number of seeds."),
    ("relative_error", "Simulated less published, divided by published.", "", "ratio"),
    ("null", "The prediction of the simple rule of the column.", "", "ratio"),
    ("note", "A remark.", "", "text"),
    ("within_low", "Lower end of a range that is printed instead of a value.", "", "ratio"),
    ("within_high", "Upper end of this range.", "", "ratio"),
)
_VALIDATED = _columns(
    "validation",
    ("part", "The part of the validation.", "", "text"),
    ("kernel", "The program.", "", "text"),
    ("parameters", "Its parameters.", "", "text"),
    ("strategy", "The strategy.", "", "text"),
    ("workers", "Number of workers."),
    ("quantity", "What is compared; equal_counters where every counter must be equal.", "", "text"),
    ("unit", "Its unit.", "", "text"),
    ("predicted", "What the simulator says; of equal_counters, the values that were compared.", "", "ratio"),
    ("predicted_low", "Lower end of its 95 % interval.", "", "ratio"),
    ("predicted_high", "Upper end of its 95 % interval.", "", "ratio"),
    ("measured", "What the task runtime did; of equal_counters, the values that are equal.", "", "ratio"),
    ("measured_low", "Lower end of its 95 % interval.", "", "ratio"),
    ("measured_high", "Upper end of its 95 % interval.", "", "ratio"),
    ("repeats", "Number of repeats."),
    ("distance", "From measured to predicted: relative, of ratios absolute, of equal_counters a count.", "", "ratio"),
    ("within", "yes where the distance is within the bound, no where not, empty where there is none.", "", "text"),
)

FILE_TABLES = (
    FileTable("results", "results.parquet", "each cell and repeat of a sweep", (*DESCRIBED.values(), *_OF_SWEEP)),
    FileTable(
        "workers",
        "workers.parquet",
        "each run and worker",
        (*_known(["run_id"]), *_WORKER, *_known(_in_order([*COUNTS, *TIMES, "steal_false"]))),
    ),
    FileTable(
        "node_pairs",
        "node_pairs.parquet",
        "each run and ordered pair of nodes",
        (*_known(["run_id"]), *_PAIR, *_known(["steal_attempts", "steal_success"]), *_PAIR_COUNTS),
    ),
    FileTable(
        "iterations",
        "iterations.parquet",
        "each run of a phase, of the runs that have more than one",
        (*_known(["run_id"]), *_PHASE_RUN, *_known(SUMS)),
    ),
    FileTable("timing", "timing.parquet", "each run", (*_known(["run_id"]), *_TIMING)),
    FileTable(
        "answers", "answers.csv", "each axis of a sweep, value, setting of the other axes and column", ANSWER_COLUMNS
    ),
    FileTable("synchronisation objects", "Result.sync_objects", "each synchronisation object of a run", (*_OBJECT,)),
    FileTable("workers over time", "OverTime.workers_frame", "each stretch of time and worker", (*_BIN, *_STATES)),
    FileTable(
        "queue lengths over time", "OverTime.queue_length_frame", "each stretch of time and queue", (*_BIN, *_QUEUE)
    ),
    FileTable(
        "loads over time", "OverTime.resource_load_frame", "each stretch of time and resource", (*_BIN, *_RESOURCE)
    ),
    FileTable("steals over time", "OverTime.steals_frame", "each stretch of time", (*_BIN, *_STEALS)),
    FileTable("scores of a reproduction", "scores.csv", "each class of quantities, and each column", (*_SCORE,)),
    FileTable("cells of a reproduction", "tables/NAME.csv", "each cell of a published table", (*_CELL,)),
    FileTable("validation", "validation.csv", "each quantity of each cell of a validation", (*_VALIDATED,)),
)
