"""Executes the notebooks of this folder and keeps them with what they print and draw.

    python notebooks/keep.py              all notebooks, which takes some minutes
    python notebooks/keep.py steals       those that are named

A notebook is written in NAME.py. NAME.ipynb has the same cells with their outputs, and nothing that differs from one
execution to the next. With a picture is kept a digest of what is drawn in it, which other versions of matplotlib draw
a little otherwise. A notebook that takes minutes also keeps a digest of what its outputs follow from.
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
LONG = ("contributions", "remote_bytes", "sensitivity")  # which take minutes, and are made of the thesis' study
STUDY = FOLDER.parent / "experiments" / "thesis"
LONGEST_S = 3600  # of any step, only so that nothing hangs


def read(path: Path) -> Any:
    """A notebook from its source or from the file that is kept."""
    import jupytext

    return jupytext.read(path)


def contents(notebook: Any) -> list[tuple[str, str]]:
    """What is written in a notebook, without outputs."""
    return [(cell["cell_type"], cell["source"]) for cell in notebook["cells"]]


def made_of(notebook: Any) -> str:
    """A digest of what the outputs of a long notebook follow from: its cells, the version of the model, the study."""
    from numasim.spec.identity import MODEL_VERSION

    digest = hashlib.sha256(json.dumps([MODEL_VERSION, contents(notebook)]).encode())
    for path in sorted(path for path in STUDY.rglob("*") if path.is_file() and "__pycache__" not in path.parts):
        digest.update(path.relative_to(STUDY).as_posix().encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()


# ---- execution -----------------------------------------------------------------------------------------------------


@contextmanager
def kernel() -> Iterator[Any]:
    """One kernel for any number of notebooks: give its client for `execute`."""
    from nbclient import NotebookClient
    from nbformat.v4 import new_notebook

    limits = {"timeout": LONGEST_S, "startup_timeout": LONGEST_S, "iopub_timeout": LONGEST_S}
    start = {"metadata": {"path": str(FOLDER)}}  # a kernel does not import from the folder that it starts in
    client = NotebookClient(new_notebook(), **limits, kernel_name="python3", resources=start)
    with client.setup_kernel():
        yield client


def execute(client: Any, notebook: Any, folder: Path, *, draw: bool = True, alone: bool = False) -> None:
    """Execute ``notebook`` in ``folder``, in a kernel that knows nothing of other notebooks; the outputs are in it.

    Without ``draw`` a figure has only the digest of what it would draw, which takes a fraction of the time; ``alone``
    lets sweeps simulate in the kernel's process rather than start one for each core.
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
    """In the kernel: forget the notebook before, go to ``folder``, and keep a digest with each figure."""
    from IPython import get_ipython
    from matplotlib.figure import Figure

    from numasim.report.figures.style import rules
    from numasim.report.notebooks.result_html import png_bytes

    os.chdir(folder)  # from that of the notebook before, which may be gone
    shell = get_ipython()
    shell.reset(new_session=True)
    shell.execution_count = 1  # which this cell does not raise
    if alone:
        os.sched_getaffinity = lambda process: {0}  # one core, hence one process
    shell.display_formatter.formatters["image/png"].for_type(
        Figure, lambda figure: (png_bytes(rules, figure) if draw else b"", {"drawn": drawn(figure)})
    )


def keep(name: str, client: Any) -> None:
    """Execute the notebook of that name and write it with its outputs."""
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


# ---- what is compared ----------------------------------------------------------------------------------------------


class _Words(HTMLParser):
    """The text of a page, without its styles."""

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
    """What a reader finds below a cell: the words of each output, and for a picture the digest of what it draws."""
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
    """A digest of what ``figure`` draws: its data with six digits, its colours and its words, but no place on paper."""
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
    """Keep the notebooks that are named, or all."""
    known = [path.stem for path in SOURCES]
    if unknown := [name for name in names if name not in known]:
        sys.exit(f"no notebook is called {unknown[0]}; there are {', '.join(known)}")
    with kernel() as client:
        for name in names or known:
            keep(name, client)
            print(f"{name}: {(FOLDER / f'{name}.ipynb').stat().st_size // 1000} kB")


if __name__ == "__main__":
    main(sys.argv[1:])
