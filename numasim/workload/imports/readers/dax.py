"""Abstract workflows of Pegasus in XML (DAX, versions 2 and 3).

A job is a task. Its attribute ``runtime``, or the key ``runtime`` of its profile ``pegasus``, is its time in seconds. A
job that reads a file waits for the jobs that write the file, also without elements ``child`` and ``parent``. Schemas:
DAX 2.1 and 3.6 of Pegasus.
"""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from typing import cast
from xml.etree.ElementTree import Element

from numasim.files.bounded_xml import PlacedElement
from numasim.workload.imports.read_graph import UNITS_PS, ReadGraph

# ---- Elements of XML by their names without namespaces ---------------------------------------------------------------


def local(element: Element) -> str:
    """Return the name of an element without the prefix of its namespace."""
    return element.tag.rpartition(":")[2].rpartition("}")[2]


def inside(element: PlacedElement) -> Iterator[PlacedElement]:
    """Return the elements directly inside ``element``."""
    return (cast(PlacedElement, each) for each in element)


def own(element: PlacedElement, name: str) -> Iterator[PlacedElement]:
    """Return the elements called ``name`` directly inside ``element``."""
    return (each for each in inside(element) if local(each) == name)


FORMAT = "Pegasus DAX"
ROOT = "adag"
JOBS = {"job", "dag", "dax"}
NOT_KNOWN = "which memory jobs use beside their files, nor how many cores a job used"
JOB_USED = {"id", "name", "file", "runtime", "profile runtime", "uses"}
USES_USED = {"uses name", "uses file", "uses link", "uses size"}
SECONDS = Decimal(UNITS_PS["s"])


def read_dax(root: PlacedElement, path: str) -> ReadGraph:
    """Return the graph of a document whose root is ``adag``; raise InputError with the line for mistakes."""
    graph = ReadGraph(path, FORMAT, root.get("name") or Path(path).stem, SECONDS, "seconds", NOT_KNOWN)
    for job in inside(root):
        if local(job) in JOBS:
            _add_job(graph, job)
        elif local(job) not in ("child", "parent"):
            graph.take([f"element {local(job)}"], ())
    for child in own(root, "child"):
        target = graph.task(_needed(graph, child, "ref"), "an element child", child.line)
        for parent in own(child, "parent"):
            source = graph.task(_needed(graph, parent, "ref"), "an element parent", parent.line)
            graph.add_edge(source, target, parent.line)
    return graph.finish()


def _add_job(graph: ReadGraph, job: PlacedElement) -> None:
    key = _needed(graph, job, "id")
    kind = job.get("name") or job.get("file") or ""
    task = graph.add_task(key, _runtime(job), job.line, kind)
    graph.take([*job.keys(), *map(_called, inside(job))], JOB_USED)
    for uses in own(job, "uses"):
        graph.take(map("uses {}".format, uses.keys()), USES_USED)
        name = uses.get("file") or uses.get("name")
        if name is None:
            graph.refuse("an element uses names no file", "the attribute file, or name", uses.line)
        link = (uses.get("link") or "").lower()
        if link not in ("input", "output", "inout"):
            graph.take([f"files of link {link or 'none'}"], ())
        else:
            file = graph.file(name, graph.size(uses.get("size"), name, uses.line))
            if link != "input":
                file.writers.append(task)
            if link != "output":
                file.readers.append(task)


def _called(element: PlacedElement) -> str:
    """Return the name under which `ReadGraph.take` counts an element inside a job."""
    key = (element.get("key") or "").lower()
    return f"profile {key}" if local(element) == "profile" else local(element)


def _runtime(job: PlacedElement) -> str | None:
    """Return the run time of a job in seconds, from an attribute or a profile."""
    if job.get("runtime") is not None:
        return job.get("runtime")
    for profile in own(job, "profile"):
        if (profile.get("namespace") or "").lower() == "pegasus" and (profile.get("key") or "").lower() == "runtime":
            return profile.text or ""
    return None


def _needed(graph: ReadGraph, element: PlacedElement, attribute: str) -> str:
    found = element.get(attribute)
    if not found:
        graph.refuse(f"an element {local(element)} has no {attribute}", f"the attribute {attribute}", element.line)
    return found
