"""The C++ names of enumerations, structures and counters, which differ from the C names."""

from __future__ import annotations

from numasim.schema.counter_names import TRAFFIC
from numasim.schema.enumeration_text import HEADING
from numasim.schema.enumerations import ENUMERATIONS, Names
from numasim.schema.plan_fields import PLAN
from numasim.schema.structure_text import in_order


def plan_names() -> str:
    """The header."""
    enums = "".join(_enumeration(each) for each in ENUMERATIONS if each.cpp)
    structures = "".join(f"using {each.cpp_name} = {each.c_name};\n" for each in in_order(PLAN) if each.cpp_name)
    traffic = f"enum TrafficKind : std::size_t {{ {', '.join(TRAFFIC.values())}, TRAFFIC_KINDS }};\n"
    names = f"constexpr const char* TRAFFIC_NAMES[] = {{{', '.join(_quoted(name) for name in TRAFFIC)}}};\n"
    return (
        f'{HEADING}#pragma once\n\n#include <cstddef>\n#include <cstdint>\n\n#include "plan_structs.h"\n\n'
        f"namespace numasim {{\n\n{enums}\n{structures}\n"
        f"// Kinds of traffic between nodes, and what they are called in results.\n{traffic}{names}\n"
        "}  // namespace numasim\n"
    )


def _quoted(name: str) -> str:
    return f'"{name}"'


def _enumeration(each: Names) -> str:
    names = each.cpp_names or tuple(each.members)
    pairs = [f"{cpp} = {each.prefix}_{c}" for cpp, c in zip(names, each.members, strict=True)]
    if each.of_words:
        return f"struct {each.cpp} {{\n    static constexpr {each.type} {', '.join(pairs)};\n}};\n"
    return f"enum {each.cpp} : std::uint8_t {{ {', '.join(pairs)} }};\n"
