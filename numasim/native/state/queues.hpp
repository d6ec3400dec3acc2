// The task queues of a run: core/queues, with a class around it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>

#include "queues/queues.h"

namespace numasim {

// A double-ended queue in one growing ring.
template <typename T>
class Ring {
public:
    bool empty() const { return size_ == 0; }
    std::size_t size() const { return size_; }
    T& front() { return at(0); }
    T& back() { return at(size_ - 1); }
    const T& front() const { return slots_[head_]; }
    const T& back() const { return slots_[(head_ + size_ - 1) & mask_]; }
    T& at(std::size_t i) { return slots_[(head_ + i) & mask_]; }

    void push_back(const T& value) {
        if (size_ == capacity()) grow();
        ++size_;
        back() = value;
    }
    void pop_back() { --size_; }
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

class Queues {
public:
    Queues(const ns_plan& plan, const ns_threshold_rules& rules) {
        if (!ns_queues_create(&queues_, &plan, &rules)) throw std::bad_alloc();
    }
    ~Queues() { ns_queues_destroy(&queues_); }
    Queues(const Queues&) = delete;
    Queues& operator=(const Queues&) = delete;

    ns_queues* core() { return &queues_; }
    const ns_queues* core() const { return &queues_; }
    void push(std::uint32_t q, std::uint64_t task) { check(ns_queues_push_task(&queues_, q, task)); }
    void push_items(std::uint32_t q, const ns_items& items) {
        if (items.count != 0) check(ns_queues_push(&queues_, q, items));
    }
    std::uint64_t pop(std::uint32_t q, bool back) { return ns_queues_pop(&queues_, q, back); }
    std::uint64_t peek(std::uint32_t q, bool back) const { return ns_queues_peek(&queues_, q, back); }

    const ns_ring& entries(std::uint32_t q) const { return queues_.ring[q]; }
    std::uint32_t count() const { return queues_.plan->queue_count; }
    const std::int64_t* lengths() const { return queues_.length; }
    const std::uint8_t* watch() const { return queues_.watch; }
    std::int64_t length(std::uint32_t q) const { return queues_.length[q]; }
    std::int64_t total() const { return queues_.total; }
    std::int64_t capacity(std::uint32_t q) const { return queues_.capacity[q]; }
    std::int64_t low(std::uint32_t q) const { return queues_.thresholds[q].low; }
    std::int64_t& pushes(std::uint32_t q) { return queues_.pushes[q]; }
    std::int64_t pushes(std::uint32_t q) const { return queues_.pushes[q]; }
    std::int64_t peak_sum() const { return ns_queues_peak_sum(&queues_); }
    std::int64_t peak_total() const { return queues_.peak_total; }
    std::int64_t peak_entries() const { return queues_.peak_entries; }
    bool any_marked() const { return ns_queues_any_marked(&queues_); }

private:
    static void check(bool pushed) {
        if (!pushed) throw std::bad_alloc();
    }

    ns_queues queues_{};
};

}  // namespace numasim
