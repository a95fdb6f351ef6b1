#include "scenarios/errno_names.h"

#include <cerrno>

namespace scenarios {

std::string errno_name(int error)
{
    struct Named {
        int error;
        const char *name;
    };
    static constexpr Named names[] = {
        {EPERM, "EPERM"},
        {ENOENT, "ENOENT"},
        {ESRCH, "ESRCH"},
        {EINTR, "EINTR"},
        {EIO, "EIO"},
        {E2BIG, "E2BIG"},
        {EAGAIN, "EAGAIN"},
        {ENOMEM, "ENOMEM"},
        {EACCES, "EACCES"},
        {EBUSY, "EBUSY"},
        {EEXIST, "EEXIST"},
        {EXDEV, "EXDEV"},
        {ENOTDIR, "ENOTDIR"},
        {EISDIR, "EISDIR"},
        {EINVAL, "EINVAL"},
        {EFBIG, "EFBIG"},
        {ENOSPC, "ENOSPC"},
        {EROFS, "EROFS"},
        {EDOM, "EDOM"},
        {ERANGE, "ERANGE"},
        {EDEADLK, "EDEADLK"},
        {ENAMETOOLONG, "ENAMETOOLONG"},
        {ENOTEMPTY, "ENOTEMPTY"},
        {EOVERFLOW, "EOVERFLOW"},
        {ENOTSUP, "ENOTSUP"},
        {EDQUOT, "EDQUOT"},
        {ERESTART, "ERESTART"},
        {EILSEQ, "EILSEQ"},
        {EALREADY, "EALREADY"},
    };
    for (const Named &one : names)
        if (one.error == error)
            return one.name;
    return "errno " + std::to_string(error);
}

} // namespace scenarios
