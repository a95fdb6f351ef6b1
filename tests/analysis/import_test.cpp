// Workloads of other tools as scenarios: what is carried over runs, what is not is said.
#include "analysis/import.h"
#include "scenarios/run.h"
#include "scenarios/scenario.h"
#include "scenarios/strict_json.h"

#include <doctest/doctest.h>

using namespace analysis;

namespace {

std::map<std::string, uint64_t> counts(const Imported &imported)
{
    scenarios::RunResult result =
        scenarios::run(scenarios::read_scenario(scenarios::parse_json("test", imported.scenario.dump())));
    INFO(result.ending);
    CHECK(result.end == scenarios::End::completed);
    std::map<std::string, uint64_t> all;
    for (const scenarios::OpResult &op : result.ops) {
        all[op.name] = op.count;
        CHECK(op.errors.empty());
    }
    return all;
}

using Counts = std::map<std::string, uint64_t>;

bool noted(const Imported &imported, const std::string &text)
{
    for (const std::string &note : imported.notes)
        if (note.find(text) != std::string::npos)
            return true;
    return false;
}

} // namespace

TEST_CASE("mdtest: every task makes, stats and removes its files in one directory")
{
    Imported imported = import_mdtest("mpirun -np 4 /usr/bin/mdtest -F -C -T -r -n 25 -d /tank/x");
    CHECK(counts(imported) == Counts{{"create", 100}, {"stat", 100}, {"unlink", 100}});
    CHECK(imported.scenario["params"]["tasks"] == 4);
    CHECK(noted(imported, "-d"));
}

TEST_CASE("mdtest: a directory for each task, a tree, rounds, options written together")
{
    Imported imported = import_mdtest("srun --ntasks 2 mdtest -FCru -I 3 -z1 -b 2 -i 2 -w 4096");
    CHECK(counts(imported) == Counts{{"create", 2 * 3 * 3 * 2}, {"unlink", 2 * 3 * 3 * 2}, {"write", 2 * 3 * 3 * 2}});
    CHECK_FALSE(noted(imported, "-w"));
    CHECK(noted(imported, "depth of the tree"));
}

TEST_CASE("mdtest: what only stats finds items that were there before; reads are look-ups, and that is said")
{
    Imported imported = import_mdtest("-F -T -E -n 10");
    CHECK(counts(imported) == Counts{{"stat", 10}, {"lookup", 10}});
    CHECK(noted(imported, "-E"));
    CHECK(counts(import_mdtest("-D -n 5")) == Counts{{"mkdir", 5}, {"rmdir", 5}});
}

TEST_CASE("mdtest: bytes are written and read, as far as there are any")
{
    CHECK(counts(import_mdtest("-F -C -E -n 10 -w 4096 -e 4096")) ==
          Counts{{"create", 10}, {"read", 10}, {"write", 10}});
    CHECK(counts(import_mdtest("-F -E -n 10 -w 8192 -e 4096")) == Counts{{"read", 10}});
    const Imported more = import_mdtest("-F -C -E -n 10 -w 4096 -e 8192");
    CHECK(noted(more, "beyond those written"));
    CHECK(counts(more)["read"] == 10);
}

TEST_CASE("mdtest: what is no argument of it is an error")
{
    for (const char *bad : {"", "-F", "-n", "-n x -F", "-n 5 --", "-n 5 file", "-n 5 -Q", "-n '5", "-D -T -n 5"}) {
        INFO(std::string(bad));
        if (std::string(bad) == "-n 5 --") {
            CHECK_NOTHROW(import_mdtest(bad));
            continue;
        }
        CHECK_THROWS_AS(import_mdtest(bad), ImportError);
    }
}

TEST_CASE("fio: filecreate, filestat and filedelete, one after the other by stonewall")
{
    Imported imported = import_fio("[global]\nnrfiles=20\nnumjobs=3 ; comment\nthread\n"
                                   "[make]\nioengine=filecreate\nfilesize=4k\n"
                                   "[look]\nstonewall\nioengine=filestat\nloops=2\n"
                                   "[remove]\nstonewall\nioengine=filedelete\nsomething_odd=7\n");
    CHECK(counts(imported) == Counts{{"create", 60}, {"stat", 120}, {"unlink", 60}});
    CHECK(noted(imported, "[remove] something_odd=7"));
    CHECK(noted(imported, "[make] filesize"));
}

