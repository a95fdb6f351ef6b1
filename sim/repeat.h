// A stretch of simulated code that comes again and again, the same each time but for the hour.
//
// As long as nobody else comes between, a thread that takes the same course once more pays the same, enters the same
// locks in the same order and counts the same calls. Such a stretch need be executed once. What it did is kept as
// differences; each further time they are added, which costs the host a few instructions where executing costs
// thousands.
//
// Two have to know their part. The caller says that the course is the same, since only it knows what the course
// depends on. The kernel says whether the stretch was the running thread's own affair (no scheduling decision fell in
// it, nobody was woken, no lock left that somebody waits for), whether it is steady (two in a row did the same, so the
// second found all lines near and so does every further one), and how often it fits before somebody else has to be
// looked at. A lock that is left as it was found needs nothing: it is free, its line is this CPU's, and the moment at
// which it was left lies before anybody else's turn.
//
// Executed or added is the host's matter alone; results are the same to the bit. Repeats::checked proves it on the way:
// what would have been added is executed, and has to come out as promised.
#pragma once

#include "sim/kernel.h"

#include <bitset>
#include <span>
#include <vector>

namespace sim {

class Repeat {
public:
    // What a stretch may count beside the kernel's own, each array under the address it keeps; and the functions it may
    // enter: such as find what they look for and leave everything else as it was.
    Repeat(std::vector<std::span<uint64_t>> counters, std::span<const uint16_t> functions);
    Repeat(const Repeat &) = delete;
    Repeat &operator=(const Repeat &) = delete;

    // The running thread enters a stretch. One that does not come to its end() is forgotten.
    void begin();
    // It has left it. How often the stretch could be taken again right now; 0: it did something else than before, was
    // disturbed, or is to be executed anyway.
    uint64_t end();
    // So often it is taken again. True: that is done. False: the caller has to execute it (Repeats::checked).
    // REQUIRES: nothing was simulated since end(), and times <= what it returned; the course is the same each time.
    [[nodiscard]] bool again(uint64_t times);

    // Stretches that were added, or whose execution has been compared with it. Not part of any result.
    uint64_t repeated() const { return repeated_; }

private:
    // A row of counters, those of them that the stretch moves, and what all of them have to be when it is over; of a
    // stretch that is to be learned, what they were before it.
    struct Move {
        size_t index;
        uint64_t delta;
    };
    struct Row {
        uint64_t *now;
        std::vector<uint64_t> expected;
        std::vector<Move> moves;
    };
    template <class Word>
    struct Add {
        Word *what;
        Word delta;
        Word before;
    };
    // A place of equal holds (call_tree.h) that the stretch's holds are counted in.
    struct Place {
        const EqualHolds *equal;
        EqualHolds learned;
    };
    // All that the kernel counts, before a stretch that is to be learned.
    struct Everything {
        std::vector<CallNode> nodes;
        std::vector<LockClassCounts> locks;
    };

    void start_learning();
    void give_up();
    bool learn();
    // holds: of each class of locks, those counted in places.
    bool learn_nodes(std::vector<uint64_t> &holds);
    bool learn_locks(const std::vector<uint64_t> &holds);
    bool same() const;
    uint64_t room() const;
    // The thread's digest after so many of the kept stretches, the first beginning at `from`.
    uint64_t digest_after(uint64_t digest, Key from, uint64_t times) const;

    std::vector<Row> rows_; // the thread's calls first
    std::bitset<limits::functions> allowed_;
    uint64_t fruitless_ = 0; // stretches in a row that could not be learned
    uint64_t skip_ = 0;      // of those to come, so many are not looked at
    uint32_t strangers_ = 0; // stretches in a row that were unlike the one kept
    uint64_t promised_ = 0;  // stretches still to come out as the one kept
    uint64_t repeated_ = 0;

    // ---- the stretch under way ----
    bool watched_ = false;
    bool learning_ = false;
    const Thread *thread_ = nullptr;
    const CallNode *root_ = nullptr;
    Key from_ = 0;
    uint64_t digest_ = 0;
    uint64_t company_ = 0;
    Everything everything_;

    // ---- when the last one ended ----
    Key ended_at_ = never;
    uint64_t ended_company_ = 0;

    // ---- the one kept ----
    const CallNode *known_root_ = nullptr; // where it began; null: none is kept
    bool confirmed_ = false;               // by another one, right behind it
    Key span_ = 0;
    // The thread's digest is linear in what it was and in the time (digest_event).
    uint64_t digest_factor_ = 1;
    uint64_t digest_from_ = 0;
    uint64_t digest_rest_ = 0;
    std::vector<Add<uint64_t>> adds_;
    std::vector<Add<Key>> charges_;
    std::vector<Place> places_;
};

} // namespace sim
