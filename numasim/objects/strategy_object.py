"""A strategy as an object of Python: shipped, read from a file, or made of fields."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from numasim.html import Html, element
from numasim.objects.machine_object import Machine
from numasim.objects.part_object import PartObject
from numasim.parts.models.strategy_model import StrategySpec
from numasim.parts.python_function import name_of_function
from numasim.plan.show_strategy import explained
from numasim.spec.single_part import read_machine, read_runtime

USUAL_MACHINE = "xeon-e5-2620-2s"
USUAL_RUNTIME = "ompi"


class Strategy(PartObject[StrategySpec]):
    """The rules by which idle workers look for work, and by which new tasks and pages are placed.

    ``Strategy(like="threshold", amount="half")`` is another strategy with one field changed; ``Strategy(name="mine",
    steal=[{"from": "own-node"}, {"from": "others"}])`` is a new strategy. A strategy is given as ``strategy=`` to
    `numasim.run` and `numasim.sweep`, alone or among the values of an axis. With ``tune=choose``, the function
    ``choose`` of a module is the controller.
    """

    part = "strategy"

    @classmethod
    def _in_their_places(cls, fields: dict[str, Any]) -> dict[str, Any]:
        """Return the ``fields`` with the name of a controller in place of its function."""
        tune = fields.get("tune")
        if callable(tune):
            return {**fields, "tune": {"python": name_of_function(tune)}}
        if isinstance(tune, Mapping) and callable(tune.get("python")):
            return {**fields, "tune": {**tune, "python": name_of_function(tune["python"])}}
        return fields

    def explain(
        self,
        machine: Machine | str = USUAL_MACHINE,
        workers: int | None = None,
        *,
        worker: int = 0,
        runtime: str = USUAL_RUNTIME,
    ) -> str:
        """Return a text on the steps of ``worker`` under this strategy on ``machine``.

        ``workers`` is the number of workers, by default a worker on every hardware thread; ``runtime`` is a shipped
        name or a path. Raise InputError if the parts do not fit together.
        """
        spec = machine.spec if isinstance(machine, Machine) else read_machine(machine)
        return explained(self.spec, read_runtime(runtime), spec, workers, worker)

    def _summary(self) -> str:
        count = len(self.spec.steal)
        spawn = self.spec.spawn if isinstance(self.spec.spawn, str) else "adaptive"
        return f"{count} steal level{'' if count == 1 else 's'}, {spawn}"

    def _views(self) -> list[Html]:
        style = "white-space: pre-wrap; margin: 4px 0; font-size: 12px; background: none"
        return [element("pre", self.yaml(), style=style), element("pre", self.explain(), style=style)]
