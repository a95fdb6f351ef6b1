// The simulated disk: how long a pool's reads and writes take.
//
// A fixed latency overlaps for as many operations as the device keeps in flight; the transfer itself is one at a time,
// at the device's bandwidth. Writes queue up behind the operations in flight and neighbours in the queue travel as one,
// up to zfs_vdev_aggregation_limit. A service thread plays the interrupt: it retires each write when its time has come,
// gives its dirty bytes back to the pool and wakes who waits. Followed: the shape of vdev_queue and zio of OpenZFS
// 8bea98150 (2016). Left out: priorities, offsets, failures; blocks live in memory (block.h), a disk moves no bytes.
#pragma once

#include <cstdint>
#include <deque>

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

    explicit zio_root_t(vdev_t &vdev) : io_vdev(vdev) {}
    ~zio_root_t() noexcept(false) { VERIFY(io_pending == 0); }
    zio_root_t(const zio_root_t &) = delete;
    zio_root_t &operator=(const zio_root_t &) = delete;
};

class vdev_t {
public:
    vdev_t(const disk_config &config, dsl_pool_t &dp);

    void start(); // the interrupt thread; it ends with stop()
    void stop();

    // Queues a write and returns. accounted: dirty bytes of the txg to give back when it is on disk.
    void zio_write(zio_root_t &pio, uint64_t bytes, uint64_t accounted, uint64_t txg);
    // Returns when everything issued under pio is on disk.
    void zio_wait(zio_root_t &pio);
    // Reads and returns when the data is there.
    void zio_read(uint64_t bytes);

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

    hrtime_t transfer(uint64_t bytes);
    void issue();
    void interrupt_thread();

    const disk_config config_;
    dsl_pool_t &dp_;

    kmutex_t io_lock_{"io_lock"};
    // under io_lock:
    kcondvar_t io_work_cv_, io_done_cv_, io_exit_cv_;
    std::deque<write_t> queue_;     // not issued yet
    std::deque<write_t> in_flight_; // carried by flights_, in order
    std::deque<flight_t> flights_;  // by completion
    hrtime_t bus_free_{};
    uint32_t reads_in_flight_ = 0;
    bool running_ = false, exiting_ = false;
    vdev_stat_t vdev_stat_;
};

} // namespace dmu
