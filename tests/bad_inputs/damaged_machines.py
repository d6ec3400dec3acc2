"""Damaged descriptions of machines: topologies in hwloc's XML, and copies of a sysfs."""

from __future__ import annotations

from collections.abc import Iterator

from bad_input_type import BadInput, text_at, together
from places_of_files import PLACES, at


def topology(inside: str, head: str = "") -> str:
    """Return a topology of one object."""
    return f'{head}<topology version="2.0">\n{inside}\n</topology>\n'


def whole(attributes: str = "", inside: str = "") -> str:
    """Return a machine of one processor."""
    processor = '<object type="PU" os_index="0" cpuset="0x1"/>'
    return topology(f'<object type="Machine" cpuset="0x1" {attributes}>\n{processor}\n{inside}</object>')


def distances(values: str) -> str:
    """Return a machine of one node, whose distance to itself is ``values``."""
    node = '<object type="NUMANode" os_index="0" cpuset="0x1"/>'
    matrix = f"<indexes>0</indexes><u64values>{values}</u64values>"
    known = f'<distances2 type="NUMANode" indexing="os">{matrix}</distances2></topology>'
    return whole("", node).replace("</topology>", known)


LAUGHS = '<!DOCTYPE t [<!ENTITY a "ha">' + "".join(
    f'<!ENTITY {chr(98 + i)} "{f"&{chr(97 + i)};" * 10}">' for i in range(9)
)
XML_TEXTS: dict[str, tuple[str | bytes, tuple[str, ...]]] = {
    "billion laughs": (topology("&j;", LAUGHS + "]>"), (":1: ", "the entity 'a' is not used here")),
    "external entity": (
        topology("&a;", '<!DOCTYPE t [<!ENTITY a SYSTEM "file:///etc/passwd">]>'),
        (":1: ", "the entity 'a' is not used here"),
    ),
    "parameter entity": (
        topology("", '<!DOCTYPE t [<!ENTITY % a SYSTEM "other.dtd"> %a;]>'),
        (":1: ", "the entity 'a' is not used here"),
    ),
    "unknown entity": (topology("&a;"), (":2:", "no XML: undefined entity")),
    "cut off": ('<topology version="2.0">', (":1:", "no XML: no element found")),
    "wrong end": (topology("<object></machine>"), (":2:", "no XML: mismatched tag")),
    "two roots": ("<topology/><topology/>", (":1:", "no XML: junk after document element")),
    "attribute twice": ('<topology a="1" a="2"/>', (":1:", "no XML: duplicate attribute")),
    "no XML": ("machine: x\n", ("no known program wrote this text", "hwloc XML")),
    "another root": ("\n<svg/>", (":2: ", "the root is <svg>")),
    "no object": (topology(""), ("there is no object",)),
    "no processor": (topology('<object type="Machine" cpuset="0x1"/>'), ("there is no PU",)),
    "nested objects": ("<topology>\n" + "<object>" * 5000, (":2: ", "nested deeper than 100 levels")),
    "many elements": ("<topology>\n" + "<info/>" * 150_000, (":2: ", "more than 100,000 elements")),
    "cpuset of 3 MB": (
        topology(f'<object type="Machine" cpuset="{"0xffffffff," * 270_000}0xffffffff"/>'),
        (":2: ", "is no bitmap", "processors below 65,536"),
    ),
    "cpuset of one group of 3 MB": (
        topology(f'<object type="Machine" cpuset="0x{"f" * 3_000_000}"/>'),
        (":2: ", "is no bitmap", "processors below 65,536"),
    ),
    "many large cpusets": (
        topology(f'<object type="Group" cpuset="{",".join(["0xffffffff"] * 2048)}"/>\n' * 100),
        (":17: ", "more than 1,000,000 processors together"),
    ),
    "cpuset of other digits": (topology('<object type="Machine" cpuset="0xzz"/>'), (":2: ", "'0xzz' is no bitmap")),
    "infinite cpuset": (topology('<object type="Machine" cpuset="0xf...f"/>'), (":2: ", "is no bitmap")),
    "number of a processor is text": (
        topology('<object type="Machine" cpuset="0x1"><object type="PU" os_index="one" cpuset="0x1"/></object>'),
        (":2: ", "os_index of <object> is 'one'", "a whole number"),
    ),
    "memory is text": (whole('local_memory="much"'), (":2: ", "local_memory of <object> is 'much'", "a whole number")),
    "memory of 5,000 digits": (whole(f'local_memory="{"9" * 5000}"'), (":2: ", "local_memory", "a whole number")),
    "number in other digits": (whole('local_memory="\u00b2"'), (":2: ", "local_memory", "a whole number")),
    "distances short": (distances("1 2"), ("the distances of 1 nodes are not 1 numbers above 0", "a full matrix")),
    "distance of 10^999999": (distances("1e999999"), ("the distances of 1 nodes are not 1", "a full matrix")),
    "distance of text": (distances("near"), ("the distances of 1 nodes are not 1", "a full matrix")),
    "distance of 0": (distances("0"), ("the distances of 1 nodes are not 1", "a full matrix")),
}
BAD_XML = [at("machine import", name, text, "given.xml", *says) for name, (text, says) in XML_TEXTS.items()]
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
    make = together(place.make, text_at("sys/fs/cgroup/cpuset.cpus.effective", "9"))
    yield BadInput("sysfs: no processor", place.command, make, ("sys: none of the processors 0-3 may be used",))
