#include "read_plan.hpp"

#include <nanobind/ndarray.h>

#include <cstdlib>
#include <new>

namespace numasim {

namespace {

ReadPlan& of(void* context) { return *static_cast<ReadPlan*>(context); }

ns_plan_source source_of(ReadPlan* plan) {
    return {
        .context = plan,
        .array = [](void* context, const char* name, ns_field_type type, const void** values,
                    std::uint64_t* count) { return of(context).array(name, type, values, count); },
        .integer = [](void* context, const char* name,
                      std::int64_t* value) { return of(context).integer(name, value); },
        .text = [](void* context, const char* name) { return of(context).text(name); },
        .count = [](void* context, const char* name, std::uint64_t* count) { return of(context).count(name, count); },
    };
}

template <typename T>
bool view_of(nb::handle given, const void** values, std::uint64_t* count) {
    nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu> array;
    if (!nb::try_cast(given, array, false)) return false;
    *values = array.data();
    *count = array.shape(0);
    return true;
}

}  // namespace

ReadPlan::ReadPlan(nb::dict fields) : fields_(std::move(fields)) {
    reader_.source = source_of(this);
    if (ns_full_plan_read(&reader_, &plan_)) {
        prepared_.emplace(plan_);
        return;
    }
    const ns_plan_mistake mistake = reader_.mistake;
    ns_plan_reader_destroy(&reader_);
    if (mistake == NS_PLAN_NO_MEMORY) throw std::bad_alloc();
    throw BadPlan(reader_.problem);
}

nb::object ReadPlan::find(const char* name) const {
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

bool ReadPlan::array(const char* name, ns_field_type type, const void** values, std::uint64_t* count) {
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

bool ReadPlan::integer(const char* name, std::int64_t* value) const {
    const nb::object given = find(name);
    if (!given.is_valid()) return false;
    bool flag = false;
    if (!nb::try_cast(given, flag, false)) return nb::try_cast(given, *value, false);
    *value = flag;
    return true;
}

const char* ReadPlan::text(const char* name) {
    const nb::object given = find(name);
    if (!given.is_valid() || !nb::isinstance<nb::str>(given)) return nullptr;
    kept_.push_back(given);
    return nb::borrow<nb::str>(given).c_str();
}

bool ReadPlan::count(const char* name, std::uint64_t* count) const {
    const nb::object given = find(name);
    if (!given.is_valid() || !nb::isinstance<nb::list>(given)) return false;
    *count = nb::len(given);
    return true;
}

}  // namespace numasim
