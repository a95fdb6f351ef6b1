// A list in several pieces, each under a lock of its own, so that CPUs that link different elements do not meet.
//
// Which piece an element belongs to follows from the element itself (a hash of its identity), so it is found again on
// removal. There are as many pieces as the machine has CPUs. Whoever takes elements out for being old goes round the
// pieces: within a piece the order is exact, over all of them it is approximate. Followed: OpenZFS 64b6c47d90,
// multilist.c, which begins at a random piece; here at the one after the last.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "model/list.h"
#include "model/spl.h"

namespace dmu {

template <class T>
class multilist_t {
public:
    struct sublist_t {
        explicit sublist_t(size_t offset) : mls_list(offset) {}
        kmutex_t mls_lock{"mls_lock"};
        list_t<T> mls_list; // the newest at the head; under mls_lock
    };

    // index_func: what is counted when an element is asked for its piece. REQUIRES: a simulated thread, since the
    // machine's CPUs are counted.
    multilist_t(size_t offset, Fn index_func) : ml_num_sublists_(max_ncpus()), index_func_(index_func)
    {
        for (uint32_t i = 0; i < ml_num_sublists_; ++i)
            ml_sublists_.push_back(std::make_unique<sublist_t>(offset));
    }

    uint32_t get_num_sublists() const { return ml_num_sublists_; }
    sublist_t &sublist(uint64_t hash) { return *ml_sublists_[hash % ml_num_sublists_]; }
    // Where the next search for something old begins.
    uint32_t next_index() { return rotor_ = (rotor_ + 1) % get_num_sublists(); }

    void insert(T *item, uint64_t hash)
    {
        count_calls(index_func_, 1);
        sublist_t &piece = sublist(hash);
        auto held = mutex_enter(piece.mls_lock);
        piece.mls_list.insert_head(item);
    }
    void remove(T *item, uint64_t hash)
    {
        count_calls(index_func_, 1);
        sublist_t &piece = sublist(hash);
        auto held = mutex_enter(piece.mls_lock);
        piece.mls_list.remove(item);
    }

private:
    const uint32_t ml_num_sublists_;
    std::vector<std::unique_ptr<sublist_t>> ml_sublists_;
    Fn index_func_;
    uint32_t rotor_ = 0;
};

} // namespace dmu
