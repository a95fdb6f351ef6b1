// The simulated disk: how long a pool's reads and writes take.
//
// A fixed latency overlaps for as many operations as the device keeps in flight; the transfer itself is one at a time,
// at the device's bandwidth. Writes queue up behind the operations in flight and neighbours in the queue travel as one,
// up to zfs_vdev_aggregation_limit. Reads that nobody waits for have a queue of their own, of which few go to the
// device at once; blocks that lie side by side travel as one, and a block that somebody waits for after all leaves the
// queue. Two service threads play the interrupts: one retires each write when its time has come, gives its dirty bytes
// back to the pool and wakes who waits, one goes on with what a finished read was for. Followed: the shape of
// vdev_queue and zio of OpenZFS 8bea98150 (2016). Left out: priorities of writes, failures; blocks live in memory
// (block.h), a disk moves no bytes.
#pragma once

#include <cstdint>
#include <deque>
#include <exception>
#include <functional>
#include <vector>

#include "model/config.h"
#include "model/kstats.h"
#include "model/spl.h"

namespace dmu {

struct dsl_pool_t;
class vdev_t;

// A group of writes that somebody waits for: zio_root in OpenZFS.
struct zio_root_t {
    vdev_t &io_vdev;
    uint64_t io_pending = 0; // under the vdev's io_lock
    uint64_t io_bytes = 0;   // issued in all
    const int exceptions_at_birth = std::uncaught_exceptions();

    explicit zio_root_t(vdev_t &vdev) : io_vdev(vdev) {}
    ~zio_root_t() noexcept(false)
    {
        if (std::uncaught_exceptions() == exceptions_at_birth) // else the run ends here, with writes on their way
            VERIFY(io_pending == 0);
    }
    zio_root_t(const zio_root_t &) = delete;
    zio_root_t &operator=(const zio_root_t &) = delete;
};

class vdev_t {
public:
    vdev_t(const disk_config &config, dsl_pool_t &dp);

    void start(); // the interrupt threads, that of reads when there is the first one; they end with stop()
    void stop();  // when every read that nobody waits for is done, and those that it led to

    // Queues a write and returns. accounted: dirty bytes of the txg to give back when it is on disk.
    void zio_write(zio_root_t &pio, uint64_t bytes, uint64_t accounted, uint64_t txg);
    // Returns when everything issued under pio is on disk.
    void zio_wait(zio_root_t &pio);
    // Reads and returns when the data is there.
    void zio_read(uint64_t bytes);
    // Reads the block at dva and returns at once; `done` is called by the interrupt thread when the data is there.
    // urgent: it goes to the device at once, as a read that somebody waits for. REQUIRES: the threads run.
    void zio_read_nowait(uint64_t dva, uint64_t bytes, bool urgent, std::function<void()> done);
    // Somebody waits for the block at dva now: a read of it that is still queued goes to the device at once.
    void zio_change_priority(uint64_t dva);

    const vdev_stat_t &stats() const { return vdev_stat_; }

private:
    struct write_t {
        zio_root_t *pio;
        uint64_t bytes, accounted, txg;
    };
    struct flight_t {
        hrtime_t done;
        uint64_t count; // of the writes it carries
    };
    struct read_t {
        uint64_t dva, bytes;
        std::function<void()> done;
    };
    struct read_flight_t {
        hrtime_t done;
        std::vector<read_t> reads;
        bool urgent;
    };

    hrtime_t transfer(uint64_t bytes);
    void issue();
    void issue_reads();
    void send(std::vector<read_t> reads, bool urgent);
    void interrupt_thread();
    void read_interrupt_thread();
    bool reads_pending() const { return !read_queue_.empty() || !read_flights_.empty() || read_in_hand_; }

    const disk_config config_;
    dsl_pool_t &dp_;

    kmutex_t io_lock_{"io_lock"};
    // under io_lock:
    kcondvar_t io_work_cv_, io_done_cv_, io_exit_cv_;
    std::deque<write_t> queue_;     // not issued yet
    std::deque<write_t> in_flight_; // carried by flights_, in order
    std::deque<flight_t> flights_;  // by completion
    kcondvar_t read_work_cv_, reads_drained_cv_;
    std::deque<read_t> read_queue_;          // nobody waits for them, and not issued yet
    std::deque<read_flight_t> read_flights_; // by completion
    uint32_t queued_reads_in_flight_ = 0;    // of read_flights_, those that came through the queue
    bool read_in_hand_ = false;              // the interrupt thread goes on with a finished read
    hrtime_t bus_free_{};
    uint32_t reads_in_flight_ = 0;
    uint32_t running_ = 0; // interrupt threads
    bool reading_ = false; // one of them is that of reads that nobody waits for
    bool exiting_ = false;
    vdev_stat_t vdev_stat_;
};

} // namespace dmu
