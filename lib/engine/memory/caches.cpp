#include "memory/caches.hpp"

#include <algorithm>
#include <bit>
#include <list>
#include <unordered_map>

#include "checked.hpp"

namespace numasim {

namespace {

// A machine without caches: every pass over an access goes to memory.
class NoCaches final : public Caches {
public:
    void first_pass(const Place&, const Footprint&, bool, Found&) override {}
    Served later_pass(const Place&, const Footprint&, std::int64_t) override { return {0, 1}; }
};

// How many bytes of `piece` a cache has that holds `parts` of the chunk, with `bytes` bytes in all.
std::int64_t found_of(const Piece& piece, std::uint64_t parts, std::int64_t bytes) {
    const std::uint64_t here = piece.parts & parts;
    if (here == 0) return 0;
    const std::int64_t found =
        here == piece.parts ? piece.bytes : piece.bytes * std::popcount(here) / std::popcount(piece.parts);
    return std::min(found, bytes);
}

// What remains of `piece` after a cache that holds `parts` of the chunk has delivered `found` bytes.
Piece missing_of(const Piece& piece, std::uint64_t parts, std::int64_t found) {
    Piece missing = piece;
    missing.bytes -= found;
    missing.parts &= ~parts;
    return missing;
}

// Move those bytes of `piece` that another cache has (`parts`, `held` bytes); `node` sends them. Returns what remains.
Piece take(const Piece& piece, std::size_t node, std::uint64_t parts, std::int64_t held, Found& found) {
    const std::int64_t here = found_of(piece, parts, held);
    if (here != 0) found.move(node, here);
    return missing_of(piece, parts, here);
}

// ---- share: chunks age with the bytes that their domain brings in ---------------------------------------------------

// The clock of a domain counts bytes. If n bytes are brought in, the clock advances by n. If n bytes that are in the
// cache are touched again, the clock advances by n times the fraction of the cache that was touched since the last
// touch of these bytes.

// A chunk in the cache of one domain (the cores that share a cache), last touched at time `stamp` from `node`. `bytes`
// == 0: the chunk is not in the cache.
struct Copy {
    std::int64_t stamp;
    std::uint64_t parts;
    std::uint32_t bytes, node;
};

// The record of a chunk.
struct Chunk {
    std::uint64_t& dirty;  // number of the domain whose copy is dirty + 1, or 0
    Copy* copies;          // [domains]
};

// The records of all chunks. Reading a record usually costs a cache miss of the simulating machine, so each record lies
// in as few cache lines as possible.
class ChunkRecords {
public:
    ChunkRecords(std::size_t chunks, std::size_t domains)
        : words_((WORDS + domains * WORDS_PER_COPY + LINE_WORDS / 2 - 1) / (LINE_WORDS / 2) * (LINE_WORDS / 2)),
          data_(chunks * words_ + LINE_WORDS),
          first_(data_.data() + LINE_WORDS - reinterpret_cast<std::uintptr_t>(data_.data()) % 64 / 8) {}

    Chunk operator[](std::size_t chunk) const {
        std::uint64_t* const record = first_ + chunk * words_;
        return {*record, reinterpret_cast<Copy*>(record + WORDS)};
    }
    void prefetch(std::size_t chunk) const { __builtin_prefetch(first_ + chunk * words_, 1); }

private:
    static constexpr std::size_t WORDS = 1, WORDS_PER_COPY = sizeof(Copy) / 8, LINE_WORDS = 8;

    std::size_t words_;  // words of a record
    Zeros<std::uint64_t> data_;
    std::uint64_t* first_;
};

class ShareCaches final : public Caches {
public:
    explicit ShareCaches(const CacheSizes& sizes)
        : sizes_(sizes),
          time_(sizes.domains, 0),
          records_(static_cast<std::size_t>(region_begins(sizes.region_bytes).back() / CHUNK_BYTES), sizes.domains) {}

    void prefetch(const Footprint& print) const override {
        records_.prefetch(static_cast<std::size_t>(print.begin / CHUNK_BYTES));
    }

