// A Python dict of arrays as the source of a plan (core/plan/plan_reader.h).
#pragma once

#include <nanobind/nanobind.h>

#include <deque>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "plan.hpp"
#include "plan/plan_reader.h"
#include "state/run.hpp"

namespace numasim {

namespace nb = nanobind;

// What is wrong with the arrays of a plan; a ValueError in Python.
struct BadPlan : std::invalid_argument {
    using std::invalid_argument::invalid_argument;
};

inline void require(bool holds, const char* otherwise) {
    if (!holds) throw BadPlan(otherwise);
}

// A plan, whose arrays live as long as this.
class ReadPlan {
public:
    // Every index of the plan is in bounds; else BadPlan.
    explicit ReadPlan(nb::dict fields);
    ~ReadPlan() { ns_plan_reader_destroy(&reader_); }
    ReadPlan(const ReadPlan&) = delete;
    ReadPlan& operator=(const ReadPlan&) = delete;

    const Plan& plan() const { return plan_; }
    const Prepared& prepared() const { return *prepared_; }

    // What the reader asks for, by names as "families.0.accesses.1.traffic".
    bool array(const char* name, ns_field_type type, const void** values, std::uint64_t* count);
    bool integer(const char* name, std::int64_t* value) const;
    const char* text(const char* name);
    bool count(const char* name, std::uint64_t* count) const;

private:
    nb::object find(const char* name) const;

    nb::dict fields_;
    std::vector<nb::object> kept_;  // whose memory the plan borrows
    ns_plan_reader reader_{};
    Plan plan_{};
    std::optional<Prepared> prepared_;
};

}  // namespace numasim
