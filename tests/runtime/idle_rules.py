"""Rules for idle workers, modelled on present task runtimes (model 4.15), for strategies of tests."""

from __future__ import annotations

from pathlib import Path

from runtime_sources import strategy_file

RULES = {
    "rayon": "phases: [{rounds: 8, yield_ns: 100}], sleep: {recheck: events}, "
    "wake: {at: uncovered, whom: lowest, chain: 2, chain_by: finder, counted: no}",
    "tokio": "searchers: {share: 2}, sleep: {recheck: last}, wake: {at: no-searcher}",
    "go": "searchers: {busy_share: 2}, sleep: {recheck: each}, wake: {at: no-searcher}",
    "taskflow": "phases: [{rounds: 4, pause_ns: 0}, {rounds: 4, yield_ns: 100}], sleep: {recheck: each}, "
    "wake: {at: every-push, chain: 0}",
    "fork-join": "phases: [{rounds: 4, pause_ns: 50}], sleep: {recheck: each}, "
    "wake: {at: empty-queue, chain: 1, chain_by: finder, counted: no}",
    "hpx": "phases: [{rounds: 8, pause_ns: 20}], sleep: {recheck: none, first_ns: 1000, factor: 2, max_ns: 1000000}, "
    "wake: {at: every-push, whom: all, cancel: no}",
    "cilk": "phases: [{rounds: 8, pause_ns: 100, crowded: yes}, {for_ns: 2000, nap_ns: 500}], "
    "sleep: {recheck: each}, wake: {at: every-push, chain: 2, chain_by: woken}",
    "spinning": "phases: [{rounds: 4, pause_ns: 100}, {rounds: 1, nap_ns: 2000}]",
}


def resting(folder: Path, strategy: str, rules: str) -> str:
    """Write the shipped ``strategy`` with the idle ``rules`` of a known task runtime to a file. Return the file."""
    return strategy_file(folder, f"{strategy}-{rules}", f"idle: {{{RULES[rules]}}}", like=strategy)
