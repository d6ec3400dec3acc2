// Results of a run that are no counters: hashes of the run's records, rows for a watcher, and a log for checks of the
// run (model 1.3).
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "plan.hpp"
#include "state/clock.hpp"
#include "state/worker.hpp"

namespace numasim {

// ---- records --------------------------------------------------------------------------------------------------------

struct Record {
    std::uint64_t time_ps, rank, actor, first, second;
};

constexpr std::size_t RECORD_WORDS = sizeof(Record) / sizeof(std::uint64_t);

// Called with batches of records, which are valid only during the call.
using Listener = std::function<void(const Record* records, std::size_t count)>;

// The sum of the hashes of `count` records. A record's hash h begins as 0; each word makes it mix((h + GAMMA) ^ word).
NUMASIM_VECTORS static std::uint64_t hash_sum(const std::uint64_t* words, std::size_t stride, std::size_t count) {
    std::uint64_t sum = 0;
    for (std::size_t i = 0; i < count; ++i) {
        std::uint64_t value = 0;
        for (std::size_t word = 0; word < RECORD_WORDS; ++word)
            value = ns_mix((value + NS_GAMMA) ^ words[word * stride + i]);
        sum += value;
    }
    return sum;
}

// The hash of a set of records: the sum of the records' hashes, so that the order of the records does not matter.
// Records are gathered in a small buffer, word by word, and hashed together.
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

    // Add records by the sum of their hashes.
    void add_hashed(std::uint64_t sum) { total_ += sum; }

    std::uint64_t total() {
        flush();
        return total_;
    }

private:
    static constexpr std::size_t BUFFERED = 64;
    using Words = std::array<std::uint64_t, BUFFERED>;

    [[gnu::noinline]] void flush() {
        total_ += hash_sum(words_[0].data(), BUFFERED, used_);
        if (listener_ != nullptr && used_ != 0) {
            std::array<Record, BUFFERED> records;
            for (std::size_t i = 0; i < used_; ++i)
                records[i] = {words_[0][i], words_[1][i], words_[2][i], words_[3][i], words_[4][i]};
            (*listener_)(records.data(), used_);
        }
        used_ = 0;
    }

    std::array<Words, RECORD_WORDS> words_{};
    std::size_t used_ = 0;
    std::uint64_t total_ = 0;
    const Listener* listener_;
};

// ---- rows for a watcher, told while a run goes on -------------------------------------------------------------------

// Kinds of rows, in the order of numasim/engine/observe/watch.py.
enum class Watched : std::int64_t { WORK, OVERHEAD, IDLE, PARKED, BARRIER, STEAL, LENGTH, LOAD, PHASE };

struct WatchedRow {
    Watched kind;
    std::int64_t actor, begin_ps, end_ps, first, second, third;
};

// Called with batches of rows, which are valid only during the call.
using Watcher = std::function<void(const WatchedRow* rows, std::size_t count)>;

// ---- the log --------------------------------------------------------------------------------------------------------

// A segment that a worker has executed.
struct Executed {
    std::int64_t task, segment, worker, start_ps, end_ps;
};

// A synchronisation object that an actor held from `start_ps` to `end_ps`.
struct Held {
    std::int64_t word, actor, start_ps, end_ps;
};

// ---- all together ---------------------------------------------------------------------------------------------------

class Recorder {
public:
    Recorder(const Clock& clock, const Listener* listener, const Watcher* watcher, bool keep_log)
        : clock_(clock),
          steps_(listener),
          details_(listener),
          watcher_(watcher),
          listened_(listener != nullptr),
          keeps_log_(keep_log) {}

    void step(std::int64_t now_ps, Rank rank, std::uint32_t actor, std::int64_t first, std::int64_t second) {
        steps_.add(record_of(now_ps, rank, actor, first, second));
    }
    void detail(std::int64_t now_ps, Rank rank, std::uint32_t actor, std::int64_t first, std::int64_t second) {
        details_.add(record_of(now_ps, rank, actor, first, second));
    }
    // Add records of steps by the sum of their hashes.
    void add_hashed_steps(std::uint64_t sum) { steps_.add_hashed(sum); }
    // Some records of details are left out from now on (a shortcut makes none).
    void lose_details() { complete_ = false; }

