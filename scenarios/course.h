// How a run goes over simulated time: CPU time used and time waited for each class of lock, interval by interval.
//
// A sum at the end says that os_obj_lock was waited for; when, and whether it came with a txg's sync, only a course
// shows. It is kept from what the kernel announces, and only where "series" is recorded: announcements cost the host
// time. Spans are cut at the beginning and the end of the measured part. Whoever else listens goes on hearing
// everything.
#pragma once

#include "scenarios/run.h"
#include "scenarios/statistics.h"
#include "sim/observer.h"

#include <span>
#include <vector>

namespace sim {
struct LockClassInfo;
}

namespace scenarios {

class Course : public sim::Observer {
public:
    Course(size_t cpus, size_t lock_classes, sim::Observer *next);

    void begin(sim::Time at); // of the measured part: everything before is forgotten
    void end(sim::Time at);

    // CPU time, then the classes waited for longest; empty where nothing was measured.
    std::vector<Series> series(std::span<const sim::LockClassInfo> classes) const;

    bool wants_holds() const override { return next_ != nullptr && next_->wants_holds(); }
    bool wants_frames() const override { return next_ != nullptr && next_->wants_frames(); }
    void thread_started(const sim::Thread &thread, sim::Time at) override;
    void thread_finished(const sim::Thread &thread, sim::Time at) override;
    void switched(uint32_t cpu, const sim::Thread *to, sim::Time at) override;
    void waited(const sim::LockWait &wait) override;
    void held(const sim::LockHold &hold) override;
    void slept(const sim::Thread &thread, sim::Time from, sim::Time until, const sim::CallNode &node) override;
    void frame_entered(const sim::Thread &thread, const sim::CallNode &node, sim::Time at) override;
    void frame_left(const sim::Thread &thread, const sim::CallNode &node, sim::Time at) override;

private:
    static constexpr size_t classes_shown = 5;
    struct Cpu {
        bool busy = false;
        sim::Time since;
    };
    void add(Timeline &timeline, sim::Time from, sim::Time until) const;

    sim::Observer *next_;
    std::vector<Cpu> cpus_;
    Timeline busy_;
    std::vector<Timeline> waits_; // by lock class
    sim::Time from_;
    sim::Time until_{INT64_MAX};
};

} // namespace scenarios
