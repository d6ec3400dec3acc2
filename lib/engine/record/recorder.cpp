#include "record/recorder.hpp"

namespace numasim {

namespace {

// The sum of the hashes of `count` records. A record's hash is chained over its words: h = mix((h + GAMMA) ^ word).
NUMASIM_VECTORS std::uint64_t hash_sum(const std::uint64_t* words, std::size_t stride, std::size_t count) {
    std::uint64_t sum = 0;
    for (std::size_t i = 0; i < count; ++i) {
        std::uint64_t value = 0;
        for (std::size_t word = 0; word < RECORD_WORDS; ++word)
            value = ns_mix((value + NS_GAMMA) ^ words[word * stride + i]);
        sum += value;
    }
    return sum;
}

}  // namespace

void RecordSet::flush() {
    total_ += hash_sum(words_[0].data(), BUFFERED, used_);
    if (listener_ != nullptr && used_ != 0) {
        std::array<Record, BUFFERED> records;
        for (std::size_t i = 0; i < used_; ++i)
            records[i] = {words_[0][i], words_[1][i], words_[2][i], words_[3][i], words_[4][i]};
        (*listener_)(records.data(), used_);
    }
    used_ = 0;
}

void Recorder::tell(Watched kind, std::int64_t actor, std::int64_t begin_ps, std::int64_t end_ps, std::int64_t first,
                    std::int64_t second, std::int64_t third) {
    rows_.push_back({kind, actor, begin_ps, end_ps, first, second, third});
    if (rows_.size() == FLUSH_ROWS) flush();
}

void Recorder::flush() {
    steps_.total();
    details_.total();
    if (!rows_.empty()) (*watcher_)(rows_.data(), rows_.size());
    rows_.clear();
}

}  // namespace numasim
