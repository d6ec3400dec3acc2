// A stack in one growing piece of memory, whose `push_back` is inlined wherever it stands.
#pragma once

#include <cstddef>
#include <memory>

namespace numasim {

template <typename T>
class Stack {
public:
    bool empty() const { return size_ == 0; }
    std::size_t size() const { return size_; }
    T& back() { return items_[size_ - 1]; }
    const T& back() const { return items_[size_ - 1]; }

    [[gnu::always_inline]] void push_back(T item) {
        if (size_ == room_) grow();
        items_[size_++] = item;
    }
    void pop_back() { --size_; }

private:
    [[gnu::noinline]] void grow() {
        const std::size_t room = room_ != 0 ? 2 * room_ : 8;
        auto items = std::make_unique<T[]>(room);
        for (std::size_t i = 0; i < size_; ++i) items[i] = items_[i];
        items_ = std::move(items);
        room_ = room;
    }

    std::unique_ptr<T[]> items_;
    std::size_t size_ = 0, room_ = 0;
};

}  // namespace numasim
