// The hashes of a run (model 1.3): sums of record hashes, so the order in which records are emitted does not matter.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>

#include "policy/draws.h"

namespace numasim {

struct Record {
    std::uint64_t time_ps, rank, actor, first, second;
};

constexpr std::size_t RECORD_WORDS = sizeof(Record) / sizeof(std::uint64_t);

// Called with batches of records; they are only valid during the call.
using Listener = std::function<void(const Record* records, std::size_t count)>;

// `mix` over the words of a record, chained.
inline std::uint64_t record_hash(const Record& record) {
    std::uint64_t value = ns_mix(NS_GAMMA ^ record.time_ps);
    value = ns_mix((value + NS_GAMMA) ^ record.rank);
    value = ns_mix((value + NS_GAMMA) ^ record.actor);
    value = ns_mix((value + NS_GAMMA) ^ record.first);
    return ns_mix((value + NS_GAMMA) ^ record.second);
}

// Records gathered in a small buffer and hashed together: the chains of neighbours then overlap in the processor.
class RecordSet {
public:
    explicit RecordSet(const Listener* listener) : listener_(listener) {}

    void add(const Record& record) {
        buffer_[used_++] = record;
        if (used_ == buffer_.size()) flush();
    }

    // Count records that have been hashed elsewhere.
    void add_hashed(std::uint64_t sum) { total_ += sum; }

    std::uint64_t total() {
        flush();
        return total_;
    }

private:
    void flush() {
        std::uint64_t sum = 0;
        for (std::size_t i = 0; i < used_; ++i) sum += record_hash(buffer_[i]);
        total_ += sum;
        if (listener_ != nullptr && used_ != 0) (*listener_)(buffer_.data(), used_);
        used_ = 0;
    }

    std::array<Record, 64> buffer_{};
    std::size_t used_ = 0;
    std::uint64_t total_ = 0;
    const Listener* listener_;
};

}  // namespace numasim
