// The members of a set of the core (base/bitset.h).
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/bitset.h"

namespace numasim {

// Calls `visit(member)` for the members of word number `at` of a set, in ascending order.
template <typename Visit>
void each_member(std::size_t at, std::uint64_t word, Visit&& visit) {
    for (; word != 0; word &= word - 1) visit(static_cast<std::uint32_t>(64 * at) + ns_word_first(word));
}

}  // namespace numasim
