"""A strategy that knows cache domains steals within them, finds more in caches, and ends earlier: Strassen on an EPYC
9654.

With four nodes a socket, a node has three last-level caches of eight cores each. A thief that asks its own cache domain
first takes tasks whose matrices its cache holds; a thief that knows only nodes takes them from three caches alike. Here
cores compute at a speed of today: at the speed of the thesis, the default, waits for memory hide behind computing.
"""

from __future__ import annotations

from statistics import mean
from typing import Any

import numasim as ns
from numasim.engine.result import Result

SEEDS = range(1, 5)
BY_NODE = [{"from": "own-node", "tries": "all"}, {"from": "others", "tries": "all"}]
BY_CACHE = [{"from": "own-llc", "tries": "all"}, *BY_NODE]


def runs(steal: list[dict[str, Any]]) -> list[Result]:
    """96 workers fill the first socket; a core computes 50 operations a nanosecond."""
    spec = {
        "machine": "epyc-9654-2s-nps4",
        "workload": {"name": "strassen", "n": 2048, "heap": "arenas", "ps_per_1000_flops": 20_000},
        "strategy": {"name": "by-domain", "steal": steal, "mapping": "contiguous"},
        "workers": 96,
    }
    return [ns.run({**spec, "seed": seed}) for seed in SEEDS]


def means(results: list[Result], counter: str) -> float:
    return mean(result.counters[counter] for result in results)


def test_a_strategy_that_knows_cache_domains_beats_one_that_knows_nodes_alone(capsys: Any) -> None:
    by_node, by_cache = runs(BY_NODE), runs(BY_CACHE)
    with capsys.disabled():
        for name, results in (("nodes", by_node), ("cache domains and nodes", by_cache)):
            times = ", ".join(f"{result.counters['makespan_ps'] / 1e9:.2f}" for result in results)
            print(f"\nStrassen, knowing {name}: mean {means(results, 'makespan_ps') / 1e9:.2f} ms of {times}", end="")
    assert means(by_cache, "makespan_ps") < means(by_node, "makespan_ps")
    assert means(by_cache, "bytes_cache") > means(by_node, "bytes_cache")
    assert means(by_cache, "bytes_c2c") < means(by_node, "bytes_c2c")
    memory = [means(results, "bytes_local") + means(results, "bytes_remote") for results in (by_cache, by_node)]
    assert memory[0] < memory[1]
