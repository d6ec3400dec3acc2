// First touch: the homes of the regions that are placed while the program runs (model 2.2; numasim/engine/pages.py).
#pragma once

#include <cstdint>
#include <vector>

#include "plan.hpp"

namespace numasim {

struct Touch {
    std::int64_t wait_ps, pages_placed;
};

class FirstTouch {
public:
    explicit FirstTouch(const Plan& plan);

    // Walk access number `access` from `node`: what it finds unplaced is placed there. The bytes that it moves from and
    // to each home are added to `bytes` [nodes].
    Touch touch(std::int64_t access, std::int32_t node, std::int64_t* bytes);

private:
    struct Row {
        std::int64_t begin, end;
    };

    std::int64_t place(std::vector<std::int16_t>& homes, std::int64_t pages, const Row& row, std::int32_t node) const;
    void count(const std::vector<std::int16_t>& homes, const Row& row);
    std::int64_t wait_ps(std::int64_t access, std::int32_t node) const;

    const OpenAccesses& open_;
    std::int64_t granule_bytes_;
    std::vector<std::vector<std::int16_t>> homes_;  // [regions][granules], empty until the region is touched
    std::vector<std::int64_t> moved_;               // [nodes] bytes of the access at hand
};

}  // namespace numasim
