// What a call of the simulated DMU returns when it can be refused: a value, or the errno the real code returns.
//
// Refusals (ENOENT, EEXIST, ENOSPC, ERESTART) are outcomes of the simulated system and travel by value; mistakes of the
// program are VERIFY, mistakes of the user are exceptions. `return SET_ERROR(EEXIST);` is written as in OpenZFS.
#pragma once

#include <cerrno>
#include <utility>

#include "sim/verify.h"

namespace dmu {

struct error_t {
    int code;
};

[[nodiscard]] constexpr error_t SET_ERROR(int code)
{
    return {code};
}

template <class T = void>
class [[nodiscard]] Result {
public:
    Result(T value) : value_(std::move(value)) {} // of a type that can be empty
    Result(error_t error) : error_(error.code) { VERIFY(error_ != 0); }

    explicit operator bool() const { return error_ == 0; }
    bool ok() const { return error_ == 0; }
    int error() const { return error_; } // 0: there is a value

    T &operator*()
    {
        VERIFY(error_ == 0);
        return value_;
    }
    const T &operator*() const
    {
        VERIFY(error_ == 0);
        return value_;
    }
    T *operator->() { return &**this; }
    const T *operator->() const { return &**this; }
    T value_or(T fallback) const { return error_ == 0 ? value_ : std::move(fallback); }
    T take_or(T fallback) { return error_ == 0 ? std::move(value_) : std::move(fallback); } // for what cannot be copied

private:
    T value_{};
    int error_ = 0;
};

template <>
class [[nodiscard]] Result<void> {
public:
    Result() = default;
    Result(error_t error) : error_(error.code) { VERIFY(error_ != 0); }

    explicit operator bool() const { return error_ == 0; }
    bool ok() const { return error_ == 0; }
    int error() const { return error_; }

private:
    int error_ = 0;
};

} // namespace dmu
