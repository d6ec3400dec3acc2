"""Small inputs of each kind (run, sweep, graph, ...), for tests that need any valid input of the kind."""

from __future__ import annotations

RUN = "machine: xeon-e5-2620-2s\nworkload: {name: fib, n: 6}\nstrategy: randomized\nworkers: 2\n"
VALIDATION_PART = """\
title: Small
mode: virtual
costs: model
machine: xeon-e5-2620-2s
runtime: bare
kernels: [{kernel: fib, set: {n: 5}}]
strategies: [randomized]
workers: [2]
"""
TOY_MACHINE = """\
name: toy
sockets: 2
nodes: {cores: 6, threads_per_core: 2, memory: 16GiB, imc_bandwidth_gbs: 30}
caches: {}
latency_ns: [[77.3, 124.7], [122.8, 75.0]]
links: [{between: [0, 1], bandwidth_gbs: 11}]
coherence: {same_core_ns: 5, same_socket_ns: 15.435, cross_socket_ns: 38.428}
clock: {base_ghz: 2.0}
smt: {busy_ppm: 650000, poll_ppm: 850000}
"""
TOY_RUN = """\
machine: ./machine.yaml
workload: {name: strassen, n: 256}
strategy: {name: mine, steal: [{from: others}]}
workers: 24
"""
