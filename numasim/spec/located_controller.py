"""The controller that a strategy names, found and tried out where the strategy is read.

What it is called depends on the folder of the file that names it; a strategy that has been read has a name which leads
to it from everywhere.
"""

from __future__ import annotations

from collections.abc import Iterable

from numasim.errors import InputError
from numasim.parts.models.strategy_model import StrategySpec
from numasim.parts.python_function import PythonFunction, is_python_function
from numasim.parts.validation import placed
from numasim.parts.yaml.nodes import Node
from numasim.strategy.control.loaded_controller import PATH, loaded_controller

FOLDER = "controllers"


def sources_of_controllers(strategies: Iterable[StrategySpec]) -> dict[str, bytes]:
    """The sources of the modules of the strategies' functions, by where a results directory keeps them."""
    tunes = {id(each): each.tune for each in strategies if each.tune is not None}
    found = {tune.source_hash: tune.function for tune in tunes.values() if tune.function is not None}
    return {f"{FOLDER}/{text[:8]}/{each.file.name}": each.source() for text, each in sorted(found.items())}


def with_located_controller(part: str, document: Node) -> Node:
    """``document`` of a ``part``, in which the function of a strategy's ``tune.python`` is named by its file.

    InputError where there is no such function, or one that cannot be a controller. What is no name of a function stays
    as it is.
    """
    node = document.follow(PATH) if part == "strategy" else None
    if node is None or not isinstance(node.content, str) or not is_python_function(node.content):
        return document
    try:
        function = PythonFunction.of(node.content, node.place.source.folder)
        loaded_controller(function)
    except InputError as error:
        error.path = PATH
        raise placed(error, document, (part,)) from None
    tune = document.mapping()["tune"]
    located = tune.replaced("python", Node(function.text, node.place), tune.keys["python"])
    return document.replaced("tune", located, document.keys["tune"])
