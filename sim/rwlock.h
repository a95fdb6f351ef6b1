// The rwlock: many readers or one writer, writers preferred, handed over directly.
//
// Who comes while anybody waits stands behind, so a waiting writer lets no more readers in; when the lock is left, it
// goes to the first in the ring: a writer alone, or all readers up to the next writer. Each enter and exit of a reader
// is a read-modify-write on one line, one after the other: that alone limits readers to one in two transfers, with
// nothing held.
//
// A writer that nobody waits for may leave ahead of time, as from a mutex. A reader may not: its line must be taken in
// turn.
#pragma once

#include "sim/cache_line.h"
#include "sim/lock.h"

namespace sim {

class RwLock : private LockBase {
public:
    explicit RwLock(uint16_t lock_class_in) : LockBase(lock_class_in, LockKind::rwlock) {}
    ~RwLock() { waiters = nullptr; }

    SIM_ALWAYS_INLINE void enter_read()
    {
        const Key at = hot.key;
        if (free_and_near(at)) [[likely]]
            readers_ = 1, take_near(at);
        else
            enter_read_slow();
    }
    void enter_write();
    [[nodiscard]] bool try_enter_read();
    [[nodiscard]] bool try_enter_write();
    // REQUIRES: the running thread holds it in that mode.
    SIM_ALWAYS_INLINE void exit_read()
    {
        // The last one holds it until the line has come: nobody may come before that.
        const Key span = hot.prices.rmw_owned;
        const Key at = hot.key + span;
        if (readers_ == 1 && waiters == nullptr && at < hot.horizon && line_.is_alone(at) &&
            key >= hot.plain_holds_from) [[likely]] {
            hot.key = at;
            CallNode *const call = hot.node;
            call->charged += span;
            readers_ = 0;
            count_plain_hold(*this, at, call->rwlock_holds);
            owner = nullptr;
            key = at;
        } else {
            exit_read_slow();
        }
    }
    void exit_write();
    // REQUIRES: held for reading. False, and still held for reading, if there is another reader or a waiting writer.
    [[nodiscard]] bool try_upgrade();
    // REQUIRES: held for writing.
    void downgrade();

    bool write_held() const { return owner == hot.thread && readers_ == 0; }
    // Somebody holds it for reading; which thread is not kept.
    bool read_held() const { return readers_ > 0; }

private:
    friend void pass_on(LockBase &);
    friend bool held_by_readers(const LockBase &);
    friend class Scheduler;

    bool free_for_writer() const { return owner == nullptr && key <= hot.key; }
    bool free_for_reader() const { return waiters == nullptr && (readers_ > 0 || free_for_writer()); }
    // It is free, its line is this CPU's alone, and nobody comes first.
    SIM_ALWAYS_INLINE bool free_and_near(Key at) const
    {
        return at < hot.horizon && owner == nullptr && key <= at && waiters == nullptr && line_.is_alone(at) &&
               line == cpu_of(at);
    }
    SIM_ALWAYS_INLINE void take_near(Key before)
    {
        Thread *const thread = hot.thread;
        CallNode *const call = hot.node;
        const Key span = hot.prices.rmw_owned;
        const Key at = before + span;
        call->charged += span;
        hot.key = at;
        ++hot.lock_counts[lock_class].acquisitions;
        digest_event(*thread, at + lock_class);
        owner = thread;
        key = at;
        node = call->index;
    }
    void enter_read_slow();
    void exit_read_slow();
    void touch_line();
    void take_read();
    void take_write();
    void contend(bool write);
    void pass_on_rwlock();
    void admit();
    void respin();

    Line line_;
    uint32_t readers_ = 0;
};

} // namespace sim
