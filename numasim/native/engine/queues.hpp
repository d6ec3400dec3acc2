// The task queues of a run: contents, lengths, thresholds, watch bits; equal to numasim/engine/queues.py.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "policy/plan.h"
#include "policy/ranges.h"
#include "policy/thresholds.h"

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
    const T& at(std::size_t i) const { return slots_[(head_ + i) & mask_]; }

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
    Queues(const ns_plan& plan, const ns_threshold_rules& rules);

    void push(std::uint32_t q, std::uint64_t task) {
        entries_[q].push_back({task, 1, 1});
        ++length_[q];
        peak_total_ = std::max(peak_total_, ++total_);
        peak_entries_ = std::max(peak_entries_, ++entries_held_);
        if (watched_) pushed(q, 1);
    }

    void push_items(std::uint32_t q, const ns_items& items) {
        if (items.count == 0) return;
        entries_[q].push_back(items);
        length_[q] += items.count;
        total_ += items.count;
        peak_total_ = std::max(peak_total_, total_);
        peak_entries_ = std::max(peak_entries_, ++entries_held_);
        pushed(q, items.count);
    }

    // Take the task at the back or the front of queue `q`, which is not empty.
    std::uint64_t pop(std::uint32_t q, bool back) {
        Ring<ns_items>& entries = entries_[q];
        ns_items& entry = back ? entries.back() : entries.front();
        std::uint64_t task = entry.first;
        if (entry.count == 1) {
            --entries_held_;
            back ? entries.pop_back() : entries.pop_front();
        } else {
            task = back ? ns_items_take_back(&entry) : ns_items_take_front(&entry);
        }
        --length_[q];
        --total_;
        if (watched_) mark(q);
        return task;
    }

    // The task that `pop` would take.
    std::uint64_t peek(std::uint32_t q, bool back) const {
        const ns_items& entry = back ? entries_[q].back() : entries_[q].front();
        return back ? entry.first + std::uint64_t{entry.step} * (entry.count - 1) : entry.first;
    }

    void set_thresholds(std::uint32_t q, ns_thresholds thresholds) {
        thresholds_[q] = thresholds;
        mark(q);
    }

    Ring<ns_items>& entries(std::uint32_t q) { return entries_[q]; }
    const Ring<ns_items>& entries(std::uint32_t q) const { return entries_[q]; }
    std::uint32_t count() const { return static_cast<std::uint32_t>(length_.size()); }
    const std::int64_t* lengths() const { return length_.data(); }
    const std::uint8_t* watch() const { return bits_.data(); }
    std::int64_t length(std::uint32_t q) const { return length_[q]; }
    std::int64_t total() const { return total_; }
    std::int64_t capacity(std::uint32_t q) const { return capacity_[q]; }
    std::int64_t low(std::uint32_t q) const { return thresholds_[q].low; }
    std::int64_t& pushes(std::uint32_t q) { return pushes_[q]; }
    std::int64_t pushes(std::uint32_t q) const { return pushes_[q]; }
    std::int64_t peak_sum() const;
    std::int64_t peak_total() const { return peak_total_; }
    std::int64_t peak_entries() const { return peak_entries_; }
    bool any_marked() const;

private:
    void pushed(std::uint32_t q, std::int64_t count);
    void mark(std::uint32_t q) { ns_watch_mark(&plan_, bits_.data(), q, length_[q], thresholds_[q]); }

    const ns_plan& plan_;
    bool watched_;
    std::vector<Ring<ns_items>> entries_;
    std::vector<std::int64_t> length_, capacity_, pushes_, peak_;
    std::vector<ns_thresholds> thresholds_;
    std::vector<std::uint8_t> bits_;
    std::int64_t total_ = 0, peak_total_ = 0;
    std::int64_t entries_held_ = 0, peak_entries_ = 0;  // an entry is a task or a range of items
};

}  // namespace numasim
