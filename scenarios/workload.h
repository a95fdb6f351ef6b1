// The interpreter: simulated threads that run the steps of a scenario.
//
// A World is what all threads of a run share: the pool, the objects that scripts may free, the tallies of the
// operations, barriers and shared repeats. A Worker is one thread: where it is in its script, its random stream, its
// placeholders. Scripts cost no simulated time of their own; operations, sleeps, thinks, barriers and locks do.
//
// What threads share here is touched in the order of simulated time (settle() first) wherever the order can be seen in
// a result: shared rounds, {n}, choosing live objects, recorded object numbers. Sums need no order.
#pragma once

#include "model/dmu_tx.h"
#include "model/dmu_zfetch.h"
#include "model/objset.h"
#include "model/spa.h"
#include "model/spl.h"
#include "model/zap.h"
#include "model/zpl.h"
#include "scenarios/live_objects.h"
#include "scenarios/run.h"
#include "scenarios/scenario.h"
#include "scenarios/statistics.h"

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace scenarios {

class Course;
class Worker;

// What one operation came to, over all threads.
struct Tally {
    uint64_t count = 0;
    std::map<int, uint64_t> errors;
    LatencyHistogram latency; // picoseconds
    sim::TimeParts parts;
    std::map<uint16_t, sim::LockShare> locks; // by class
    Timeline timeline;                        // when "series" is recorded
};

// The rounds of a shared repeat, handed out first come: one pool for each time that the group's threads come to the
// step.
struct SharedRounds {
    std::vector<uint64_t> given; // by visit
};

struct GroupState {
    const Group *group = nullptr;
    uint64_t numbers_given = 0;              // {n}
    std::map<uint32_t, SharedRounds> shared; // by step id
};

struct Barrier {
    uint64_t parties = 0; // living threads whose script has it
    uint64_t waiting = 0;
    uint64_t generation = 0;
    dmu::kmutex_t lock{"script_barrier"};
    dmu::kcondvar_t opened;
};

// A mutex that scripts name. The lock comes first: reports find the name by the lock's address.
struct ScriptLock {
    explicit ScriptLock(std::string name_in) : name(std::move(name_in)) {}
    dmu::kmutex_t lock{"script_lock"};
    std::string name;
};

class World {
public:
    World(const Scenario &scenario, sim::Simulator &simulator, const RunOptions &options);

    const Scenario &scenario;
    sim::Simulator &simulator;

    dmu::spa_t &spa() { return *spa_; }
    dmu::objset_t &objset() { return spa_->objset(); }

    dmu::zfsvfs_t &filesystem() { return *filesystem_; }

    // ---- the phases, each from the thread that plays the operator ----
    void create(); // the pool; then the setup steps, synced
    void start_workload();
    void wait_for_workload();
    void stop();  // the pool
    void close(); // after stop and the checks: everything in memory goes, and nothing may be left

    // ---- what operations keep ----
    LiveObjects live;
    std::map<uint64_t, uint64_t> at_work; // operations that change an object, by its number
    std::map<std::string, dmu::dmu_tx_ptr> held;
    std::map<std::string, std::unique_ptr<ScriptLock>> locks;
    // Files that scripts have read or written, by path, as a program keeps its descriptors: until they lose that name.
    // Whoever is at work in one when it is closed has it until it is done.
    std::map<std::string, std::shared_ptr<dmu::znode_ref>> open_files;
    std::map<std::string, uint64_t> zaps;              // object numbers by the names that scripts give them
    std::map<std::string, dmu::zap_stats_t> zap_stats; // of ZAPs and directories, as last read by a script
    ObjectRuns handed_out;
    std::vector<Tally> tallies; // by index in operations()
    std::vector<Refusal> refusals;

    Course *course = nullptr; // when "series" is recorded

    uint64_t objects_in_use = 0; // allocated or claimed by scripts, and not freed
    void allocated(uint64_t object);
    void make_live(uint64_t object); // by an operation of the running thread

    // ---- counters ----
    uint64_t counter(const std::string &name) const;         // 0 for a name that is none
    std::map<std::string, uint64_t> kstats() const;          // of this objset and those before it, from the start
    std::map<std::string, uint64_t> measured_kstats() const; // since the measured part began
    // The objset is about to be closed, and has been opened again.
    void objset_closes();
    void objset_opened();
    std::vector<HistogramRow> zfetch_latency_rows() const; // of dmu_zfetch in the measured part, by microseconds
    std::vector<HistogramRow> hold_zap_rows() const;       // dmu_tx_hold_zap in the measured part, by holds of its ZAP
    std::vector<HistogramRow> alloc_next_offset_rows() const; // dmu_object_alloc there, by what it called
    std::vector<HistogramRow> alloc_hold_rows() const;

    // ---- time ----
    uint64_t epoch() const { return epoch_; } // changes when the measured part begins
    sim::Time measured_from() const { return measured_from_; }
    bool measuring() const { return measuring_; } // false: in the setup or the warmup
    std::string warmup_text() const;              // for people
    bool stopping() const { return ending_ || sim::now() >= stop_at_; }
    void end_run() { ending_ = true; }
    // Counted in the tally already: the warmup may be over, the caller wants to know how far the run is.
    void operation_done(const Step &step, Tally &tally);
    void step_done(); // of any kind, or a round: it is no livelock. Now and then the caller may end the run here
    // Ends the run there: the running thread does not come back.
    [[noreturn]] void give_up(sim::Ending ending, std::string text);

    bool part_done() // of an operation that takes long; false: it is to end
    {
        step_done();
        return !stopping();
    }

    // ---- operations that need the objset for themselves ----
    uint64_t operations_running = 0;
    uint64_t waiting_alone = 0;

    Barrier &barrier(const std::string &name) { return *barriers_.at(name); }
    void thread_leaves(const GroupState &group);

private:
    bool caller_goes_on() const;
    void make_barriers();
    void begin_measurement();

    std::unique_ptr<dmu::spa_t> spa_;
    std::unique_ptr<dmu::zfsvfs_t> filesystem_; // null: no operation needs one
    std::array<uint64_t, 32> hold_zap_before_{};
    dmu::zfetch_latency_t zfetch_latency_before_{};
    std::array<uint64_t, 65> alloc_next_offsets_before_{}, alloc_holds_before_{};
    std::vector<GroupState> groups_;
    std::map<std::string, std::unique_ptr<Barrier>> barriers_;
    std::map<std::string, uint64_t> closed_kstats_;
    std::map<std::string, uint64_t> kstats_before_;
    std::map<std::string, uint64_t> kstats_at_end_; // taken when the pool closes, which counts for nothing
    const RunOptions &options_;
    const bool record_objects_;
    const bool record_series_;
    const bool needs_file_system_;
    const bool orders_live_; // somebody asks which objects live while others make them
    uint64_t operations_ = 0;
    uint64_t polls_ = 0;
    bool measuring_ = false;
    bool ending_ = false;
    uint64_t epoch_ = 0;
    sim::Time measured_from_;
    sim::Time stop_at_{INT64_MAX};
    uint64_t workers_ = 0;
    dmu::kmutex_t done_lock_{"script_barrier"};
    dmu::kcondvar_t all_done_;
};

class Worker : public Placeholders {
public:
    Worker(World &world, GroupState &group, uint64_t index, sim::Random random);

    void run(const Steps &steps);

    World &world() { return world_; }
    // No operation may begin any more: the stop time has passed, or the run is ending.
    bool stopping() const { return world_.stopping(); }

    // This round's value of a number or text of the step.
    uint64_t value(const Step &step, const Quantity &quantity);
    std::string text(const Template &text) { return text.fill(*this); }

    // One operation: `body` returns 0 or an errno. Counted, timed; a refusal of a step that must succeed ends the run.
    template <class Body>
    void operate(const Step &step, const Body &body)
    {
        enter_operation();
        const Mark begin = mark();
        const int error = body();
        finish(step, begin, error);
        leave_operation();
    }
    // The same with no other operation under way, since the objset is about to be exchanged. EBUSY while a transaction
    // is held.
    template <class Body>
    void operate_alone(const Step &step, const Body &body)
    {
        const Mark begin = mark();
        begin_alone();
        const int error = world_.held.empty() ? body() : EBUSY;
        end_alone();
        finish(step, begin, error);
    }

    // Where this thread's sequential accesses to an object by that step have come to, in bytes.
    uint64_t &position(const Step &step, uint64_t object) { return positions_[{step.id, object}]; }

    uint64_t thread() override { return index_; }
    uint64_t round() override { return rounds_.empty() ? 0 : rounds_.back().index; }
    uint64_t group_number() override;
    std::string_view group() override { return group_.group->name; }
    uint64_t random(uint64_t low, uint64_t high) override { return random_.between(low, high); }

private:
    struct Round {
        uint64_t index = 0;
        bool numbered = false;
        uint64_t number = 0;
    };
    struct Mark {
        sim::Time time;
        sim::TimeParts parts;
        uint64_t epoch;
    };

    void perform(const Step &step);
    // A step is done, or a round: the script goes on. Ends the run where time stands still for ever.
    void went_on(const Step &step);
    void rest(sim::Duration length); // as the script says
    void repeat(const Step &step);
    void choose(const Step &step);
    void meet(const Step &step);
    void wait_until(const Step &step);
    // The next round of a shared repeat, if there is one left.
    bool take_shared(SharedRounds &shared, uint64_t visit, uint64_t rounds, uint64_t &index);

    Mark mark() const
    {
        sim::curthread().lock_shares.clear();
        return {sim::now(), sim::curthread().parts_now(), world_.epoch()};
    }
    void finish(const Step &step, const Mark &begin, int error);
    void enter_operation()
    {
        while (world_.waiting_alone != 0)
            [[unlikely]] wait_for_the_one_alone();
        ++world_.operations_running;
    }
    void leave_operation() { --world_.operations_running; }
    void wait_for_the_one_alone();
    void begin_alone();
    void end_alone() { --world_.waiting_alone; }

    World &world_;
    GroupState &group_;
    uint64_t index_;
    sim::Random random_;
    sim::Time stood_at_{-1}; // this thread, for so many steps
    uint64_t steps_standing_ = 0;
    uint32_t uncounted_ = 0;                                      // repeats under way that only time ends
    Round outside_;                                               // of any repeat
    std::map<std::pair<uint32_t, uint64_t>, uint64_t> positions_; // by step and object
    std::vector<Round> rounds_;
    std::map<uint32_t, uint64_t> visits_; // of shared repeats, by step id
};

} // namespace scenarios
