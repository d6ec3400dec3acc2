"""Totals, the size of a program predicted from its parameters, are at least the size of its arrays. The error for too
large a program proposes the largest value that fits.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from decimal import Decimal
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from parameter_values import accepted, keys_of, names_of
from workload_setup import SMALL

from numasim.schema.enumerations import LONGEST_PS, MOST_BYTES
from numasim.workload.families.nqueens import BOARDS, Boards, _advance, _try
from numasim.workload.one_worker import serial_ps
from numasim.workload.parameters import WorkloadParameters
from numasim.workload.registry import FAMILIES, generate, workload_spec
from numasim.workload.totals import LIMITS, Totals, largest, refusal, totals_of
from numasim.workload.unfold import unfolded

EXACT = {"cholesky", "fft", "strassen", "matmul"}  # families whose predicted totals are exact
DRAWN = {"uts"}  # families whose sizes depend on draws
LATENCY_PS = 77_300
BUILT = 20_000  # most rows, and most items, of programs in these tests


def counted(parameters: WorkloadParameters) -> Totals:
    """Return the totals of the parameters' program, from its arrays and the runs of its phases."""
    folded = generate(parameters, folded=True)
    work = unfolded(folded)
    accesses = [work.accesses, *(family.accesses for family in work.ranges)]
    return replace(
        totals_of(work),
        rows=folded.rows,
        ops=len(folded.op_code),
        segments=folded.segments,
        access_bytes=max(int((each.row_bytes * each.rows).max(initial=0)) for each in accesses),
    )


def missed(parameters: WorkloadParameters) -> list[str]:
    """Return the predicted totals that are below the totals of the arrays."""
    told, found = parameters.totals(), counted(parameters)
    numbers = [name for name in vars(Totals()) if name != "lines"]
    short = [name for name in numbers if getattr(told, name) < getattr(found, name)]
    short += ["lines"] * (sum(told.lines) < sum(found.lines))
    if parameters.name in EXACT:
        names = ("rows", "segments", "items", "compute_ps", "accesses")
        short += [f"{name} exactly" for name in names if getattr(told, name) != getattr(found, name)]
    return short


@pytest.mark.parametrize("label", [label for label in SMALL if label.split()[0] not in DRAWN])
def test_a_program_has_no_more_than_its_totals(label: str) -> None:
    assert missed(workload_spec(label.split(maxsplit=1)[0], **SMALL[label])) == []


@st.composite
def parameters_of(draw: st.DrawFn, name: str) -> Mapping[str, Any]:
    """Draw small parameters of a family, within the bounds of its model."""
    found: dict[str, Any] = {}
    for key, field in keys_of(FAMILIES[name]).items():
        if names := names_of(field):
            found[key] = draw(st.sampled_from(names))
        elif field.is_required() or draw(st.booleans()):
            powers = st.integers(4, 6).map(lambda exponent: 2**exponent)
            found[key] = draw(st.one_of(st.integers(0, 9), powers))
    return found


@pytest.mark.parametrize("name", [name for name in FAMILIES if name not in DRAWN])
@settings(max_examples=60)
@given(data=st.data())
def test_no_program_has_more_than_its_totals(name: str, data: st.DataObject) -> None:
    parameters = accepted(name, data.draw(parameters_of(name)))
    if isinstance(parameters, str) or max(parameters.totals().rows, parameters.totals().items) > BUILT:
        return
    work = generate(parameters, folded=True)
    if work.folded and work.tasks > BUILT:
        return
    assert missed(parameters) == []
    assert serial_ps(work, LATENCY_PS) <= parameters.totals().serial_ps(LATENCY_PS)


@pytest.mark.parametrize("name", FAMILIES)
@settings(max_examples=100)
@given(data=st.data())
def test_the_value_that_is_proposed_fits_and_no_larger_one_does(name: str, data: st.DataObject) -> None:
    """The test lowers the limits of programs, so that small programs exceed them."""
    parameters = accepted(name, data.draw(parameters_of(name)))
    if isinstance(parameters, str):
        return
    limit = data.draw(
        st.sampled_from([total for total in LIMITS if getattr(parameters.totals(), total) > 0] or ["rows"])
    )
    most = data.draw(st.integers(0, max(0, getattr(parameters.totals(), limit))))

    def too_much(totals: Totals) -> str | None:
        return "is too much" if getattr(totals, limit) > most else None

    found = refusal(parameters, too_much, parameters.model_fields_set)
    assert (found is None) == (getattr(parameters.totals(), limit) <= most)
    if found is None or found.key is None:
        return
    right = largest(parameters, found.key, too_much)
    assert right is not None
    assert right < getattr(parameters, found.key)
    assert str(right) in str(found) or f"{right:f}" in str(found) or isinstance(right, Decimal)
    assert too_much(parameters.model_copy(update={found.key: right}).totals()) is None
    step = right if found.key in parameters.powers_of_two else Decimal("0.001") if isinstance(right, Decimal) else 1
    assert too_much(parameters.model_copy(update={found.key: right + step}).totals()) is not None


def test_times_that_no_counter_holds_are_refused() -> None:
    """A leaf has 4096^3 multiplications of two operations each; at a second an operation this takes 1.4e23 ps."""
    told = accepted("strassen", {"n": 4096, "cutoff": 4096, "ps_per_1000_flops": 10**12})
    right = LONGEST_PS * 1000 // (2 * 4096**3)
    assert "makes 137,438,953,472,000,000,000 ps of computing" in str(told)
    assert "n: 4096 makes" in str(told)
    assert isinstance(accepted("strassen", {"n": 4096, "cutoff": 4096, "ps_per_1000_flops": right}), WorkloadParameters)
    told = accepted("strassen", {"n": 4096, "cutoff": 4096, "ps_per_1000_flops": right + 1})
    assert "ps of computing of one task" in str(told)


def test_memory_that_no_plan_holds_is_refused() -> None:
    small = {"tasks": 2**13, "low_ns": 1, "high_ns": 2}
    told = accepted("random-fork-join", {**small, "task_bytes": 2**38})
    assert f"makes {2**51:,} bytes of one piece of memory, and at most {MOST_BYTES:,} fit" in str(told)
    assert "tasks: 8192" in str(told)
    assert "expected at most 4096" in str(told)


def test_the_table_of_boards_is_that_of_the_search() -> None:
    for n in range(1, 11):
        boards, counts = Boards(*np.zeros((4, 1), np.int64)), []
        for _ in range(n):
            counts.append(len(boards.columns))
            tries, stands = _try(boards, n)
            boards = _advance(tries, stands, tries.origin)
        assert tuple(counts) == BOARDS[n - 1]
