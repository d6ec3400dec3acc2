// The Python module numasim.engine.native._engine: arrays in, arrays out.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/vector.h>

#include <cstdint>
#include <cstdlib>
#include <functional>
#include <new>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "engine.hpp"
#include "longest_chains.hpp"
#include "plan.hpp"

namespace nb = nanobind;
using namespace numasim;

namespace {

// ---- plans: a Python dict of arrays as the source of a plan (core/plan/plan_reader.h) ------------------------------

// A mistake in the arrays of a plan. Python sees it as a ValueError.
struct BadPlan : std::invalid_argument {
    using std::invalid_argument::invalid_argument;
};

inline void require(bool holds, const char* otherwise) {
    if (!holds) throw BadPlan(otherwise);
}

template <typename T>
bool view_of(nb::handle given, const void** values, std::uint64_t* count) {
    nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu> array;
    if (!nb::try_cast(given, array, false)) return false;
    *values = array.data();
    *count = array.shape(0);
    return true;
}

// A plan that has been read from a Python dict. The plan's arrays live as long as this object.
class ReadPlan {
public:
    // Read a plan whose every index is in bounds; throw BadPlan for any other plan.
    explicit ReadPlan(nb::dict fields) : fields_(std::move(fields)) {
        reader_.source = {
            .context = this,
            .array = [](void* context, const char* name, ns_field_type type, const void** values,
                        std::uint64_t* count) { return of(context).array(name, type, values, count); },
            .integer = [](void* context, const char* name,
                          std::int64_t* value) { return of(context).integer(name, value); },
            .text = [](void* context, const char* name) { return of(context).text(name); },
            .count = [](void* context, const char* name,
                        std::uint64_t* count) { return of(context).count(name, count); },
        };
        if (ns_full_plan_read(&reader_, &plan_)) {
            prepared_.emplace(plan_);
            return;
        }
        ns_pieces_release(&reader_.memory);
        if (reader_.mistake == NS_PLAN_NO_MEMORY) throw std::bad_alloc();
        throw BadPlan(reader_.problem);
    }

    ~ReadPlan() { ns_pieces_release(&reader_.memory); }
    ReadPlan(const ReadPlan&) = delete;
    ReadPlan& operator=(const ReadPlan&) = delete;

    const Plan& plan() const { return plan_; }
    const Prepared& prepared() const { return *prepared_; }

private:
    static ReadPlan& of(void* context) { return *static_cast<ReadPlan*>(context); }

    // ---- answers to the plan reader, which asks by names such as "families.0.accesses.1.traffic"

    bool array(const char* name, ns_field_type type, const void** values, std::uint64_t* count) {
        const nb::object given = find(name);
        bool found = false;
        if (!given.is_valid()) return false;
        switch (type) {
            case NS_TYPE_U8: found = view_of<std::uint8_t>(given, values, count); break;
            case NS_TYPE_I32: found = view_of<std::int32_t>(given, values, count); break;
            case NS_TYPE_U32: found = view_of<std::uint32_t>(given, values, count); break;
            case NS_TYPE_I64: found = view_of<std::int64_t>(given, values, count); break;
            case NS_TYPE_U64: found = view_of<std::uint64_t>(given, values, count); break;
        }
        if (found) kept_.push_back(given);
        return found;
    }

    bool integer(const char* name, std::int64_t* value) const {
        const nb::object given = find(name);
        if (!given.is_valid()) return false;
        bool flag = false;
        if (!nb::try_cast(given, flag, false)) return nb::try_cast(given, *value, false);
        *value = flag;
        return true;
    }

    const char* text(const char* name) {
        const nb::object given = find(name);
        if (!given.is_valid() || !nb::isinstance<nb::str>(given)) return nullptr;
        kept_.push_back(given);
        return nb::borrow<nb::str>(given).c_str();
    }

    bool count(const char* name, std::uint64_t* count) const {
        const nb::object given = find(name);
        if (!given.is_valid() || !nb::isinstance<nb::list>(given)) return false;
        *count = nb::len(given);
        return true;
    }

    // Return the value with this name, or an invalid object if there is no such value.
    nb::object find(const char* name) const {
        nb::object here = fields_;
        for (std::string rest = name; !rest.empty();) {
            const std::size_t dot = rest.find('.');
            const std::string step = rest.substr(0, dot);
            rest = dot == std::string::npos ? "" : rest.substr(dot + 1);
            if (nb::isinstance<nb::dict>(here)) {
                const nb::dict fields = nb::borrow<nb::dict>(here);
                if (!fields.contains(step.c_str())) return {};
                here = nb::borrow(fields[step.c_str()]);
            } else if (nb::isinstance<nb::list>(here)) {
                here = nb::borrow(nb::borrow<nb::list>(here)[std::strtoull(step.c_str(), nullptr, 10)]);
            } else {
                return {};
            }
        }
        return here;
    }

