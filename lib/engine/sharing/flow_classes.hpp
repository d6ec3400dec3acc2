// What flows ask for, and their classes: flows of the same resources are one, of which there is a sum of what they ask
// for.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace numasim {

constexpr std::uint32_t NO_CLASS = UINT32_MAX;

// What a flow uses of a resource when nothing holds it back.
struct Demand {
    std::uint32_t resource;
    std::int64_t units_per_s;
};

class FlowClasses {
public:
    FlowClasses(std::size_t workers, std::size_t resources);

    // The worker's flow asks for this as well, or for nothing any more. It is of no class then.
    void ask(std::uint32_t worker, const Demand& demand);
    void ask_nothing(std::uint32_t worker) { count_[worker] = 0; }
    std::span<const Demand> demands(std::size_t worker) const {
        return {demands_.data() + worker * resources_, count_[worker]};
    }

    // The class of a worker's flow. It joins one, which is told, or leaves its own; then whether flows are left in
    // that.
    std::uint32_t of(std::size_t worker) const { return class_[worker]; }
    std::uint32_t join(std::uint32_t worker);
    bool leave(std::uint32_t worker);

    // [resources] what the flows of a class ask for.
    std::span<const std::int64_t> asked(std::uint32_t number) const { return classes_[number].asked; }

    // Sets of classes, of `words` words: those that have flows; of these, the ones that use a resource.
    std::size_t words() const { return words_; }
    const std::uint64_t* in_use() const { return in_use_.data(); }
    const std::uint64_t* users(std::size_t resource) const { return users_.data() + resource * words_; }

private:
    // `name` is the sum of what `names_` has for its resources.
    struct Class {
        std::uint64_t name = 0;
        std::uint32_t flows = 0, resources = 0;
        std::uint32_t next = NO_CLASS;  // in the same place of the table
        std::vector<std::int64_t> asked;
    };

    std::uint32_t class_for(std::span<const Demand> demands);
    bool is_named(std::uint32_t number, std::uint64_t name, std::span<const Demand> demands) const;
    std::uint32_t found(std::uint64_t name, std::span<const Demand> demands);
    void dissolve(std::uint32_t number, std::span<const Demand> demands);
    void use(std::uint32_t number, std::span<const Demand> demands, bool in);
    std::uint32_t& place_of(std::uint64_t name) { return table_[name % table_.size()]; }

    const std::size_t resources_, words_;      // there are no more classes than workers
    std::vector<Demand> demands_;              // [workers][resources], the first `count_` of each
    std::vector<std::uint32_t> count_;         // [workers]
    std::vector<std::uint32_t> class_;         // [workers]
    std::vector<std::uint64_t> names_;         // [resources]
    std::vector<Class> classes_;               // [workers]
    std::vector<std::uint32_t> free_, table_;  // classes without flows; the first class of each place by name
    std::vector<std::uint64_t> users_;         // [resources] sets of classes
    std::vector<std::uint64_t> in_use_;        // a set of classes
};

}  // namespace numasim
