// What a run leaves behind besides its counters: hashes of its records, rows for a watch, a log for the checks
// (model 1.3).
#pragma once

#include <cstdint>
#include <vector>

#include "record/trace.hpp"
#include "record/watch.hpp"
#include "state/clock.hpp"

namespace numasim {

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