    nb::dict fields_;
    std::vector<nb::object> kept_;  // the Python objects whose memory the plan borrows
    ns_plan_reader reader_{};
    Plan plan_{};
    std::optional<Prepared> prepared_;
};

// ---- results -------------------------------------------------------------------------------------------------------

// A NumPy array of this shape. The array takes over the values.
template <typename T>
nb::object owned(std::vector<T>&& values, std::initializer_list<std::size_t> shape) {
    auto* kept = new std::vector<T>(std::move(values));
    const nb::capsule owner(kept, [](void* held) noexcept { delete static_cast<std::vector<T>*>(held); });
    return nb::cast(nb::ndarray<nb::numpy, T>(kept->data(), shape, owner));
}
nb::object owned(std::vector<std::int64_t>&& values) {
    const std::size_t count = values.size();
    return owned(std::move(values), {count});
}

// A NumPy array that owns a copy of `count` rows of `columns` values.
template <typename T>
nb::object table(const T* values, std::size_t count, std::size_t columns) {
    return owned(std::vector<T>(values, values + count * columns), {count, columns});
}

// A table of records that consist of 64-bit integers.
template <typename Row, typename Word = std::int64_t>
nb::object rows_of(std::span<const Row> rows) {
    return table(reinterpret_cast<const Word*>(rows.data()), rows.size(), sizeof(Row) / sizeof(Word));
}

template <typename Row, typename Field>
nb::object column(const std::vector<Row>& rows, Field field) {
    std::vector<std::int64_t> values;
    values.reserve(rows.size());
    for (const Row& row : rows) values.push_back(field(row));
    return owned(std::move(values));
}

struct NamedCounter {
    const char* name;
    std::int64_t ns_counters::* value;
};

#define NAMED_COUNTER(name, NAME) {#name, &ns_counters::name},
constexpr NamedCounter COUNTERS[] = {NS_EACH_COUNTER(NAMED_COUNTER)};
#undef NAMED_COUNTER

nb::dict result_of(Engine& engine, bool keep_log) {
    nb::dict result, workers, producers, bytes;
    Components& parts = engine.parts();
    Run& run = parts.run;
    for (const NamedCounter& counter : COUNTERS) {
        workers[counter.name] = column(run.team, [&counter](const Worker& w) { return w.counters.*counter.value; });
    }
    const std::vector<Producer>& made_by = parts.source.producers();
    producers["node"] = column(made_by, [](const Producer& p) { return std::int64_t{p.node}; });
    producers["overhead_ps"] = column(made_by, [](const Producer& p) { return p.overhead_ps; });
    producers["parked_ps"] = column(made_by, [](const Producer& p) { return p.parked_ps; });
    const MemorySystem& memory = parts.memory;
    const Traffic* const traffic = memory.traffic();
    const std::size_t nodes = run.plan.nodes;
    result["workers"] = workers;
    result["producers"] = producers;
    result["node_attempts"] = table(run.steals.attempts, nodes, nodes);
    result["node_success"] = table(run.steals.successes, nodes, nodes);
    result["node_conflicts"] = table(parts.transactions.node_conflicts().data(), nodes, nodes);
    result["object_conflicts"] = owned(parts.transactions.object_conflicts());
    result["node_bytes"] = table(memory.pages().node_bytes, nodes, nodes);
    for (std::size_t kind = 0; traffic != nullptr && kind < TRAFFIC_KINDS; ++kind) {
        bytes[TRAFFIC_NAMES[kind]] = table(traffic->bytes[kind].data(), nodes, nodes);
    }
    result["traffic"] = bytes;
    result["cached_bytes"] = traffic != nullptr ? traffic->cached_bytes : 0;
    result["prefetched_bytes"] = traffic != nullptr ? traffic->prefetched_bytes : 0;
    result["used_bytes"] = traffic != nullptr ? traffic->used_bytes : 0;
    result["sync_counts"] = rows_of<SyncCounts>(parts.sync.counts());
    result["phase_table"] = rows_of<PhaseRow>(engine.phase_rows());
    result["makespan_ps"] = run.clock.now_ps();
    result["span_ps"] = parts.source.span_ps();
    result["page_faults"] = memory.pages().placed + (traffic != nullptr ? traffic->placed : 0);
    result["pages_unmapped"] = traffic != nullptr ? traffic->unmapped : 0;
    result["pages_migrated"] = memory.pages().migrated;
    std::vector<std::int64_t> node_pages(nodes, 0);
    ns_page_map_count(memory.pages().map, node_pages.data());
    result["node_pages"] = owned(std::move(node_pages));
    result["passed_items"] = engine.passed_items();
    result["events"] = run.clock.events();
    result["peak_tasks"] = engine.peak_tasks();
    result["task_bytes"] = engine.task_bytes();
    result["steps_hash"] = run.recorder.steps_hash();
    result["details_hash"] = run.recorder.details_hash();
    result["complete"] = run.recorder.complete();
    if (keep_log) {
        result["log"] = rows_of<Executed>(run.recorder.executed());
        result["held"] = rows_of<Held>(run.recorder.held());
    }
    return result;
}

// The values of an array that Python has returned. Throws if the array has another type or number of dimensions.
template <typename T>
std::span<const T> values_of(nb::handle array) {
    const auto found = nb::cast<nb::ndarray<const T, nb::ndim<1>, nb::c_contig>>(array);
    return {found.data(), found.size()};
}

// A controller in Python (numasim.engine.iteration_control.IterationControl), which acts before the first iteration and
// at the end of each iteration.
class PythonBoundary : public Boundary {
public:
    explicit PythonBoundary(nb::object control)
        : control_(std::move(control)), end_iteration_(control_.attr("end_iteration_at")) {}

