// Objects of one kind that come and go, addressed by index: freed places are taken again, and memory only ever grows.
#pragma once

#include <cstdint>
#include <vector>

namespace numasim {

template <typename T>
class Pool {
public:
    // References are valid until the next `add`.
    T& operator[](std::uint32_t index) { return places_[index]; }
    const T& operator[](std::uint32_t index) const { return places_[index]; }

    std::uint32_t add(const T& value) {
        if (free_.empty()) {
            places_.push_back(value);
            return static_cast<std::uint32_t>(places_.size() - 1);
        }
        const std::uint32_t index = free_.back();
        free_.pop_back();
        places_[index] = value;
        return index;
    }

    void free(std::uint32_t index) { free_.push_back(index); }

private:
    std::vector<T> places_;
    std::vector<std::uint32_t> free_;
};

}  // namespace numasim
