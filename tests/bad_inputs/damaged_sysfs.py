"""Damaged copies of a sysfs."""

from __future__ import annotations

from collections.abc import Iterator

from bad_input_type import BadInput, text_at, together
from places_of_files import PLACES

LISTS = {
    "range of 10^15": "0-999999999999999",
    "range of 100,000": "0-100000",
    "number of 5,000 digits": "9" * 5000,
    "backwards": "3-1",
    "negative": "-1",
    "half a range": "1-",
    "words": "all",
    "other digits": "\u0661",
    "underscore": "1_0",
    "hexadecimal": "0xff",
    "many ranges": "0-65536," * 10,
}


def bad_sysfs() -> Iterator[BadInput]:
    """Yield damaged lists of processors, and damaged files of numbers."""
    place = PLACES["sysfs, online"]
    for name, text in LISTS.items():
        for file in ("devices/system/cpu/online", "fs/cgroup/cpuset.cpus.effective"):
            make = together(place.make, text_at(f"sys/{file}", text))
            says = (
                f"sys/{file}: ",
                "is no list of processors",
                "expected a list such as 0-3,8 of numbers below 65,536",
            )
            yield BadInput(f"sysfs, {file}: {name}", place.command, make, says)
    cpu, node = "devices/system/cpu/cpu0", "devices/system/node/node0"
    for file, text, says in (
        (f"{cpu}/topology/physical_package_id", "9" * 5000, "is no number"),
        (f"{cpu}/topology/physical_package_id", "1_0", "'1_0' is no number"),
        (f"{cpu}/topology/core_cpus_list", "0-99999", "is no list of processors"),
        (f"{cpu}/cache/index0/size", "9" * 5000 + "K", "is no size of a cache"),
        (f"{cpu}/cache/index0/size", "-32K", "is no size of a cache"),
        (f"{cpu}/cache/index0/size", "\u0661K", "is no size of a cache"),
        (f"{cpu}/cache/index0/level", "one", "'one' is no number"),
        (f"{cpu}/cache/index0/coherency_line_size", "1e3", "'1e3' is no number"),
        (f"{cpu}/cache/index0/shared_cpu_list", "0-x", "is no list of processors"),
        (f"{node}/distance", "10 \u00b2", "is no row of distances"),
        (f"{node}/distance", "10 " + "9" * 5000, "is no row of distances"),
        (f"{node}/distance", "10", "is no row of distances"),
        (f"{node}/cpulist", "0-70000", "is no list of processors"),
    ):
        make = together(place.make, text_at(f"sys/{file}", text))
        yield BadInput(f"sysfs, {file}: {text[:12]}", place.command, make, (f"sys/{file}: ", says, "expected "))
