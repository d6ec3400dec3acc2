// What a run leaves behind beside its counters: hashes of its records, rows for a watch, and a log for the checks
// (model 1.3).
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "policy/draws.h"
#include "state/clock.hpp"
#include "state/worker.hpp"

namespace numasim {

// The hashes of a run (model 1.3): sums of record hashes, so the order in which records are emitted does not matter.

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

// What a run does, told while it goes on (numasim/engine/observe/watch.py): rows of whole numbers, in batches.

// Kinds of rows, as there.
enum class Watched : std::int64_t { WORK, OVERHEAD, IDLE, PARKED, BARRIER, STEAL, LENGTH, LOAD, PHASE };

struct WatchedRow {
    Watched kind;
    std::int64_t actor, begin_ps, end_ps, first, second, third;
};

constexpr std::size_t WATCHED_COLUMNS = sizeof(WatchedRow) / sizeof(std::int64_t);

// Called with batches of rows; they are only valid during the call.
using Watcher = std::function<void(const WatchedRow* rows, std::size_t count)>;

class Watch {
public:
    static constexpr std::size_t FLUSH_ROWS = 65'536;

    explicit Watch(Watcher watcher) : watcher_(std::move(watcher)) { rows_.reserve(FLUSH_ROWS); }

    void tell(Watched kind, std::int64_t actor, std::int64_t begin_ps, std::int64_t end_ps, std::int64_t first = 0,
              std::int64_t second = 0, std::int64_t third = 0) {
        rows_.push_back({kind, actor, begin_ps, end_ps, first, second, third});
        if (rows_.size() == FLUSH_ROWS) flush();
    }

    void flush() {
        if (!rows_.empty()) watcher_(rows_.data(), rows_.size());
        rows_.clear();
    }

    // From `time_ps` on, `used` bytes (or faults) per second of `resource` are in use.
    void load(std::int64_t time_ps, std::int64_t resource, std::int64_t used) {
        tell(Watched::LOAD, resource, time_ps, time_ps, used);
    }

    // From `time_ps` on, there are `tasks` in `queue`.
    void length(std::int64_t time_ps, std::int64_t queue, std::int64_t tasks) {
        tell(Watched::LENGTH, queue, time_ps, time_ps, tasks);
    }

    // The worker's stretch from `began_ps` to `end_ps`; unreported time before it is overhead.
    void stretch(Worker& w, Watched kind, std::int64_t end_ps, std::int64_t first = 0, std::int64_t second = 0,
                 std::int64_t third = 0) {
        const std::int64_t begin_ps = std::min(w.began_ps, end_ps);
        overhead(w, begin_ps);
        tell(kind, w.id, begin_ps, end_ps, first, second, third);
        w.reported_until_ps = end_ps;
    }

    // Unreported time up to `end_ps` was overhead.
    void overhead(Worker& w, std::int64_t end_ps) {
        if (end_ps <= w.reported_until_ps) return;
        tell(Watched::OVERHEAD, w.id, w.reported_until_ps, end_ps);
        w.reported_until_ps = end_ps;
    }

private:
    Watcher watcher_;
    std::vector<WatchedRow> rows_;
};

// What a run leaves behind besides its counters: hashes of its records, rows for a watch, a log for the checks
// (model 1.3).

// One stretch of work, for the checks.
struct Executed {
    std::int64_t task, segment, worker, start_ps, end_ps;
};

// A lock, or another synchronisation object, was an actor's from one time to another.
struct Held {
    std::int64_t word, actor, start_ps, end_ps;
};

class Recorder {
public:
    Recorder(const Clock& clock, const Listener* listener, Watch* watch, bool keep_log)
        : clock_(clock),
          steps_(listener),
          details_(listener),
          watch_(watch),
          listened_(listener != nullptr),
          keeps_log_(keep_log) {}

    void step(std::int64_t now_ps, Rank rank, std::uint32_t actor, std::int64_t first, std::int64_t second) {
        steps_.add(record_of(now_ps, rank, actor, first, second));
    }
    void detail(std::int64_t now_ps, Rank rank, std::uint32_t actor, std::int64_t first, std::int64_t second) {
        details_.add(record_of(now_ps, rank, actor, first, second));
    }

    // Count steps that have been hashed elsewhere.
    void add_hashed_steps(std::uint64_t sum) { steps_.add_hashed(sum); }
    void lose_details() { complete_ = false; }

    // Rows for the watch, if there is one.
    Watch* watch() const { return watch_; }  // or nullptr
    void length(std::uint32_t q, std::int64_t tasks) {
        if (watch_ != nullptr) watch_->length(clock_.now_ps(), q, tasks);
    }
    void row(Watched kind, std::int64_t actor, std::int64_t begin_ps, std::int64_t first = 0, std::int64_t second = 0,
             std::int64_t third = 0) {
        if (watch_ != nullptr) watch_->tell(kind, actor, begin_ps, clock_.now_ps(), first, second, third);
    }
    // The worker's stretch since `began_ps`, or all unreported time, ends now.
    void stretch(Worker& w, Watched kind, std::int64_t first = 0, std::int64_t second = 0, std::int64_t third = 0) {
        if (watch_ != nullptr) watch_->stretch(w, kind, clock_.now_ps(), first, second, third);
    }
    void overhead(Worker& w) {
        if (watch_ != nullptr) watch_->overhead(w, clock_.now_ps());
    }

    bool listened() const { return listened_; }
    bool keeps_log() const { return keeps_log_; }
    void log(const Executed& stretch) {
        if (keeps_log_) log_.push_back(stretch);
    }
    void log(const Held& held) {
        if (keeps_log_) held_.push_back(held);
    }

    // Let listeners and watchers hear everything up to now.
    void flush() {
        steps_.total();
        details_.total();
        if (watch_ != nullptr) watch_->flush();
    }

    std::uint64_t steps_hash() { return steps_.total(); }
    std::uint64_t details_hash() { return details_.total(); }
    bool complete() const { return complete_; }  // whether the details hold every record
    const std::vector<Executed>& executed() const { return log_; }
    const std::vector<Held>& held() const { return held_; }

private:
    static Record record_of(std::int64_t now_ps, Rank rank, std::uint32_t actor, std::int64_t first,
                            std::int64_t second) {
        return {static_cast<std::uint64_t>(now_ps), rank, actor, static_cast<std::uint64_t>(first),
                static_cast<std::uint64_t>(second)};
    }

    const Clock& clock_;
    RecordSet steps_, details_;
    Watch* const watch_;
    const bool listened_, keeps_log_;
    bool complete_ = true;
    std::vector<Executed> log_;
    std::vector<Held> held_;
};

}  // namespace numasim
