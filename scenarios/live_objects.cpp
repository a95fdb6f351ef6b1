#include "scenarios/live_objects.h"

#include "sim/verify.h"

#include <algorithm>
#include <bit>

namespace scenarios {

namespace {

constexpr uint64_t word_bits = 64;

} // namespace

void LiveObjects::add(uint64_t object)
{
    const size_t word = object / word_bits;
    if (word >= words_.size())
        words_.resize(std::max(word + 1, words_.size() * 2));
    const uint64_t bit = uint64_t{1} << (object % word_bits);
    VERIFY((words_[word] & bit) == 0);
    words_[word] |= bit;
    ++count_;
}

void LiveObjects::remove(uint64_t object)
{
    if (!contains(object))
        return;
    words_[object / word_bits] &= ~(uint64_t{1} << (object % word_bits));
    --count_;
}

bool LiveObjects::contains(uint64_t object) const
{
    const size_t word = object / word_bits;
    return word < words_.size() && (words_[word] >> (object % word_bits) & 1) != 0;
}

void LiveObjects::clear()
{
    words_.clear();
    count_ = 0;
}

template <class F>
void LiveObjects::scan(uint64_t from, uint64_t to, const F &function) const
{
    for (size_t word = from / word_bits; word < words_.size() && word <= to / word_bits; ++word) {
        for (uint64_t bits = words_[word]; bits != 0; bits &= bits - 1) {
            const uint64_t object = word * word_bits + static_cast<uint64_t>(std::countr_zero(bits));
            if (object > to)
                return;
            if (object >= from && !function(object))
                return;
        }
    }
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
    for (size_t word = from / word_bits; word < words_.size() && word <= to / word_bits; ++word)
        count += static_cast<uint64_t>(std::popcount(masked(word, from, to)));
    return count;
}

uint64_t LiveObjects::nth_in(uint64_t n, uint64_t from, uint64_t to) const
{
    for (size_t word = from / word_bits; word < words_.size() && word <= to / word_bits; ++word) {
        uint64_t bits = masked(word, from, to);
        const uint64_t here = static_cast<uint64_t>(std::popcount(bits));
        if (n >= here) {
            n -= here;
            continue;
        }
        for (; n > 0; --n)
            bits &= bits - 1;
        return word * word_bits + static_cast<uint64_t>(std::countr_zero(bits));
    }
    PANIC("no live object of that rank");
}

// The word's bits that lie in the range.
uint64_t LiveObjects::masked(size_t word, uint64_t from, uint64_t to) const
{
    uint64_t bits = words_[word];
    if (word == from / word_bits)
        bits &= ~uint64_t{0} << (from % word_bits);
    if (word == to / word_bits)
        bits &= ~uint64_t{0} >> (word_bits - 1 - to % word_bits);
    return bits;
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
