// The zio that a read of several blocks, or one that nobody waits for, hangs its disk reads on: its own lock, entered
// where the real one is entered by a zio without children.
#pragma once

#include "model/spl.h"

namespace dmu {

class zio_t {
public:
    zio_t() // zio_root
    {
        Probe probe{Fn::zio_root};
        kmem_alloc(sizeof(zio_t));
        Probe create_probe{Fn::zio_create};
    }
    ~zio_t() noexcept(false) { kmem_free(sizeof(zio_t)); }
    zio_t(const zio_t &) = delete;
    zio_t &operator=(const zio_t &) = delete;

    void wait()
    {
        Probe probe{Fn::zio_wait};
        execute(times_entered_waiting);
    }
    void nowait()
    {
        Probe probe{Fn::zio_nowait};
        execute(times_entered);
    }

private:
    static constexpr uint32_t times_entered = 4;         // zio_ready and zio_done
    static constexpr uint32_t times_entered_waiting = 6; // and zio_wait

    void execute(uint32_t times)
    {
        for (uint32_t i = 0; i < times; ++i)
            mutex_enter(io_lock_).exit();
        Probe done_probe{Fn::zio_done};
    }

    kmutex_t io_lock_{"io_lock"};
};

} // namespace dmu