    void first_pass(const Place& place, const Footprint& print, bool writes, Found& found) override {
        each_chunk(print, gathered_, [&](const Piece& piece) {
            touch(records_[static_cast<std::size_t>(piece.chunk)], place, piece, writes, found);
        });
    }

    Served later_pass(const Place& place, const Footprint&, std::int64_t segment_bytes) override {
        const std::int64_t share_bytes = sizes_.llc_bytes[place.domain] / place.sharers;
        return {std::min(share_bytes, segment_bytes), std::max<std::int64_t>(1, segment_bytes)};
    }

private:
    void touch(Chunk chunk, const Place& place, const Piece& piece, bool writes, Found& found) {
        Copy& mine = chunk.copies[place.domain];
        std::int64_t& time = time_[place.domain];
        std::int64_t kept = piece.bytes, passed = piece.bytes;
        std::uint64_t parts = piece.parts;
        if (is_present(mine, place.domain)) {
            const std::int64_t here = found_of(piece, mine.parts, mine.bytes);
            found.hit += here;
            kept += mine.bytes - here;
            parts |= mine.parts;
            passed += floor_ratio(mine.bytes, time - mine.stamp, sizes_.llc_bytes[place.domain]) - here;
            if (sizes_.forwards) forward(chunk, place.domain, missing_of(piece, mine.parts, here), found);
        } else if (sizes_.forwards) {
            forward(chunk, place.domain, piece, found);
        } else {
            fetch(chunk, place, piece, found);
        }
        time += passed;
        if (writes) {
            for (std::size_t domain = 0; domain < sizes_.domains; ++domain) chunk.copies[domain].bytes = 0;
            chunk.dirty = owner(place);
        }
        mine = {time, parts, static_cast<std::uint32_t>(std::min(CHUNK_BYTES, kept)),
                static_cast<std::uint32_t>(place.node)};
    }

    // Take a chunk from the domain where it is dirty.
    void fetch(Chunk chunk, const Place& place, const Piece& piece, Found& found) {
        if (chunk.dirty == 0) return;
        const Copy& other = chunk.copies[chunk.dirty - 1];
        if (!is_present(other, chunk.dirty - 1)) return;
        found.move(other.node, found_of(piece, other.parts, other.bytes));
        chunk.dirty = owner(place);
    }

    // Take a piece from other domains that have parts of it, first from those that follow the own domain.
    void forward(Chunk chunk, std::size_t domain, Piece piece, Found& found) {
        for (std::size_t step = 1; step < sizes_.domains && piece.parts != 0; ++step) {
            const std::size_t sender = (domain + step) % sizes_.domains;
            const Copy& other = chunk.copies[sender];
            if (is_present(other, sender)) piece = take(piece, other.node, other.parts, other.bytes, found);
        }
    }

    static std::uint64_t owner(const Place& place) { return place.domain + 1; }

    bool is_present(const Copy& copy, std::size_t domain) const {
        return copy.bytes != 0 && time_[domain] - copy.stamp + copy.bytes <= sizes_.llc_bytes[domain];
    }

    const CacheSizes& sizes_;
    std::vector<std::int64_t> time_;  // [domains] the time of each domain, in bytes
    ChunkRecords records_;
    std::vector<Piece> gathered_;
};

// ---- lru: every domain keeps chunks in order of use ---------------------------------------------------------------

// A chunk in one domain's cache.
struct Line {
    std::int64_t chunk;
    std::int64_t bytes;
    std::uint64_t parts;
    std::int32_t node;
    bool dirty;
};

// The chunks of one domain, the least recently used first.
class LruDomain {
public:
    Line* find(std::int64_t chunk) {
        const auto found = places_.find(chunk);
        return found == places_.end() ? nullptr : &*found->second;
    }

    Line& add(const Line& line) {
        lines_.push_back(line);
        places_.emplace(line.chunk, std::prev(lines_.end()));
        return lines_.back();
    }

    void renew(const Line& line) { lines_.splice(lines_.end(), lines_, places_.at(line.chunk)); }

