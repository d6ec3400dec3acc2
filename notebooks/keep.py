"""Execute the notebooks of this folder, and write the notebooks with their outputs.

    python notebooks/keep.py              all notebooks, which takes some minutes
    python notebooks/keep.py steals       only the named notebooks

The source of a notebook is NAME.py. NAME.ipynb has the same cells with their outputs, without anything that differs
between two executions, such as times. A picture has a digest of the drawn data, because other versions of matplotlib
draw the same data with slightly different pixels. A notebook that takes minutes also has a digest of all inputs of its
outputs.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from html.parser import HTMLParser
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FOLDER = Path(__file__).resolve().parent
SOURCES = sorted(path for path in FOLDER.glob("*.py") if path.stem != Path(__file__).stem)
LONG = ("contributions", "remote_bytes", "sensitivity", "today")  # notebooks that take minutes
STUDY = FOLDER.parent / "experiments" / "thesis"
LONGEST_S = 3600  # time limit of each step; no step should reach the limit


def read(path: Path) -> Any:
    """Return a notebook, from its source or from its file with outputs."""
    import jupytext

    return jupytext.read(path)


def contents(notebook: Any) -> list[tuple[str, str]]:
    """Return the type and the text of each cell of a notebook, without outputs."""
    return [(cell["cell_type"], cell["source"]) for cell in notebook["cells"]]


def made_of(notebook: Any) -> str:
    """Return a digest of the inputs of a long notebook: its cells, the version of the model, and the study's files."""
    from numasim.spec.identity import MODEL_VERSION

    digest = hashlib.sha256(json.dumps([MODEL_VERSION, contents(notebook)]).encode())
    for path in sorted(path for path in STUDY.rglob("*") if path.is_file() and "__pycache__" not in path.parts):
        digest.update(path.relative_to(STUDY).as_posix().encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()


# ---- execution -----------------------------------------------------------------------------------------------------


@contextmanager
def kernel() -> Iterator[Any]:
    """Yield the client of a kernel, for any number of calls of `execute`."""
    from nbclient import NotebookClient
    from nbformat.v4 import new_notebook

    limits = {"timeout": LONGEST_S, "startup_timeout": LONGEST_S, "iopub_timeout": LONGEST_S}
    start = {
        "metadata": {"path": str(FOLDER)}
    }  # the kernel starts in this folder, and does not import modules of this folder
    client = NotebookClient(new_notebook(), **limits, kernel_name="python3", resources=start)
    with client.setup_kernel():
        yield client


def execute(client: Any, notebook: Any, folder: Path, *, draw: bool = True, alone: bool = False) -> None:
    """Execute ``notebook`` in ``folder``, and enter the outputs in the notebook. All earlier variables are deleted.

    Without ``draw`` a figure has a digest and no picture, which takes a fraction of the time. With ``alone`` sweeps
    simulate in the kernel's process, and start no process for each core.
    """
    from nbformat.v4 import new_code_cell, new_notebook

    begin = (
        f"import sys; sys.path.insert(0, {str(FOLDER)!r}); import keep; keep.begin({str(folder)!r}, {draw}, {alone})"
    )
    for content in (new_notebook(cells=[new_code_cell(begin)]), notebook):
        client.nb = content
        for index, cell in enumerate(content["cells"]):
            client.execute_cell(cell, index)


def begin(folder: str, draw: bool, alone: bool) -> None:
    """Prepare the kernel: delete all variables, go to ``folder``, and let each figure have a digest."""
    from IPython import get_ipython
    from matplotlib.figure import Figure

    from numasim.report.figures.style import rules
    from numasim.report.notebooks.result_html import png_bytes

    os.chdir(folder)  # the folder of the notebook before may be deleted
    shell = get_ipython()
    shell.reset(new_session=True)
    shell.execution_count = 1  # this cell does not count
    if alone:
        os.sched_getaffinity = lambda process: {0}  # sweeps see one core, and start no other process
    shell.display_formatter.formatters["image/png"].for_type(
        Figure, lambda figure: (png_bytes(rules, figure) if draw else b"", {"drawn": drawn(figure)})
    )


def keep(name: str, client: Any) -> None:
    """Execute the notebook ``name``, and write the notebook with its outputs."""
    import nbformat

    notebook = read(FOLDER / f"{name}.py")
    with TemporaryDirectory() as folder:
        execute(client, notebook, Path(folder))
    notebook["nbformat_minor"] = 5
    for number, cell in enumerate(notebook["cells"], 1):
        cell["id"] = f"cell-{number}"
        cell["metadata"].pop("execution", None)
    notebook["metadata"]["language_info"] = {"name": "python"}
    if name in LONG:
        notebook["metadata"]["made_of"] = made_of(notebook)
    nbformat.validate(notebook)
    nbformat.write(notebook, FOLDER / f"{name}.ipynb")


# ---- comparison of outputs -----------------------------------------------------------------------------------------


class _Words(HTMLParser):
    """Collects the words of a page in ``words``, without style sheets."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.words: list[str] = []
        self._in_style = False
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        self._in_style = tag == "style"

    def handle_endtag(self, tag: str) -> None:
        self._in_style = False

    def handle_data(self, data: str) -> None:
        if not self._in_style:
            self.words += data.split()


def told(cell: Any) -> list[str]:
    """Return the words of each output of a cell; for a picture, the digest of the drawn data."""
    outputs = [_told(output) for output in cell.get("outputs", ())]
    return [re.sub(r"\s+", " ", output).strip() for output in outputs]


def _told(output: Any) -> str:
    if output["output_type"] == "stream":
        return f"{output['name']}: {output['text']}"
    data = output["data"]
    if "image/png" in data:
        return f"picture {output['metadata']['image/png']['drawn']}"
    return " ".join(_Words(data["text/html"]).words) if "text/html" in data else str(data["text/plain"])


def drawn(figure: Figure) -> str:
    """Return a digest of the data of ``figure`` with six digits, its colours and its words, but not of its layout."""
    lines = [text.get_text() for text in figure.texts]
    for legend in figure.legends:
        lines += [text.get_text() for text in legend.get_texts()]
    for axes in figure.axes:
        lines += _drawn_in(axes)
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()[:32]


def _drawn_in(axes: Any) -> Iterator[str]:
    from matplotlib.colors import to_hex
    from matplotlib.ticker import FixedFormatter

    yield from (axes.get_title(loc=place) for place in ("left", "center", "right"))
    for axis in (axes.xaxis, axes.yaxis):
        yield f"{axis.get_label_text()} {axis.get_scale()}"
        formatter = axis.get_major_formatter()
        yield from formatter.seq if isinstance(formatter, FixedFormatter) else ()
    legend = axes.get_legend()
    yield from (text.get_text() for text in (*axes.texts, *(legend.get_texts() if legend else ())))
    for line in axes.lines:
        style = line.get_linestyle()
        colour = line.get_markeredgecolor() if style == "None" else line.get_color()
        yield f"{to_hex(colour)} {style} {_digits(line.get_xydata())}"
    for patch in axes.patches:
        outline = patch.get_patch_transform().transform_path(patch.get_path())
        yield f"{to_hex(patch.get_facecolor(), keep_alpha=True)} {_digits(outline.vertices)}"
    for collection in axes.collections:
        paths = [_digits(path.vertices) for path in collection.get_paths()]
        yield f"{_digits(collection.get_offsets())} {paths} {_digits(collection.get_facecolor())}"
    for image in axes.images:
        yield _digits(image.get_array())


def _digits(values: Any) -> str:
    import numpy as np

    return " ".join(f"{value + 0.0:.6g}" for value in np.ma.filled(values, np.nan).astype(float).ravel())


def main(names: list[str]) -> None:
    """Execute and write the named notebooks, or all notebooks."""
    known = [path.stem for path in SOURCES]
    if unknown := [name for name in names if name not in known]:
        sys.exit(f"no notebook is called {unknown[0]}; there are {', '.join(known)}")
    with kernel() as client:
        for name in names or known:
            keep(name, client)
            print(f"{name}: {(FOLDER / f'{name}.ipynb').stat().st_size // 1000} kB")


if __name__ == "__main__":
    main(sys.argv[1:])
