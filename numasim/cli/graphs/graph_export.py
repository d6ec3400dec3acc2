"""Writing a task graph to a file: what `numasim workload export` says and does."""

from pathlib import Path
from typing import TYPE_CHECKING

from numasim.cli.shared import say
from numasim.errors import InputError

if TYPE_CHECKING:
    from numasim.workload.graph import Workload

EXPECTED = "a file: numasim workload export fib n=8 -o fib.json"


def words_and_file(words: list[str], output: Path | None) -> tuple[list[str], Path]:
    """The words of a workload and the file, which is the last word where no option names it."""
    if output is not None:
        return words, output
    file = Path(words[-1])
    if "=" in file.name and not file.exists():
        raise InputError("the file is missing", expected=f"it behind the parameters: {' '.join(words)} graph.json")
    if len(words) == 1:
        raise InputError("the file is missing", expected=EXPECTED)
    return words[:-1], file


def export_to(workload: "Workload", file: Path) -> None:
    """Write the graph, and say where it is and what the form leaves out."""
    from numasim.workload.graph_files.export_forms import export

    for sentence in export(workload, file):
        say(f"numasim: {sentence}", err=True)
    say(file)
