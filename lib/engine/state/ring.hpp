// A queue in one growing ring.
#pragma once

#include <cstddef>
#include <memory>

namespace numasim {

template <typename T>
class Ring {
public:
    bool empty() const { return size_ == 0; }
    T& front() { return at(0); }
    T& back() { return at(size_ - 1); }
    T& at(std::size_t i) { return slots_[(head_ + i) & mask_]; }

    void push_back(const T& value) {
        if (size_ == capacity()) grow();
        ++size_;
        back() = value;
    }
    void pop_front() {
        head_ = (head_ + 1) & mask_;
        --size_;
    }

private:
    std::size_t capacity() const { return slots_ ? mask_ + 1 : 0; }

    void grow() {
        const std::size_t wider = capacity() ? 2 * capacity() : 8;
        auto slots = std::make_unique<T[]>(wider);
        for (std::size_t i = 0; i < size_; ++i) slots[i] = at(i);
        slots_ = std::move(slots);
        mask_ = wider - 1;
        head_ = 0;
    }

    std::unique_ptr<T[]> slots_;
    std::size_t mask_ = 0, head_ = 0, size_ = 0;
};

}  // namespace numasim