    void grow(Line& line, std::int64_t bytes) {
        filled_ += bytes - line.bytes;
        line.bytes = bytes;
    }

    void drop(std::int64_t chunk) {
        const auto found = places_.find(chunk);
        if (found == places_.end()) return;
        filled_ -= found->second->bytes;
        lines_.erase(found->second);
        places_.erase(found);
    }

    void evict(std::int64_t capacity) {
        while (filled_ > capacity) drop(lines_.front().chunk);
    }

private:
    std::list<Line> lines_;
    std::unordered_map<std::int64_t, std::list<Line>::iterator> places_;
    std::int64_t filled_ = 0;
};

class LruCaches final : public Caches {
public:
    LruCaches(const CacheSizes& sizes, std::size_t nodes) : sizes_(sizes), domains_(sizes.domains), again_(nodes) {}

    void first_pass(const Place& place, const Footprint& print, bool writes, Found& found) override {
        each_chunk(print, gathered_, [&](const Piece& piece) { touch(place, piece, writes, found); });
    }

    // Make the second pass over the access. A third pass would find the same bytes.
    Served later_pass(const Place& place, const Footprint& print, std::int64_t) override {
        again_.clear();
        each_chunk(print, gathered_, [&](const Piece& piece) { touch(place, piece, false, again_); });
        return {again_.hit, std::max<std::int64_t>(1, print.total())};
    }

private:
    void touch(const Place& place, const Piece& piece, bool writes, Found& found) {
        LruDomain& mine = domains_[place.domain];
        Line* line = mine.find(piece.chunk);
        std::int64_t here = 0;
        if (line != nullptr) {
            mine.renew(*line);
            here = found_of(piece, line->parts, line->bytes);
            found.hit += here;
        } else {
            line = &mine.add({piece.chunk, 0, 0, place.node, false});
            if (!sizes_.forwards) here = fetch(mine, *line, piece, found);
        }
        if (sizes_.forwards) forward(place.domain, missing_of(piece, line->parts, here), found);
        mine.grow(*line, std::min(CHUNK_BYTES, line->bytes + piece.bytes - here));
        line->parts |= piece.parts;
        line->node = place.node;
        if (writes) {
            line->dirty = true;
            for (LruDomain& domain : domains_) {
                if (&domain != &mine) domain.drop(piece.chunk);
            }
        }
        mine.evict(sizes_.llc_bytes[place.domain]);
    }

    // Move a piece from the domain whose copy of the chunk is dirty, if any. Returns the number of bytes that come.
    std::int64_t fetch(LruDomain& mine, Line& line, const Piece& piece, Found& found) {
        for (LruDomain& domain : domains_) {
            Line* const other = &domain == &mine ? nullptr : domain.find(line.chunk);
            if (other == nullptr || !other->dirty) continue;
            const std::int64_t here = found_of(piece, other->parts, other->bytes);
            found.move(static_cast<std::size_t>(other->node), here);
            mine.grow(line, here);
            line.dirty = true;
            other->dirty = false;
            return here;
        }
        return 0;
    }

    // Take a piece from other domains that have parts of it, first from those that follow the own domain.
    void forward(std::size_t domain, Piece piece, Found& found) {
        for (std::size_t step = 1; step < domains_.size() && piece.parts != 0; ++step) {
            const Line* const other = domains_[(domain + step) % domains_.size()].find(piece.chunk);
            if (other == nullptr) continue;
            piece = take(piece, static_cast<std::size_t>(other->node), other->parts, other->bytes, found);
        }
    }

    const CacheSizes& sizes_;
    std::vector<LruDomain> domains_;
    Found again_;
    std::vector<Piece> gathered_;
};

}  // namespace

std::unique_ptr<Caches> make_caches(const CacheSizes& sizes, std::size_t nodes) {
    if (sizes.llc_bytes[0] == 0 || sizes.model == CacheModel::NONE) return std::make_unique<NoCaches>();
    if (sizes.model == CacheModel::SHARE) return std::make_unique<ShareCaches>(sizes);
    return std::make_unique<LruCaches>(sizes, nodes);
}

}  // namespace numasim
