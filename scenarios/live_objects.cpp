#include "scenarios/live_objects.h"

#include "sim/verify.h"

#include <algorithm>
#include <bit>

namespace scenarios {

LiveObjects::Chunk *LiveObjects::chunk_of(uint64_t object) const
{
    const uint64_t number = object / chunk_objects;
    if (last_ == nullptr || last_number_ != number) {
        const auto found = chunks_.find(number);
        if (found == chunks_.end())
            return nullptr;
        last_ = const_cast<Chunk *>(&found->second);
        last_number_ = number;
    }
    return last_;
}

void LiveObjects::add(uint64_t object)
{
    Chunk *chunk = chunk_of(object);
    if (chunk == nullptr)
        chunk = &chunks_[object / chunk_objects];
    uint64_t &word = chunk->words[object % chunk_objects / word_bits];
    const uint64_t bit = uint64_t{1} << (object % word_bits);
    VERIFY((word & bit) == 0);
    word |= bit;
    ++chunk->count;
    ++count_;
}

void LiveObjects::remove(uint64_t object)
{
    if (!contains(object))
        return;
    Chunk &chunk = *chunk_of(object);
    chunk.words[object % chunk_objects / word_bits] &= ~(uint64_t{1} << (object % word_bits));
    --chunk.count;
    --count_;
}

bool LiveObjects::contains(uint64_t object) const
{
    const Chunk *chunk = chunk_of(object);
    return chunk != nullptr && (chunk->words[object % chunk_objects / word_bits] >> (object % word_bits) & 1) != 0;
}

void LiveObjects::clear()
{
    chunks_.clear();
    last_ = nullptr;
    count_ = 0;
}

template <class Skip, class F>
void LiveObjects::scan_words(uint64_t from, uint64_t to, const Skip &skip, const F &function) const
{
    for (auto at = chunks_.lower_bound(from / chunk_objects); at != chunks_.end(); ++at) {
        const uint64_t base = at->first * chunk_objects;
        if (base > to)
            return;
        const Chunk &chunk = at->second;
        const uint64_t first = std::max(from, base) - base, last = std::min(to - base, chunk_objects - 1);
        if (chunk.count == 0 || (first == 0 && last == chunk_objects - 1 && skip(chunk.count)))
            continue;
        for (uint64_t word = first / word_bits; word <= last / word_bits; ++word) {
            uint64_t bits = chunk.words[word];
            if (word == first / word_bits)
                bits &= ~uint64_t{0} << (first % word_bits);
            if (word == last / word_bits)
                bits &= ~uint64_t{0} >> (word_bits - 1 - last % word_bits);
            if (bits != 0 && !function(base + word * word_bits, bits))
                return;
        }
    }
}

template <class F>
void LiveObjects::scan(uint64_t from, uint64_t to, const F &function) const
{
    scan_words(
        from, to, [](uint64_t) { return false; },
        [&](uint64_t first, uint64_t bits) {
            for (; bits != 0; bits &= bits - 1)
                if (!function(first + static_cast<uint64_t>(std::countr_zero(bits))))
                    return false;
            return true;
        });
}

void LiveObjects::take(const std::vector<uint64_t> &objects)
{
    for (const uint64_t object : objects)
        remove(object);
}

std::vector<uint64_t> LiveObjects::take_all(uint64_t from, uint64_t to)
{
    return take_first(UINT64_MAX, from, to);
}

std::vector<uint64_t> LiveObjects::take_first(uint64_t count, uint64_t from, uint64_t to)
{
    return take_every(1, count, from, to);
}

std::vector<uint64_t> LiveObjects::take_every(uint64_t stride, uint64_t count, uint64_t from, uint64_t to)
{
    VERIFY(stride > 0);
    std::vector<uint64_t> chosen;
    uint64_t index = 0;
    if (count > 0)
        scan(from, to, [&](uint64_t object) {
            if (index++ % stride == 0)
                chosen.push_back(object);
            return chosen.size() < count;
        });
    take(chosen);
    return chosen;
}

uint64_t LiveObjects::count_in(uint64_t from, uint64_t to) const
{
    uint64_t count = 0;
    scan_words(
        from, to,
        [&](uint64_t in_chunk) {
            count += in_chunk;
            return true;
        },
        [&](uint64_t, uint64_t bits) {
            count += static_cast<uint64_t>(std::popcount(bits));
            return true;
        });
    return count;
}

uint64_t LiveObjects::nth_in(uint64_t n, uint64_t from, uint64_t to) const
{
    constexpr uint64_t none = UINT64_MAX;
    uint64_t object = none;
    scan_words(
        from, to,
        [&](uint64_t in_chunk) {
            const bool before = in_chunk <= n;
            n -= before ? in_chunk : 0;
            return before;
        },
        [&](uint64_t first, uint64_t bits) {
            const uint64_t here = static_cast<uint64_t>(std::popcount(bits));
            if (n >= here) {
                n -= here;
                return true;
            }
            for (; n > 0; --n)
                bits &= bits - 1;
            object = first + static_cast<uint64_t>(std::countr_zero(bits));
            return false;
        });
    VERIFY(object != none);
    return object;
}

std::vector<uint64_t> LiveObjects::take_random(uint64_t count, uint64_t from, uint64_t to,
                                               const std::function<uint64_t(uint64_t)> &below)
{
    std::vector<uint64_t> chosen;
    uint64_t left = count_in(from, to);
    // Few of many: by rank, a scan each. Otherwise the whole list is shuffled as far as needed.
    if (count < left / word_bits + 1) {
        for (; chosen.size() < count && left > 0; --left) {
            chosen.push_back(nth_in(below(left), from, to));
            remove(chosen.back());
        }
        std::sort(chosen.begin(), chosen.end());
        return chosen;
    }
    scan(from, to, [&](uint64_t object) {
        chosen.push_back(object);
        return true;
    });
    const size_t wanted = static_cast<size_t>(std::min<uint64_t>(count, chosen.size()));
    for (size_t i = 0; i < wanted; ++i)
        std::swap(chosen[i], chosen[i + below(chosen.size() - i)]);
    chosen.resize(wanted);
    std::sort(chosen.begin(), chosen.end());
    take(chosen);
    return chosen;
}

} // namespace scenarios
