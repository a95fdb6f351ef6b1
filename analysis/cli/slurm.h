// A sweep beyond one machine: its shards as the tasks of a Slurm job array.
//
// The folder beside the sweep's file (on a file system that every node sees) holds one part a shard. A part is written
// whole or not at all, and each has a journal of its own, so whatever kills a task (a node that dies, scancel, the time
// limit), what it had finished is kept, and what is missing is found by looking at the files, not by asking Slurm why.
// Missing parts are submitted again until none is missing, or until a round brings nothing new. Slurm limits the size
// of an array (1,001 tasks by default), so a task takes a slice of the grid and not a point.
#pragma once

#include "analysis/cli/progress.h"

#include <string>
#include <vector>

namespace cli {

struct SlurmJob {
    std::string folder;               // made if need be
    std::string identity;             // equal for equal sweeps only
    std::vector<std::string> command; // of one shard, without --shard and -o
    size_t parts = 1;
    std::string partition; // empty: the default one
    bool detach = false;
};

// The file of one part, from 1.
std::string part_file(const SlurmJob &job, size_t part);

// True when every part is there; false when detached. Throws HostError (no Slurm, rounds that bring nothing),
// UsageError (the folder is another sweep's), Interrupted.
bool run_parts(const SlurmJob &job, Progress &progress);

} // namespace cli