    // ---- Rows for the watcher, if there is one.
    bool watched() const { return watcher_ != nullptr; }
    // Add a row: what an actor has done from `begin_ps` until now.
    void row(Watched kind, std::int64_t actor, std::int64_t begin_ps, std::int64_t first = 0, std::int64_t second = 0,
             std::int64_t third = 0) {
        if (watched()) tell(kind, actor, begin_ps, clock_.now_ps(), first, second, third);
    }
    // From now on there are `tasks` tasks in a queue.
    void length(std::uint32_t q, std::int64_t tasks) { row(Watched::LENGTH, q, clock_.now_ps(), tasks); }
    // From now on `used` units per second of a resource are in use.
    void load(std::size_t resource, std::int64_t used) {
        row(Watched::LOAD, static_cast<std::int64_t>(resource), clock_.now_ps(), used);
    }
    // Add a row for what the worker has done from `w.began_ps` until now. Earlier time of the worker that is in no row
    // gets a row of overhead.
    void stretch(Worker& w, Watched kind, std::int64_t first = 0, std::int64_t second = 0, std::int64_t third = 0) {
        stretch_to(clock_.now_ps(), w, kind, first, second, third);
    }
    // As `stretch`, for something that has ended at `end_ps`.
    void stretch_to(std::int64_t end_ps, Worker& w, Watched kind, std::int64_t first = 0, std::int64_t second = 0,
                    std::int64_t third = 0) {
        if (!watched()) return;
        const std::int64_t begin_ps = std::min(w.began_ps, end_ps);
        overhead(w, begin_ps);
        tell(kind, w.id, begin_ps, end_ps, first, second, third);
        w.reported_until_ps = end_ps;
    }
    // The worker's time until now that is in no row gets a row of overhead.
    void overhead(Worker& w) {
        if (watched()) overhead(w, clock_.now_ps());
    }

    bool listened() const { return listened_; }
    bool keeps_log() const { return keeps_log_; }
    void log(const Executed& stretch) {
        if (keeps_log_) log_.push_back(stretch);
    }
    void log(const Held& held) {
        if (keeps_log_) held_.push_back(held);
    }

    // Pass all records and rows until now to the listener and the watcher.
    void flush() {
        steps_.total();
        details_.total();
        if (!rows_.empty()) (*watcher_)(rows_.data(), rows_.size());
        rows_.clear();
    }

    std::uint64_t steps_hash() { return steps_.total(); }
    std::uint64_t details_hash() { return details_.total(); }
    bool complete() const { return complete_; }  // whether no details are left out
    const std::vector<Executed>& executed() const { return log_; }
    const std::vector<Held>& held() const { return held_; }

private:
    static constexpr std::size_t FLUSH_ROWS = 65'536;

    static Record record_of(std::int64_t now_ps, Rank rank, std::uint32_t actor, std::int64_t first,
                            std::int64_t second) {
        return {static_cast<std::uint64_t>(now_ps), rank, actor, static_cast<std::uint64_t>(first),
                static_cast<std::uint64_t>(second)};
    }
    void overhead(Worker& w, std::int64_t end_ps) {
        if (end_ps <= w.reported_until_ps) return;
        tell(Watched::OVERHEAD, w.id, w.reported_until_ps, end_ps, 0, 0, 0);
        w.reported_until_ps = end_ps;
    }

    void tell(Watched kind, std::int64_t actor, std::int64_t begin_ps, std::int64_t end_ps, std::int64_t first,
              std::int64_t second, std::int64_t third) {
        rows_.push_back({kind, actor, begin_ps, end_ps, first, second, third});
        if (rows_.size() == FLUSH_ROWS) flush();
    }

    const Clock& clock_;
    RecordSet steps_, details_;
    const Watcher* const watcher_;
    std::vector<WatchedRow> rows_;  // not told to the watcher yet
    const bool listened_, keeps_log_;
    bool complete_ = true;
    std::vector<Executed> log_;
    std::vector<Held> held_;
};

}  // namespace numasim
