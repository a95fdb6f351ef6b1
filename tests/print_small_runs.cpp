// Prints the results of every built-in scenario, made small: for byte comparison of differently built programs.
#include "tests/small_runs.h"

#include <cstdio>

int main()
{
    analysis::Json overrides = small_sizes();
    for (const std::string &name : scenarios::library_names())
        std::printf("%s\n", analysis::dump(analysis::report_json(small_run(name, overrides[name]))).c_str());
    return 0;
}
