"""All tables of bad inputs together."""

from __future__ import annotations

from bad_arguments import ARGUMENTS
from bad_input_type import BadInput
from damaged_files import DAMAGED
from damaged_graphs import bad_graphs
from damaged_hwloc import BAD_XML
from damaged_sysfs import bad_sysfs
from damaged_tables import BAD_CSV, BAD_PROVENANCES, BAD_RESULTS
from damaged_yaml import LOOPS, MACHINES, bad_yaml

EVERY: list[BadInput] = [
    *ARGUMENTS,
    *DAMAGED,
    *bad_yaml(),
    *MACHINES,
    *LOOPS,
    *bad_graphs(),
    *BAD_XML,
    *bad_sysfs(),
    *BAD_CSV,
    *BAD_PROVENANCES,
    *BAD_RESULTS,
]
