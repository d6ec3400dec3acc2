"""Inputs that run in a moment, for tests that need any input of a kind."""

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
