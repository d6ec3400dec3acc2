"""How Sphinx makes the documentation site: `sphinx-build -W --keep-going -n -j 2 docs build/site`.

Pages are Markdown (MyST). Those whose head says ``file_format: mystnb`` are notebooks: their ``code-cell`` blocks run
while the site is built. The reference is made from the code by `docs/_extensions/numasim_reference.py`. Nothing needs
the network, neither the build nor a reader.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent / "_extensions"))

import numasim

project = "numasim"
author = "The numasim developers"
version = release = numasim.__version__

extensions = ["myst_nb", "sphinx.ext.autodoc", "numasim_reference"]
exclude_patterns = ["_extensions"]

myst_enable_extensions = ["attrs_block", "attrs_inline", "colon_fence", "deflist"]
myst_heading_anchors = 4
nb_execution_mode = "force"
nb_execution_raise_on_error = True
nb_execution_in_temp = True
nb_execution_timeout = 300  # seconds of a cell, so that nothing hangs
nb_execution_excludepatterns = ["gallery/*.ipynb"]  # notebooks are kept with their outputs
nb_ipywidgets_js: dict[str, dict[str, str]] = {}  # widgets would be fetched from the network

default_role = "code"  # of docstrings
autodoc_member_order = "bysource"
autodoc_typehints = "signature"
python_use_unqualified_type_names = True
nitpick_ignore_regex = [("py:.*", ".*")]  # types in signatures: many are those of other libraries, or not public

html_theme = "furo"
html_title = "numasim"
html_static_path = ["_static"]
html_css_files = ["site.css"]
smartquotes = False  # options keep both of their hyphens
html_show_copyright = False
html_copy_source = False
html_show_sphinx = False
html_theme_options = {"navigation_with_keys": True}
