/* Views of arrays. A view is a pointer to entries that the view does not own, with their number. In C++ a view is a
 * range: `for` loops over its entries. */
#pragma once

#include <assert.h>
#include <stdint.h>

#ifdef __cplusplus
#include <cstddef>

#define NS_VIEW_METHODS(name, type)                           \
    const type *data() const { return at; }                   \
    std::size_t size() const { return count; }                \
    bool empty() const { return count == 0; }                 \
    const type *begin() const { return at; }                  \
    const type *end() const { return at + count; }            \
    const type &front() const { return (*this)[0]; }          \
    const type &back() const { return (*this)[count - 1]; }   \
    name subspan(std::size_t first, std::size_t size) const { \
        assert(first <= count && size <= count - first);      \
        return {at + first, size};                            \
    }                                                         \
    const type &operator[](std::size_t i) const {             \
        assert(i < count);                                    \
        return at[i];                                         \
    }
#else
#define NS_VIEW_METHODS(name, type)
#endif

#define NS_VIEW(name, type)         \
    typedef struct name {           \
        const type *at;             \
        uint64_t count;             \
        NS_VIEW_METHODS(name, type) \
    } name

NS_VIEW(ns_u8s, uint8_t);
NS_VIEW(ns_i32s, int32_t);
NS_VIEW(ns_u32s, uint32_t);
NS_VIEW(ns_i64s, int64_t);
NS_VIEW(ns_u64s, uint64_t);
NS_VIEW(ns_i64_lists, ns_i64s);

/* For each region of memory a list of nodes: empty, one node for all pages, or one node for each unit (group of pages
 * that are placed and moved together). */
typedef struct ns_node_lists {
    ns_i64s ptr; /* [regions + 1] into `node` */
    ns_i32s node;
#ifdef __cplusplus
    ns_i32s operator[](std::size_t region) const {
        const auto first = static_cast<std::size_t>(ptr[region]), last = static_cast<std::size_t>(ptr[region + 1]);
        return node.subspan(first, last - first);
    }
#endif
} ns_node_lists;

/* For each pair of nodes, the resources (links, memory controllers) that the transfer of a cache line between the nodes
 * uses. Pair p of nodes has the entries first[p] to first[p + 1] - 1 of the other arrays. */
typedef struct ns_paths {
    ns_i64s first; /* [nodes * nodes + 1] */
    ns_u32s resource;
    ns_i64s per_line; /* how many units of the resource a line uses */
} ns_paths;