TEST_CASE("fio: writes are not carried over; a file without a job is an error")
{
    CHECK_THROWS_AS(import_fio("[w]\nrw=randwrite\nsize=1m\n"), ImportError);
    CHECK_THROWS_AS(import_fio("[global]\nbs=4k\n"), ImportError);
    CHECK_THROWS_AS(import_fio("bs=4k\n[x]\n"), ImportError);
    CHECK_THROWS_AS(import_fio("[x]\nioengine=filecreate\nnrfiles=many\n"), ImportError);
    Imported imported = import_fio("[a]\nioengine=filecreate\nnrfiles=2\n[b]\nrw=write\nsize=1m\n");
    CHECK(noted(imported, "[b] rw=write"));
    if (operation_known("read")) {
        Imported reading = import_fio("[r]\nrw=randread\nbs=8k\nfilesize=64k\nnumjobs=2\n");
        CHECK(counts(reading)["read"] == 16);
    }
}

TEST_CASE("filebench: a fileset, threads of a process, and what is left out")
{
    Imported imported =
        import_filebench("set $nfiles=30\nset $threads=2\n# comment\n"
                         "define fileset name=bigset,path=/tank,size=16k,entries=$nfiles,dirwidth=20,prealloc=50\n"
                         "define process name=maker,instances=2\n{\n"
                         "  thread name=makerthread,memsize=10m,instances=$threads\n  {\n"
                         "    flowop createfile name=create1,filesetname=bigset,fd=1\n"
                         "    flowop writewholefile name=w1,fd=1,iosize=1m\n"
                         "    flowop closefile name=close1,fd=1\n"
                         "    flowop statfile name=stat1,filesetname=bigset\n"
                         "    flowop deletefile name=delete1,filesetname=bigset\n"
                         "  }\n}\necho \"hello\"\nrun 60\n");
    CHECK(counts(imported) == Counts{{"create", 120}, {"stat", 120}, {"unlink", 120}, {"write", 120}});
    CHECK(imported.scenario["stop"]["simulated"] == "60s");
    CHECK_FALSE(noted(imported, "writewholefile"));
    CHECK(noted(imported, "dirwidth"));
}

TEST_CASE("filebench: a mail server's files grow and are read whole")
{
    const Imported imported = import_filebench(
        "define fileset name=mail,path=/tank,size=16k,entries=10\n"
        "define process name=p {\n thread name=t,instances=2 {\n"
        "  flowop createfile name=c,filesetname=mail,fd=1\n  flowop appendfilerand name=a,iosize=8k,fd=1\n"
        "  flowop fsync name=s,fd=1\n  flowop closefile name=x,fd=1\n"
        "  flowop openfile name=o,filesetname=mail,fd=1\n  flowop readwholefile name=r,fd=1\n"
        "  flowop deletefile name=d,filesetname=mail\n } }\n");
    CHECK(counts(imported) == Counts{{"create", 20}, {"lookup", 20}, {"read", 20}, {"unlink", 20}, {"write", 20}});
    CHECK(noted(imported, "appendfilerand"));
    CHECK(noted(imported, "fsync"));
}

TEST_CASE("filebench: mistakes name their line")
{
    auto problem = [](const char *text) {
        try {
            import_filebench(text);
        } catch (const ImportError &error) {
            return std::string(error.what());
        }
        return std::string();
    };
    CHECK(problem("set $x=1\ndefine nothing name=x\n").find("line 2") == 0);
    CHECK(problem("define fileset entries=3\n").find("has a name") != std::string::npos);
    CHECK(
        problem("define process name=p {\n thread name=t {\n flowop createfile filesetname=none\n}}").find("line 3") ==
        0);
    CHECK(problem("define fileset name=a,entries=$nope\n").find("is not set") != std::string::npos);
    CHECK(problem("run 60\n").find("no thread") != std::string::npos);
    CHECK(problem("define process name=p {").find("ends in the middle") != std::string::npos);
}
