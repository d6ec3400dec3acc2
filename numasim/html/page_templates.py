"""Pages as files: templates, and the one style sheet that all pages share."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from jinja2 import Environment

SHARED = Path(__file__).with_name("templates")


def page_environment(templates: Path, *, escaped: bool = True) -> Environment:
    """The templates of a folder, which may include those of `SHARED`; what they are given is text, unless not escaped.

    A name that is not given is an error.
    """
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    return Environment(
        loader=FileSystemLoader([templates, SHARED]),
        autoescape=escaped,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
