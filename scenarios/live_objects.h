// The objects that a script may free: what it has allocated or claimed and nobody has chosen to free yet.
//
// A bit a number, so that a million objects cost 128 KiB and "the first thousand" is a scan over words. Two threads
// never choose the same object: choosing takes it out.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

namespace scenarios {

class LiveObjects {
public:
    void add(uint64_t object);
    void remove(uint64_t object);
    bool contains(uint64_t object) const;
    uint64_t count() const { return count_; }
    void clear();

    // Those in [from, to], ascending, taken out:
    std::vector<uint64_t> take_all(uint64_t from, uint64_t to);
    std::vector<uint64_t> take_first(uint64_t count, uint64_t from, uint64_t to);
    // the first of them and each stride-th after it, at most count;
    std::vector<uint64_t> take_every(uint64_t stride, uint64_t count, uint64_t from, uint64_t to);
    // `count` of them drawn without repetition; below(n) is a random number under n.
    std::vector<uint64_t> take_random(uint64_t count, uint64_t from, uint64_t to,
                                      const std::function<uint64_t(uint64_t)> &below);

private:
    // Calls the function with each live object in the range, ascending, until it returns false.
    template <class F>
    void scan(uint64_t from, uint64_t to, const F &function) const;
    void take(const std::vector<uint64_t> &objects);
    uint64_t count_in(uint64_t from, uint64_t to) const;
    uint64_t nth_in(uint64_t n, uint64_t from, uint64_t to) const; // counted from 0
    uint64_t masked(size_t word, uint64_t from, uint64_t to) const;

    std::vector<uint64_t> words_;
    uint64_t count_ = 0;
};

} // namespace scenarios
