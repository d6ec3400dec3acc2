// Marks of watches that steal levels go by: who sleeps through rounds counts on there being none.
#pragma once

#include <cstdint>
#include <vector>

#include "state/run.hpp"

namespace numasim {

class ThiefMarks {
public:
    explicit ThiefMarks(const Run& run);

    // Whether there are any.
    bool any() const;

    // The run as it looks to thieves without marks.
    ns_view none() const {
        ns_view quiet = run_.queues.view();
        quiet.watch = no_marks_.data();
        return quiet;
    }

private:
    const Run& run_;
    const std::size_t words_;             // of a watch
    std::vector<std::uint32_t> watches_;  // that steal levels go by; others are of dispatch rules
    std::vector<std::uint64_t> no_marks_;
};

}  // namespace numasim