    void begin(Engine& engine) override {
        const nb::gil_scoped_acquire gil;
        follow(engine, control_.attr("begin")());
    }

    void end_iteration(Engine& engine) override {
        const nb::gil_scoped_acquire gil;
        follow(engine, end_iteration_(owned(engine.told())));
    }

private:
    static void follow(Engine& engine, nb::object decision) {
        if (decision.is_none()) return;
        const nb::object policy = decision.attr("policy");
        if (!policy.is_none()) engine.parts().memory.choose_policy(nb::cast<std::uint64_t>(policy));
        engine.parts().run.profile_ps = nb::cast<std::int64_t>(decision.attr("profile_ps"));
        TaskControls& controls = engine.parts().run.controls;
        const nb::object tiers = decision.attr("tiers"), labels = decision.attr("labels");
        const nb::object switches = decision.attr("switches");
        if (!tiers.is_none()) controls.set_tiers(values_of<std::uint8_t>(tiers));
        if (!labels.is_none()) controls.set_labels(values_of<std::int32_t>(labels));
        if (!switches.is_none()) controls.set_switches(nb::cast<std::uint64_t>(switches));
    }

    nb::object control_, end_iteration_;
};

void check_signals() {
    const nb::gil_scoped_acquire gil;
    if (PyErr_CheckSignals() != 0) throw nb::python_error();
}

// Return a function that calls `callback` with a table of records.
template <typename Row, typename Word>
std::function<void(const Row*, std::size_t)> passing_to(nb::object callback) {
    if (callback.is_none()) return {};
    return [callback](const Row* rows, std::size_t count) {
        const nb::gil_scoped_acquire gil;
        callback(rows_of<Row, Word>({rows, count}));
    };
}

nb::dict run(const ReadPlan& read, std::uint64_t seed, bool keep_log, nb::object listening, nb::object watching,
             nb::object controlling) {
    const Plan& plan = read.plan();
    const Listener listener = passing_to<Record, std::uint64_t>(listening);
    const Watcher watcher = passing_to<WatchedRow, std::int64_t>(watching);
    require(!watcher || (!plan.skip && !plan.skipping), "a run that is watched skips nothing");
    std::optional<PythonBoundary> boundary;
    if (!controlling.is_none()) {
        require(!plan.skipping && !plan.graph.folded, "a run with a controller has an event and a row for every task");
        boundary.emplace(controlling);
    }
    Engine engine(read.prepared(), seed, listener ? &listener : nullptr, watcher ? &watcher : nullptr, check_signals,
                  keep_log, boundary ? &*boundary : nullptr);
    {
        const nb::gil_scoped_release released;
        engine.run();
    }
    return result_of(engine, keep_log);
}

// [phases] the time of each phase's longest chain of work; see longest_chains.hpp.
std::vector<std::int64_t> chains_of(const ReadPlan& read,
                                    const nb::ndarray<const std::int64_t, nb::ndim<1>, nb::c_contig>& segment_ps) {
    require(segment_ps.size() == static_cast<std::size_t>(read.plan().times.segments),
            "segment_ps has an entry for each segment");
    return longest_chains_ps(read.plan(), segment_ps.data());
}

}  // namespace

NB_MODULE(_engine, module) {
    module.doc() = "The compiled engine of numasim";
    nb::set_leak_warnings(false);
    static const nb::handle deadlock = nb::exception<Deadlock>(module, "Deadlock", PyExc_RuntimeError);
    nb::register_exception_translator([](const std::exception_ptr& thrown, void*) {
        try {
            std::rethrow_exception(thrown);
        } catch (const BadPlan& error) {
            PyErr_SetString(PyExc_ValueError, error.what());
        } catch (const Deadlock& error) {
            PyErr_SetObject(deadlock.ptr(), nb::make_tuple(error.tasks, error.time_ps, error.passed).ptr());
        }
    });
    nb::class_<ReadPlan>(module, "Plan", "A plan that has been read and checked, for any number of runs.")
        .def(nb::init<nb::dict>(), nb::arg("fields"), "Read a dict of arrays (numasim.engine.native makes it).");
    module.def("longest_chains_ps", &chains_of, nb::arg("plan"), nb::arg("segment_ps"),
               "The longest chain of work of each phase if segments take these times.");
    module.def("run", &run, nb::arg("plan"), nb::arg("seed"), nb::arg("keep_log"), nb::arg("listener").none(),
               nb::arg("watcher").none() = nb::none(), nb::arg("control").none() = nb::none(),
               "Run a plan with a seed and return a dict of arrays.");
}
