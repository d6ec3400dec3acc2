"""The views of machines and strategies in notebooks."""

from __future__ import annotations

import numasim as ns


def test_a_machine_is_drawn() -> None:
    page = ns.Machine.ring(2)._repr_html_()
    assert "ring-2: 2 sockets, 2 nodes, 16 cores" in page
    assert page.count("<svg") == 1
    assert "<?xml" not in page
    assert repr(ns.Machine.ring(2)) == "Machine('ring-2': 2 sockets, 2 nodes, 16 cores, 16 hardware threads)"


def test_a_strategy_is_explained() -> None:
    page = ns.Strategy.shipped("steal-half")._repr_html_()
    assert "amount: half" in page
    assert "It looks for work level by level" in page
