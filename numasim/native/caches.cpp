#include "caches.hpp"

#include <algorithm>
#include <list>
#include <unordered_map>

#include "wide.hpp"

namespace numasim {

namespace {

// Every pass goes to memory.
class NoCaches final : public Caches {
public:
    void first_pass(const Place&, const Footprint&, bool, Found&) override {}
    Served later_pass(const Place&, const Footprint&, std::int64_t) override { return {0, 1}; }
};

// ---- share: chunks belong to the domain of their last touch and age with what it brings in -------------------------

// A domain's time is in bytes: all that is brought in, and of what is found the share of the cache that is younger.

// The last touch of a chunk; `stamp` is the time of its domain by then. All zeros where nobody has touched it.
struct Record {
    std::int64_t stamp;
    std::uint32_t bytes;
    std::uint32_t toucher;  // one more than the domain
    std::uint32_t node : 31;
    std::uint32_t dirty : 1;

    std::size_t domain() const { return toucher - 1; }
};
static_assert(sizeof(Record) == 24);

class ShareCaches final : public Caches {
public:
    explicit ShareCaches(const CacheSizes& sizes)
        : sizes_(sizes), chunks_(sizes.region_bytes), time_(sizes.domains, 0), records_(chunks_.count()) {}

    void first_pass(const Place& place, const Footprint& print, bool writes, Found& found) override {
        Record* const records = records_.data() + chunks_.first(print.region);
        each_chunk(print, gathered_, [&](std::int64_t chunk, std::int64_t touched) {
            touch(records[chunk], place, touched, writes, found);
        });
    }

    Served later_pass(const Place& place, const Footprint&, std::int64_t segment_bytes) override {
        return {std::min(place.share_bytes, segment_bytes), std::max<std::int64_t>(1, segment_bytes)};
    }

private:
    void touch(Record& record, const Place& place, std::int64_t touched, bool writes, Found& found) {
        std::int64_t kept = std::min(CHUNK_BYTES, touched), passed = touched;
        bool dirty = writes;
        if (is_present(record, place.domain)) {
            const std::int64_t here = std::min<std::int64_t>(touched, record.bytes);
            if (record.domain() == place.domain) {
                kept = std::min(CHUNK_BYTES, record.bytes + touched - here);
                dirty = writes || record.dirty != 0;
                passed = touched - here + floor_ratio(here, age(record), sizes_.llc_bytes);
                found.hit += here;
            } else {
                dirty = true;
                found.move(record.node, here);
            }
        }
        std::int64_t& time = time_[place.domain];
        time += passed;
        record = {time, static_cast<std::uint32_t>(kept), static_cast<std::uint32_t>(place.domain) + 1,
                  static_cast<std::uint32_t>(place.node) & 0x7FFFFFFFU, dirty};
    }

    std::int64_t age(const Record& record) const { return time_[record.domain()] - record.stamp; }

    bool is_present(const Record& record, std::size_t domain) const {
        return record.toucher != 0 && age(record) + record.bytes <= sizes_.llc_bytes &&
               (record.dirty != 0 || record.domain() == domain);
    }

    const CacheSizes& sizes_;
    const ChunkNumbers chunks_;
    std::vector<std::int64_t> time_;  // [domains] in bytes
    Zeros<Record> records_;           // [chunks]
    std::vector<std::int64_t> gathered_;
};

// ---- lru: every domain keeps chunks in order of use ---------------------------------------------------------------

// A chunk in one domain's cache.
struct Line {
    std::int64_t chunk;
    std::int64_t bytes;
    std::int32_t node;
    bool dirty;
};

// One domain's chunks, the least recently used first.
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
    LruCaches(const CacheSizes& sizes, std::size_t nodes)
        : capacity_(sizes.llc_bytes), chunks_(sizes.region_bytes), domains_(sizes.domains), again_(nodes) {}

    void first_pass(const Place& place, const Footprint& print, bool writes, Found& found) override {
        each_chunk(print, gathered_, [&](std::int64_t chunk, std::int64_t touched) {
            touch(place, chunks_.first(print.region) + chunk, touched, writes, found);
        });
    }

    // What a second walk over the access finds; a third would find the same.
    Served later_pass(const Place& place, const Footprint& print, std::int64_t) override {
        again_.clear();
        each_chunk(print, gathered_, [&](std::int64_t chunk, std::int64_t touched) {
            touch(place, chunks_.first(print.region) + chunk, touched, false, again_);
        });
        return {again_.hit, std::max<std::int64_t>(1, print.total())};
    }

private:
    void touch(const Place& place, std::int64_t chunk, std::int64_t touched, bool writes, Found& found) {
        LruDomain& mine = domains_[place.domain];
        Line* line = mine.find(chunk);
        std::int64_t here = 0;
        if (line != nullptr) {
            mine.renew(*line);
            here = std::min(touched, line->bytes);
            found.hit += here;
        } else {
            line = &mine.add({chunk, 0, place.node, false});
            here = fetch(mine, *line, touched, found);
        }
        mine.grow(*line, std::min(CHUNK_BYTES, line->bytes + touched - here));
        line->node = place.node;
        if (writes) {
            line->dirty = true;
            drop_elsewhere(mine, chunk);
        }
        mine.evict(capacity_);
    }

    // Take a chunk that is dirty in another domain from there; the bytes that come.
    std::int64_t fetch(LruDomain& mine, Line& line, std::int64_t touched, Found& found) {
        for (LruDomain& domain : domains_) {
            Line* const other = &domain == &mine ? nullptr : domain.find(line.chunk);
            if (other == nullptr || !other->dirty) continue;
            const std::int64_t here = std::min(touched, other->bytes);
            found.move(static_cast<std::size_t>(other->node), here);
            mine.grow(line, here);
            line.dirty = true;
            other->dirty = false;
            return here;
        }
        return 0;
    }

    void drop_elsewhere(const LruDomain& mine, std::int64_t chunk) {
        for (LruDomain& domain : domains_) {
            if (&domain != &mine) domain.drop(chunk);
        }
    }

    const std::int64_t capacity_;
    const ChunkNumbers chunks_;
    std::vector<LruDomain> domains_;
    Found again_;
    std::vector<std::int64_t> gathered_;
};

}  // namespace

std::unique_ptr<Caches> make_caches(const CacheSizes& sizes, std::size_t nodes) {
    if (sizes.llc_bytes == 0 || sizes.model == CacheModel::NONE) return std::make_unique<NoCaches>();
    if (sizes.model == CacheModel::SHARE) return std::make_unique<ShareCaches>(sizes);
    return std::make_unique<LruCaches>(sizes, nodes);
}

}  // namespace numasim
