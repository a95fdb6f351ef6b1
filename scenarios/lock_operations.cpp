// Operations on mutexes that scripts name: for scenarios about locks themselves, such as two threads that take two
// locks in opposite order.
#include "scenarios/lock_verbs.h"
#include "scenarios/operation.h"

namespace scenarios {

std::vector<Operation> lock_operations()
{
    const auto name = [] {
        return required(template_text("name", &Step::name, 255, "Which lock; made when first named."));
    };
    return {{"lock", "Takes a mutex that scripts share by name; EDEADLK when the thread has it already.",
             Table("an op lock", with_common("lock", {name()})), lock_verbs::lock, nullptr},
            {"unlock", "Gives it back; EPERM when the thread does not have it.",
             Table("an op unlock", with_common("unlock", {name()})), lock_verbs::unlock, nullptr}};
}

} // namespace scenarios
