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

// Records gathered in a small buffer, word by word, and hashed together.
class RecordSet {
public:
    explicit RecordSet(const Listener* listener) : listener_(listener) {}

    [[gnu::always_inline]] void add(const Record& record) {
        const std::size_t at = used_++;
        words_[0][at] = record.time_ps;
        words_[1][at] = record.rank;
        words_[2][at] = record.actor;
        words_[3][at] = record.first;
        words_[4][at] = record.second;
        if (at + 1 == BUFFERED) flush();
    }

    // Count records that have been hashed elsewhere.
    void add_hashed(std::uint64_t sum) { total_ += sum; }

    std::uint64_t total() {
        flush();
        return total_;
    }

private:
    static constexpr std::size_t BUFFERED = 64;
    using Words = std::array<std::uint64_t, BUFFERED>;

    [[gnu::noinline]] void flush();

    std::array<Words, RECORD_WORDS> words_{};
    std::size_t used_ = 0;
    std::uint64_t total_ = 0;
    const Listener* listener_;
};

}  // namespace numasim
