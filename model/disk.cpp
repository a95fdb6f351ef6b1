// How the simulated disk schedules, merges and completes.
#include "model/disk.h"

#include <algorithm>

#include "model/dsl_pool.h"
#include "model/muldiv.h"

namespace dmu {

namespace {

constexpr uint64_t zfs_vdev_aggregation_limit = 128 << 10; // neighbours in the queue travel as one up to this size
constexpr uint32_t zfs_vdev_async_read_max_active = 3;     // reads that nobody waits for, at the device at once
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
    // A disk so slow that time will have run out is slow enough.
    const uint64_t transfer_ps =
        std::min(muldiv(bytes, picoseconds_per_second, config_.bandwidth), static_cast<uint64_t>(end_of_time.ps));
    bus_free_ = std::min(std::max(bus_free_, gethrtime()), end_of_time) + Duration{static_cast<int64_t>(transfer_ps)};
    return bus_free_ + nanoseconds(config_.latency_ns);
}

void vdev_t::start()
{
    auto held = mutex_enter(io_lock_);
    VERIFY3(running_, ==, 0u);
    running_ = 1;
    reading_ = false;
    exiting_ = false;
    thread_create("z_wr_int", [this] { interrupt_thread(); });
}

void vdev_t::stop()
{
    auto held = mutex_enter(io_lock_);
    VERIFY(queue_.empty());
    VERIFY(flights_.empty());
    while (reads_pending())
        cv_wait(reads_drained_cv_, io_lock_, WaitKind::disk);
    exiting_ = true;
    cv_broadcast(io_work_cv_);
    cv_broadcast(read_work_cv_);
    while (running_ != 0)
        cv_wait(io_exit_cv_, io_lock_, WaitKind::other);
}

void vdev_t::zio_write(zio_root_t &pio, uint64_t bytes, uint64_t accounted, uint64_t txg)
{
    auto held = mutex_enter(io_lock_);
    VERIFY3(running_, >, 0u);
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
    --running_;
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

void vdev_t::zio_read_nowait(uint64_t dva, uint64_t bytes, bool urgent, std::function<void()> done)
{
    auto held = mutex_enter(io_lock_);
    VERIFY3(running_, >, 0u);
    if (!reading_) { // its thread would only take part in the scheduling of pools that read nothing so
        reading_ = true;
        ++running_;
        thread_create("z_rd_int", [this] { read_interrupt_thread(); });
    }
    read_t read{dva, bytes, std::move(done)};
    if (urgent) {
        std::vector<read_t> alone;
        alone.push_back(std::move(read));
        send(std::move(alone), true);
        return;
    }
    read_queue_.push_back(std::move(read));
    issue_reads();
}

void vdev_t::zio_change_priority(uint64_t dva)
{
    auto held = mutex_enter(io_lock_);
    const auto queued =
        std::find_if(read_queue_.begin(), read_queue_.end(), [&](const read_t &read) { return read.dva == dva; });
    if (queued == read_queue_.end())
        return;
    std::vector<read_t> alone;
    alone.push_back(std::move(*queued));
    read_queue_.erase(queued);
    send(std::move(alone), true);
}

// Sends queued reads to the device while it takes more of them. REQUIRES: io_lock is held.
void vdev_t::issue_reads()
{
    while (!read_queue_.empty() && queued_reads_in_flight_ < zfs_vdev_async_read_max_active) {
        std::vector<read_t> together;
        uint64_t bytes = 0;
        do {
            bytes += read_queue_.front().bytes;
            together.push_back(std::move(read_queue_.front()));
            read_queue_.pop_front();
        } while (!read_queue_.empty() && read_queue_.front().dva == together.back().dva + 1 &&
                 bytes + read_queue_.front().bytes <= zfs_vdev_aggregation_limit);
        ++queued_reads_in_flight_;
        send(std::move(together), false);
    }
}

// REQUIRES: io_lock is held.
void vdev_t::send(std::vector<read_t> reads, bool urgent)
{
    uint64_t bytes = 0;
    for (const read_t &read : reads)
        bytes += read.bytes;
    ++reads_in_flight_;
    ++vdev_stat_.vs_reads;
    vdev_stat_.vs_bytes_read += bytes;
    read_flights_.push_back({transfer(bytes), std::move(reads), urgent});
    if (read_flights_.size() == 1)
        cv_signal(read_work_cv_);
}

void vdev_t::read_interrupt_thread()
{
    auto held = mutex_enter(io_lock_);
    while (true) {
        while (read_flights_.empty() && !exiting_)
            cv_wait(read_work_cv_, io_lock_, WaitKind::other);
        if (read_flights_.empty())
            break;

        const hrtime_t done = read_flights_.front().done; // completions are in order, as those of writes
        held.exit();
        delay_until(done, WaitKind::disk);
        held = mutex_enter(io_lock_);

        const read_flight_t flight = std::move(read_flights_.front());
        read_flights_.pop_front();
        --reads_in_flight_;
        if (!flight.urgent)
            --queued_reads_in_flight_;
        read_in_hand_ = true;
        issue();
        issue_reads();
        held.exit();
        for (const read_t &read : flight.reads)
            read.done();
        held = mutex_enter(io_lock_);
        read_in_hand_ = false;
        if (!reads_pending())
            cv_broadcast(reads_drained_cv_);
    }
    --running_;
    cv_broadcast(io_exit_cv_);
}

} // namespace dmu
