"""The families of workloads as Markdown, each with its parameters."""

from __future__ import annotations

from reference_models import section

from numasim.workload.registry import PARAMETERS


def workloads() -> str:
    """A section for each family of workloads, by name."""
    return "\n".join(f"## `{name}`\n{section(model, '').partition(chr(10))[2]}" for name, model in PARAMETERS.items())
