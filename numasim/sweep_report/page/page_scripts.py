"""The scripts of a sweep's page: BokehJS as its wheel has it, and the plot; and the policy that lets them alone run.

Only the files of the wheel are read: the package itself, which takes a while to import, is not.
"""

from __future__ import annotations

import base64
import hashlib
from importlib.util import find_spec
from pathlib import Path

from numasim.errors import InputError
from numasim.files.bounded_bytes import read_bytes
from numasim.files.file_kinds import OWN

LIBRARY = ("bokeh.min.js", "bokeh-api.min.js")
FOLDER = "server/static/js"
PLOT = Path(__file__).with_name("templates") / "chart.js"


def page_scripts() -> list[str]:
    """Return the texts of the scripts in their order, each fit to stand inside of a script element."""
    package = find_spec("bokeh")
    if package is None or package.origin is None:
        raise InputError("the library of charts is not installed", expected="`pip install bokeh`")
    folder = Path(package.origin).parent / FOLDER
    return [_inline(folder / name) for name in LIBRARY] + [_inline(PLOT)]


def content_policy(scripts: list[str]) -> str:
    """The Content-Security-Policy of a page with these scripts: no other one runs, and nothing is fetched."""
    allowed = " ".join(f"'sha256-{_hash(script)}'" for script in scripts)
    return f"default-src 'none'; script-src {allowed}; style-src 'unsafe-inline'; img-src data:; font-src data:"


def _inline(path: Path) -> str:
    """A script without what would end its element, and without blanks around it."""
    text = read_bytes(path, OWN).decode().strip()
    return text.replace("</script", "<\\/script").replace("<!--", "<\\!--")


def _hash(script: str) -> str:
    return base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
