"""The functions that a strategy names: a controller, which is found but not executed where the strategy is read, and
labels.

What a controller is called depends on the folder of the file that names it; a strategy that has been read has a name
which leads to it from everywhere. A function of labels has a registered name (`numasim.strategy.control.labels`).
"""

from __future__ import annotations

from numasim.errors import InputError
from numasim.parts.python_function import PythonFunction, is_python_function
from numasim.parts.validation import placed
from numasim.parts.yaml.nodes import Node
from numasim.strategy.control.labels import check_labels
from numasim.strategy.control.loaded_controller import PATH, check_source


def with_named_functions(part: str, document: Node) -> Node:
    """``document`` of a ``part``, in which the function of a strategy's ``tune.python`` is named by its file.

    InputError where there is no such function, one with other arguments, or no function of that name for the
    strategy's ``labels``. What is no name of a function stays as it is.
    """
    if part != "strategy":
        return document
    labels = document.child("labels")
    if labels is not None and isinstance(labels.content, str):
        try:
            check_labels(labels.content)
        except InputError as error:
            raise placed(error, document, (part,)) from None
    return _with_located_controller(document)


def _with_located_controller(document: Node) -> Node:
    node = document.follow(PATH)
    if node is None or not isinstance(node.content, str) or not is_python_function(node.content):
        return document
    try:
        function = PythonFunction.of(node.content, node.place.source.folder)
        check_source(function)
    except InputError as error:
        error.path = PATH
        raise placed(error, document, ("strategy",)) from None
    tune = document.mapping()["tune"]
    located = tune.replaced("python", Node(function.text, node.place), tune.keys["python"])
    return document.replaced("tune", located, document.keys["tune"])
