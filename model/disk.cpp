// How the simulated disk schedules, merges and completes.
#include "model/disk.h"

#include <algorithm>

#include "model/dsl_pool.h"
#include "model/muldiv.h"

namespace dmu {

namespace {

constexpr uint64_t zfs_vdev_aggregation_limit = 128 << 10; // neighbours in the queue travel as one up to this size
constexpr uint64_t picoseconds_per_second = 1'000'000'000'000;

} // namespace

vdev_t::vdev_t(const disk_config &config, dsl_pool_t &dp) : config_(config), dp_(dp)
{
    VERIFY3(config.bandwidth, >, 0u);
    VERIFY3(config.queue_depth, >, 0u);
}

// When an operation that is issued now will be done. The transfer waits for the bus, the latency is everybody's own.
hrtime_t vdev_t::transfer(uint64_t bytes)
{
    const uint64_t transfer_ps = muldiv(bytes, picoseconds_per_second, config_.bandwidth);
    bus_free_ = std::max(bus_free_, gethrtime()) + Duration{static_cast<int64_t>(transfer_ps)};
    return bus_free_ + nanoseconds(config_.latency_ns);
}

void vdev_t::start()
{
    auto held = mutex_enter(io_lock_);
    VERIFY(!running_);
    running_ = true;
    exiting_ = false;
    thread_create("z_wr_int", [this] { interrupt_thread(); });
}

void vdev_t::stop()
{
    auto held = mutex_enter(io_lock_);
    VERIFY(queue_.empty());
    VERIFY(flights_.empty());
    exiting_ = true;
    cv_broadcast(io_work_cv_);
    while (running_)
        cv_wait(io_exit_cv_, io_lock_, WaitKind::other);
}

void vdev_t::zio_write(zio_root_t &pio, uint64_t bytes, uint64_t accounted, uint64_t txg)
{
    auto held = mutex_enter(io_lock_);
    VERIFY(running_);
    ++pio.io_pending;
    pio.io_bytes += bytes;
    queue_.push_back({&pio, bytes, accounted, txg});
    issue();
}

// Sends queued writes to the device while it takes more. REQUIRES: io_lock is held.
void vdev_t::issue()
{
    while (!queue_.empty() && flights_.size() + reads_in_flight_ < config_.queue_depth) {
        uint64_t count = 0, bytes = 0;
        do {
            bytes += queue_.front().bytes;
            in_flight_.push_back(queue_.front());
            queue_.pop_front();
            ++count;
        } while (!queue_.empty() && bytes + queue_.front().bytes <= zfs_vdev_aggregation_limit);

        flights_.push_back({transfer(bytes), count});
        ++vdev_stat_.vs_writes;
        vdev_stat_.vs_bytes_written += bytes;
        if (flights_.size() == 1)
            cv_broadcast(io_work_cv_);
    }
}

void vdev_t::interrupt_thread()
{
    auto held = mutex_enter(io_lock_);
    while (true) {
        while (flights_.empty() && !exiting_)
            cv_wait(io_work_cv_, io_lock_, WaitKind::other);
        if (flights_.empty())
            break;

        // Completions are in order: the bus is one and the latency is the same for all.
        const flight_t flight = flights_.front();
        held.exit();
        delay_until(flight.done, WaitKind::disk);
        held = mutex_enter(io_lock_);

        uint64_t accounted = 0;
        const uint64_t txg = in_flight_.front().txg;
        for (uint64_t i = 0; i < flight.count; ++i) {
            VERIFY3(in_flight_[i].txg, ==, txg);
            accounted += in_flight_[i].accounted;
        }
        // The dirty bytes are given back before anybody learns that the writes are done: after the last one the txg's
        // slot of the account is somebody else's.
        held.exit();
        dsl_pool_undirty_space(dp_, accounted, txg);
        held = mutex_enter(io_lock_);

        bool finished = false;
        for (uint64_t i = 0; i < flight.count; ++i) {
            zio_root_t &pio = *in_flight_.front().pio;
            in_flight_.pop_front();
            VERIFY3(pio.io_pending, >, 0u);
            finished |= --pio.io_pending == 0;
        }
        flights_.pop_front();
        if (finished)
            cv_broadcast(io_done_cv_);
        issue();
    }
    running_ = false;
    cv_broadcast(io_exit_cv_);
}

void vdev_t::zio_wait(zio_root_t &pio)
{
    auto held = mutex_enter(io_lock_);
    while (pio.io_pending != 0)
        cv_wait(io_done_cv_, io_lock_, WaitKind::disk);
}

void vdev_t::zio_read(uint64_t bytes)
{
    auto held = mutex_enter(io_lock_);
    ++reads_in_flight_;
    ++vdev_stat_.vs_reads;
    vdev_stat_.vs_bytes_read += bytes;
    const hrtime_t done = transfer(bytes);
    held.exit();

    delay_until(done, WaitKind::disk);

    held = mutex_enter(io_lock_);
    --reads_in_flight_;
    issue();
}

} // namespace dmu
