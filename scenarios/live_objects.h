// The objects that a script may free: what it has allocated or claimed and nobody has chosen to free yet.
//
// A bit a number, in chunks where there are any, so that a million objects cost 128 KiB, one that a script has claimed
// far away a kilobyte, and "the first thousand" is a scan over words. Two threads never choose the same object:
// choosing takes it out.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
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

    static constexpr uint64_t word_bits = 64;
    static constexpr uint64_t chunk_objects = 4096;
    struct Chunk {
        uint64_t count = 0;
        std::array<uint64_t, chunk_objects / word_bits> words{};
    };
    Chunk *chunk_of(uint64_t object) const; // null: none of its neighbours was ever live
    // Calls the function with the first number of each word that has a live object in the range and with those of its
    // bits, ascending, until it returns false. Whole chunks that `skip` takes are not looked into.
    template <class Skip, class F>
    void scan_words(uint64_t from, uint64_t to, const Skip &skip, const F &function) const;

    std::map<uint64_t, Chunk> chunks_; // by number over chunk_objects
    // The one that was asked for last: scripts go from one number to the next.
    mutable Chunk *last_ = nullptr;
    mutable uint64_t last_number_ = 0;
    uint64_t count_ = 0;
};

} // namespace scenarios
