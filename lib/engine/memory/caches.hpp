// Last-level caches: how many bytes of an access are in the own cache, in another cache, or in memory (model 2.4;
// engine/reference/memory/caches.py). A domain is the cores that share a last-level cache.
//
// The contents of caches are recorded by chunks of 64 KiB. All regions lie in one address space. Each region begins
// with a new chunk.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <new>
#include <vector>

#include "plan.hpp"

namespace numasim {

constexpr std::int64_t CHUNK_BYTES = NS_CHUNK_BYTES;
constexpr std::int64_t PART_BYTES = CHUNK_BYTES / 64;  // the 64 parts of a chunk are the bits of a word

// The bytes and parts of a chunk that an access touches.
struct Piece {
    std::int64_t chunk, bytes;
    std::uint64_t parts;
};

// The set of parts between two addresses of one chunk, as bits.
inline std::uint64_t parts_between(std::int64_t begin, std::int64_t end) {
    const std::int64_t first = begin % CHUNK_BYTES / PART_BYTES, last = (end - 1) % CHUNK_BYTES / PART_BYTES;
    return (~std::uint64_t{0} >> (63 - (last - first))) << first;
}

// The bytes of an access: `rows` rows of `row_bytes` bytes. Row i begins at `begin` + i * `stride`.
struct Footprint {
    std::int64_t begin, row_bytes, rows, stride;

    std::int64_t total() const { return row_bytes * rows; }
    std::int64_t end() const { return begin + (rows - 1) * stride + row_bytes; }
    bool is_dense() const { return rows == 1 || stride == row_bytes; }
};

// [regions + 1] the addresses at which regions begin, and the end of the last region.
inline std::vector<std::int64_t> region_begins(I64s region_bytes) {
    std::vector<std::int64_t> begins{0};
    for (const std::int64_t bytes : region_bytes) {
        begins.push_back(begins.back() + (bytes / CHUNK_BYTES + 1) * CHUNK_BYTES);
    }
    return begins;
}

// An array of zeros. The system provides its memory page by page, when it is written to.
template <typename T>
class Zeros {
public:
    explicit Zeros(std::size_t count) : data_(static_cast<T*>(std::calloc(count, sizeof(T)))) {
        if (!data_ && count != 0) throw std::bad_alloc();
    }

    T* data() const { return data_.get(); }

private:
    struct Free {
        void operator()(T* data) const { std::free(data); }
    };
    std::unique_ptr<T[], Free> data_;
};

// Calls `visit(piece)` for the chunks between two addresses.
template <typename Visit>
void each_chunk_between(std::int64_t begin, std::int64_t end, Visit&& visit) {
    while (begin < end) {
        const std::int64_t chunk = begin / CHUNK_BYTES;
        const std::int64_t border = std::min(end, (chunk + 1) * CHUNK_BYTES);
        visit(Piece{chunk, border - begin, parts_between(begin, border)});
        begin = border;
    }
}

// Call `visit(piece)` for each chunk of rows that do not overlap. Such rows touch chunks in ascending order. Pieces of
// several rows in the same chunk become one piece.
template <typename Visit>
void each_chunk_of_rows(const Footprint& print, Visit&& visit) {
    Piece gathered{print.begin / CHUNK_BYTES, 0, 0};
    for (std::int64_t row = 0, begin = print.begin; row < print.rows; ++row, begin += print.stride) {
        each_chunk_between(begin, begin + print.row_bytes, [&](const Piece& piece) {
            if (piece.chunk != gathered.chunk) {
                visit(gathered);
                gathered = {piece.chunk, 0, 0};
            }
            gathered.bytes += piece.bytes;
            gathered.parts |= piece.parts;
        });
    }
    visit(gathered);
}

template <typename Visit>
void each_chunk_of_overlapping_rows(const Footprint& print, std::vector<Piece>& scratch, Visit&& visit) {
    const std::int64_t first = print.begin / CHUNK_BYTES, last = (print.end() - 1) / CHUNK_BYTES;
    scratch.assign(static_cast<std::size_t>(last - first + 1), Piece{});
    for (std::int64_t row = 0; row < print.rows; ++row) {
        const std::int64_t begin = print.begin + row * print.stride;
        each_chunk_between(begin, begin + print.row_bytes, [&](const Piece& piece) {
            Piece& gathered = scratch[static_cast<std::size_t>(piece.chunk - first)];
            gathered = {piece.chunk, gathered.bytes + piece.bytes, gathered.parts | piece.parts};
        });
    }
    for (const Piece& piece : scratch) {
        if (piece.bytes != 0) visit(piece);
    }
}

// Calls `visit(piece)` once for each chunk that an access touches, in ascending order.
template <typename Visit>
void each_chunk(const Footprint& print, std::vector<Piece>& scratch, Visit&& visit) {
    if (print.is_dense()) {
        each_chunk_between(print.begin, print.end(), visit);
    } else if (print.stride > print.row_bytes) {
        each_chunk_of_rows(print, visit);
    } else {
        each_chunk_of_overlapping_rows(print, scratch, visit);
    }
}

// Where an access comes from. `sharers` is the number of workers of the domain that execute something.
struct Place {
    std::size_t domain;
    std::int32_t node;
    std::int64_t sharers;
};

// Bytes that a pass over an access finds in caches.
struct Found {
    std::int64_t hit = 0;                // bytes in the cache of the own domain
    std::int64_t moved = 0;              // bytes in caches of other domains
    std::vector<std::int64_t> moved_by;  // [nodes] `moved` by the sending node

    explicit Found(std::size_t nodes) : moved_by(nodes, 0) {}

    void move(std::size_t sender, std::int64_t bytes) {
        moved += bytes;
        moved_by[sender] += bytes;
    }

    void clear() {
        if (moved != 0) std::fill(moved_by.begin(), moved_by.end(), 0);
        hit = moved = 0;
    }
};

// The fraction `part / whole` of the bytes of each pass after the first pass that the last-level cache serves.
struct Served {
    std::int64_t part, whole;
};

class Caches {
public:
    virtual ~Caches() = default;

    // Prefetch the records that `first_pass` will read.
    virtual void prefetch(const Footprint&) const {}

    // Make the first pass over an access and add to `found`.
    virtual void first_pass(const Place& place, const Footprint& print, bool writes, Found& found) = 0;

    // The part of each later pass that the own cache serves. `segment_bytes`: the bytes of all accesses of the segment.
    virtual Served later_pass(const Place& place, const Footprint& print, std::int64_t segment_bytes) = 0;
};

// Make the last-level caches of the machine. Without caches, the result is caches that find nothing.
std::unique_ptr<Caches> make_caches(const CacheSizes& sizes, std::size_t nodes);

}  // namespace numasim
