// Containers of the engine: a stack, a ring (double-ended queue), and a pool of objects that are addressed by index.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace numasim {

// A stack in one growing array. `push_back` is always inlined, other than that of std::vector.
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

// A double-ended queue in one growing circular array.
template <typename T>
class Ring {
public:
    bool empty() const { return size_ == 0; }
    std::size_t size() const { return size_; }
    T& front() const { return at(0); }
    T& back() const { return at(size_ - 1); }
    T& at(std::size_t i) const { return slots_[(head_ + i) & mask_]; }

    [[gnu::always_inline]] void push_back(const T& value) {
        if (size_ == mask_ + 1) grow();
        at(size_++) = value;
    }
    void push_front(const T& value) {
        if (size_ == mask_ + 1) grow();
        head_ = (head_ - 1) & mask_;
        ++size_;
        front() = value;
    }
    void pop_front() {
        head_ = (head_ + 1) & mask_;
        --size_;
    }
    void pop_back() { --size_; }

private:
    [[gnu::noinline]] void grow() {
        const std::size_t wider = slots_ ? 2 * (mask_ + 1) : 8;
        auto slots = std::make_unique<T[]>(wider);
        for (std::size_t i = 0; i < size_; ++i) slots[i] = at(i);
        slots_ = std::move(slots);
        mask_ = wider - 1;
        head_ = 0;
    }

    std::unique_ptr<T[]> slots_;
    std::size_t mask_ = SIZE_MAX;  // number of slots - 1, a power of two less one; SIZE_MAX without slots
    std::size_t head_ = 0, size_ = 0;
};

// Objects that are addressed by index. Places of freed objects are used again. Memory is never given back.
template <typename T>
class Pool {
public:
    // References to objects are valid until the next `add`.
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
