"""The machines, strategies, runtimes, workloads and sweeps shipped with numasim, by name, each with a description."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from numasim.html import element, table
from numasim.parts import catalog

if TYPE_CHECKING:
    import pandas as pd


class Shipped(Mapping[str, str]):
    """The names of one kind in alphabetical order, each with a line of description.

    The mapping prints as two columns and is a table in a notebook; `to_frame` returns a DataFrame.
    """

    def __init__(self, kind: str, described: Mapping[str, str]) -> None:
        """Make the list; ``kind`` is the heading of the column of names, such as "machine"."""
        self.kind = kind
        self._described = dict(sorted(described.items()))

    def __getitem__(self, name: str) -> str:
        """Return the line of ``name``."""
        return self._described[name]

    def __iter__(self) -> Iterator[str]:
        """Return the names."""
        return iter(self._described)

    def __len__(self) -> int:
        """Return the number of names."""
        return len(self._described)

    def __repr__(self) -> str:
        """Return names and lines side by side."""
        width = max(map(len, self._described), default=0)
        return "\n".join(f"{name:<{width}}  {line}".rstrip() for name, line in self._described.items())

    def _repr_html_(self) -> str:
        return table((self.kind, "description"), [(element("code", name), line) for name, line in self.items()], left=2)

    def to_frame(self) -> pd.DataFrame:
        """Return a DataFrame with the column ``description`` and the names as its index."""
        import pandas as pd

        index = pd.Index(list(self._described), name=self.kind)
        return pd.DataFrame({"description": list(self._described.values())}, index=index)


def machines() -> Shipped:
    """Return the shipped machines; each name can be given to ``machine`` and to `Machine.shipped`."""
    return _files("machines")


def strategies() -> Shipped:
    """Return the shipped strategies; each name can be given to ``strategy`` and to `Strategy.shipped`."""
    return _files("strategies")


def runtimes() -> Shipped:
    """Return the shipped runtimes; each name can be given to ``runtime``."""
    return _files("runtimes")


def sweeps() -> Shipped:
    """Return the shipped sweeps; each name can be given to `numasim.run` and `numasim.sweep`."""
    return _files("sweeps")


def workloads() -> Shipped:
    """Return the families of task graphs that can be generated; each name can be given to ``workload``."""
    from numasim.workload.registry import PARAMETERS, described

    return Shipped("workload", {name: described(name) for name in PARAMETERS})


def _files(kind: str) -> Shipped:
    return Shipped(catalog.KINDS[kind], {name: catalog.described(kind, name) for name in catalog.names(kind)})
