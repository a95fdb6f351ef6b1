// The interpreter: simulated threads that run the steps of a scenario.
//
// A World is what all threads of a run share: the pool, the objects that scripts may free, the tallies of the
// operations, barriers and shared repeats. A Worker is one thread: where it is in its script, its random stream, its
// placeholders. Nothing here costs simulated time unless a script says so; only the operations' own calls into the
// model do.
#pragma once

#include "model/dmu_tx.h"
#include "model/objset.h"
#include "model/spa.h"
#include "model/spl.h"
#include "scenarios/live_objects.h"
#include "scenarios/run.h"
#include "scenarios/scenario.h"
#include "scenarios/statistics.h"
#include "sim/random.h"
#include "sim/simulator.h"

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace scenarios {

class World;

// What one operation of the list came to, over all threads.
struct Tally {
    uint64_t count = 0;
    std::map<int, uint64_t> errors;
    LatencyHistogram latency;
    TimeParts parts;
};

// The rounds of a shared repeat, handed out first come: one pool for each time the group comes to the step.
struct SharedRounds {
    std::deque<uint64_t> given; // by visit; the front is visit `first`
    uint64_t first = 0;
};

struct GroupState {
    const Group *group = nullptr;
    uint64_t numbers_given = 0; // {n}
    TimeParts parts;
    std::map<uint32_t, SharedRounds> shared; // by step id
};

struct Barrier {
    uint64_t parties = 0; // living threads that will come to it
    uint64_t waiting = 0;
    uint64_t generation = 0;
    dmu::kmutex_t lock{"script_lock"};
    dmu::kcondvar_t opened;
};

// A mutex that scripts name.
struct ScriptLock {
    dmu::kmutex_t lock{"script_lock"};
};

class Worker : public Placeholders {
  public:
    Worker(World &world, GroupState &group, uint64_t index, sim::Random random);

    void run(const Steps &steps);

    World &world() { return world_; }
    // No operation may begin any more: the stop time has passed, or the run is ending.
    bool stopping() const;

    // This round's value of a number or text of the step.
    uint64_t value(const Quantity &quantity);
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
    // The same with no other operation under way (the objset is about to be exchanged). EBUSY while a transaction is
    // held.
    template <class Body>
    void operate_alone(const Step &step, const Body &body)
    {
        const Mark begin = mark();
        const int error = begin_alone() ? body() : EBUSY;
        end_alone();
        finish(step, begin, error);
    }

    uint64_t thread() override { return index_; }
    uint64_t round() override { return rounds_.empty() ? 0 : rounds_.back().index; }
    uint64_t group_number() override;
    std::string_view group() override;
    uint64_t random(uint64_t low, uint64_t high) override;

  private:
    struct Round {
        uint64_t index = 0;
        bool numbered = false;
        uint64_t number = 0;
    };
    struct Mark {
        sim::Time time;
        sim::TimeParts parts;
    };

    void perform(const Step &step);
    void repeat(const Step &step);
    void choose(const Step &step);
    void barrier(const Step &step);
    void wait_until(const Step &step);
    // A round of a shared repeat, or false when they are used up.
    bool take_shared(const Step &step, uint64_t visit, uint64_t rounds, uint64_t &index);

    Mark mark() const;
    void finish(const Step &step, const Mark &begin, int error);
    void enter_operation();
    void leave_operation();
    bool begin_alone();
    void end_alone();

    World &world_;
    GroupState &group_;
    uint64_t index_;
    sim::Random random_;
    std::vector<Round> rounds_;
    std::map<uint32_t, uint64_t> visits_; // of shared repeats, by step id
};

// Calls of the counted functions made by this thread since the object was made.
class CallsWithin {
  public:
    explicit CallsWithin(Worker &worker);
    uint64_t next_offset() const;
    uint64_t hold() const;

  private:
    uint64_t next_offset_;
    uint64_t hold_;
};

} // namespace scenarios
