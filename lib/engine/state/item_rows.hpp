// Several items of an implicit range, and the rows of an access's tables that they use.
#pragma once

#include <cstdint>
#include <vector>

#include "memory/pages.h"
#include "plan.hpp"

namespace numasim {

// The items first, first + step, ...; `step` may be negative.
struct Items {
    std::int64_t first, step, count;

    std::int64_t at(std::int64_t index) const { return first + index * step; }
};

// The row of an access's tables that an item uses.
inline std::int64_t row_of(const ItemAccess& access, std::int64_t item) {
    return ns_table_row(access.divisor, access.by_quotient, access.by_remainder, item);
}

// Call `visit(row)` for each item. Quotient and remainder are carried from item to item: a division costs far more.
template <typename Visit>
void each_row(const ItemAccess& access, Items items, Visit visit) {
    if (access.by_quotient == access.by_remainder) {
        for (std::int64_t i = 0; i < items.count; ++i) visit(row_of(access, items.at(i)));
        return;
    }
    const std::int64_t divisor = access.divisor;
    std::int64_t step_quotient = items.step / divisor, step_remainder = items.step % divisor;
    if (step_remainder < 0) --step_quotient, step_remainder += divisor;
    std::int64_t quotient = items.first / divisor, remainder = items.first % divisor;
    for (std::int64_t i = 0; i < items.count; ++i) {
        visit(access.by_quotient ? quotient : remainder);
        remainder += step_remainder;
        quotient += step_quotient;
        if (remainder >= divisor) remainder -= divisor, ++quotient;
    }
}

// Call `count(row, visits)` for rows that the items use, of `rows` that there are: with the number of items of each
// where many items share them.
template <typename Count>
void count_rows(const ItemAccess& access, std::int64_t rows, Items items, Count count) {
    if (rows <= 1) return count(std::int64_t{0}, items.count);
    if (rows > items.count) {
        each_row(access, items, [&](std::int64_t row) { count(row, std::int64_t{1}); });
        return;
    }
    std::vector<std::int64_t> visits(static_cast<std::size_t>(rows));
    each_row(access, items, [&](std::int64_t row) { ++visits[static_cast<std::size_t>(row)]; });
    for (std::int64_t row = 0; row < rows; ++row) count(row, visits[static_cast<std::size_t>(row)]);
}

}  // namespace numasim
