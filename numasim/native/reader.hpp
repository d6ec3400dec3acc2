// Typed reading of a Python dict: every array is checked for its type and size, every integer for its bounds.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <cstdint>
#include <limits>
#include <span>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

namespace numasim {

namespace nb = nanobind;

// What is wrong with the arrays of a plan; a ValueError in Python.
struct BadPlan : std::invalid_argument {
    using std::invalid_argument::invalid_argument;
};

inline void require(bool holds, const char* otherwise) {
    if (!holds) throw BadPlan(otherwise);
}

// The sentence is only put together where it is needed.
template <typename Sentence>
    requires std::is_invocable_r_v<std::string, Sentence>
void require(bool holds, const Sentence& otherwise) {
    if (!holds) throw BadPlan(otherwise());
}

// Keeps the arrays that it has handed out alive.
class Reader {
public:
    static constexpr std::int64_t ANY_SIZE = -1;

    Reader(nb::dict fields, std::string place) : fields_(std::move(fields)), place_(std::move(place)) {}

    template <typename T>
    std::span<const T> array(const char* name, std::int64_t size) {
        using Array = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
        Array array;
        require(nb::try_cast<Array>(field(name), array, false),
                [&] { return place_ + name + " is not a contiguous array of the right type"; });
        const auto found = static_cast<std::int64_t>(array.shape(0));
        require(size == ANY_SIZE || found == size, [&] {
            return place_ + name + " has " + std::to_string(found) + " entries instead of " + std::to_string(size);
        });
        const std::span<const T> values(array.data(), array.shape(0));
        arrays_.push_back(field(name));
        return values;
    }

    // Records of a structured type, given as bytes.
    template <typename T>
    std::span<const T> records(const char* name) {
        const std::span<const std::uint8_t> bytes = array<std::uint8_t>(name, ANY_SIZE);
        const bool whole =
            bytes.size() % sizeof(T) == 0 && reinterpret_cast<std::uintptr_t>(bytes.data()) % alignof(T) == 0;
        require(whole, [&] { return place_ + name + " is not made of whole, aligned records"; });
        return {reinterpret_cast<const T*>(bytes.data()), bytes.size() / sizeof(T)};
    }

    std::int64_t integer(const char* name, std::int64_t low, std::int64_t high) {
        std::int64_t value = 0;
        require(nb::try_cast(field(name), value, false) && low <= value && value <= high, [&] {
            return place_ + name + " is not an integer from " + std::to_string(low) + " to " + std::to_string(high);
        });
        return value;
    }

    std::uint64_t word(const char* name) {
        std::uint64_t value = 0;
        require(nb::try_cast(field(name), value, false), [&] { return place_ + name + " is not a 64-bit integer"; });
        return value;
    }

    bool flag(const char* name) {
        bool value = false;
        require(nb::try_cast(field(name), value, false), [&] { return place_ + name + " is not true or false"; });
        return value;
    }

    // The position of a name in `names`.
    template <typename Enum>
    Enum choice(const char* name, std::initializer_list<const char*> names) {
        std::string value;
        if (nb::isinstance<nb::str>(field(name))) value = nb::cast<nb::str>(field(name)).c_str();
        int at = 0;
        for (const char* known : names) {
            if (value == known) return static_cast<Enum>(at);
            ++at;
        }
        throw BadPlan(place_ + name + " is not a name that is known");
    }

    // One reader for each dict of a list.
    std::vector<Reader> list(const char* name) {
        const nb::object given = field(name);
        require(nb::isinstance<nb::list>(given), [&] { return place_ + name + " is not a list"; });
        std::vector<Reader> readers;
        for (nb::handle each : nb::cast<nb::list>(given)) {
            require(nb::isinstance<nb::dict>(each), [&] { return place_ + name + " has an entry that is not a dict"; });
            readers.emplace_back(nb::cast<nb::dict>(each), place_ + name + "[" + std::to_string(readers.size()) + "].");
        }
        return readers;
    }

    // Let another reader's arrays live as long as this one's.
    void keep(Reader&& other) {
        for (nb::object& array : other.arrays_) arrays_.push_back(std::move(array));
    }

private:
    nb::object field(const char* name) const {
        require(fields_.contains(name), [&] { return place_ + name + " is missing"; });
        return nb::borrow(fields_[name]);
    }

    nb::dict fields_;
    std::string place_;
    std::vector<nb::object> arrays_;
};

}  // namespace numasim
