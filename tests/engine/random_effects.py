"""Random effects of the machine, and machines on which they show: small caches, slow controllers, shared cores."""

from __future__ import annotations

from random import Random
from typing import Any, Literal, get_args, get_origin

from random_graphs import Document, happens

from numasim.parts.models.effects_model import ModelSpec

FRACTIONS = (0, 0.1, 0.5, 1)
LOADS = {"nodes": {"0": 0.005}, "links": [{"from": 0, "to": 1, "gbs": 0.005}]}  # less than the least of a machine
NUMBERS: dict[str, tuple[Any, ...]] = {
    "background": ({}, LOADS),
    "local_share": (0, 0.1, 0.5, 0.9),
    "mlp": (0.1, 1, 2, 7.3),
    "task_noise": (0, 0.05, 0.5),
    "worker_spread": (0, 0.1),
}
SPEEDS_ALONE = {"cache": "none", "contention": "none", "queueing": "none", "smt": "compute", "clock": "turbo"}
GIGABYTES_PER_S = (0.01, 0.2, 0.2, 1, 10)


def model_document(chance: Random) -> Document:
    """Values for some of the effects, whatever there are; often none."""
    if happens(chance, 45):
        return {}
    if happens(chance, 15):
        return dict(SPEEDS_ALONE)
    model = {name: chance.choice(values) for name, values in effect_values().items() if happens(chance, 40)}
    if model.get("contention") == "none":
        model.pop("background", None)  # others can take nothing away there
    return model


def effect_values() -> dict[str, tuple[Any, ...]]:
    """Values of every effect: all where they have names, else some."""
    fields = ModelSpec.model_fields.items()
    return {name: _values(name, field.annotation) for name, field in fields if name != "skip"}


def _values(name: str, annotation: Any) -> tuple[Any, ...]:
    if get_origin(annotation) is Literal:
        return get_args(annotation)
    return NUMBERS.get(name, FRACTIONS)


def machine_effects(chance: Random, cores: int) -> Document:
    """Caches, bandwidths and speeds of a machine with so many cores on a socket."""
    return {
        "caches": _caches(chance),
        "bandwidth_gbs": {what: chance.choice(GIGABYTES_PER_S) for what in ("imc", "link")},
        "smt": {what: chance.choice((50_000, 333_333, 650_000, 1_000_000)) for what in ("busy_ppm", "poll_ppm")},
        "clock": {"base_ghz": 2, "turbo": _turbo(chance, cores)},
        "snoop": {f"{what}_bytes": chance.choice((1, 4, 8, 64)) for what in ("request", "answer")}
        if happens(chance, 30)
        else None,
    }


def _caches(chance: Random) -> Document:
    caches: Document = {"l2": chance.choice((0, 600, 20_000))}
    if happens(chance, 80):
        caches |= {
            "llc": chance.choice((1000, 20_000, 140_000, 1 << 20)),
            "llc_scope": chance.choice(("socket", "node", "core")),
            "llc_hit_ns": chance.choice((0, 15, 33.333)),
            "llc_remote_hit_ns": chance.choice((0, 60)),
        }
    if "llc" in caches and happens(chance, 40):
        caches["llc_bandwidth_gbs"] = chance.choice(GIGABYTES_PER_S)
    if "llc" in caches and caches["l2"] == 600:  # no draw of its own, so that all others stay as they are
        caches["forward"] = "yes"
    return caches


def _turbo(chance: Random, cores: int) -> list[Document]:
    steps = sorted(chance.sample(range(1, cores + 1), chance.randint(0, min(cores, 3))))
    return [{"active": active, "ghz": 3.5 - active / cores} for active in steps]


def with_effects(usual: Document, effects: Document) -> Document:
    """A machine's document with the caches, bandwidths and speeds of `machine_effects`."""
    bandwidth = effects["bandwidth_gbs"]
    return {
        **usual,
        "nodes": {**usual["nodes"], "imc_bandwidth_gbs": bandwidth["imc"]},
        "links": [{**link, "bandwidth_gbs": bandwidth["link"]} for link in usual["links"]],
        **{name: effects[name] for name in ("caches", "smt", "clock", "snoop")},
    }
