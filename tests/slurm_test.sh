#!/bin/bash
# A sweep on Slurm: slurm_test.sh PROGRAM. Two nodes on this machine, loopback only, no systemd; needs root, munge and
# slurm-wlm, and says so and skips (77) where one is missing. 60 points; on the way a node's daemon dies with its task, and
# one task is killed. The file has the bytes of `-j 1`.
set -u
program=$1
for need in munged slurmctld slurmd sbatch squeue scontrol; do
    command -v $need > /dev/null || PATH=$PATH:/usr/sbin command -v $need > /dev/null || { echo "skipped: no $need here"; exit 77; }
done
[ "$(id -u)" = 0 ] || { echo "skipped: not root"; exit 77; }
PATH=$PATH:/usr/sbin
place=$(mktemp -d) && chmod 755 "$place"
node=$(hostname -s)
started=()

finish() {
    for pid in "$place"/*.pid "$place/munge/pid"; do
        [ -s "$pid" ] && kill "$(cat "$pid")" 2> /dev/null
    done
    for step in "${started[@]:-}"; do [ -n "$step" ] && kill -9 "$step" 2> /dev/null; done
    sleep 1
    rm -rf "$place"
}
trap finish EXIT
fail() { echo "FAILED: $1"; tail -5 "$place"/log/* 2> /dev/null; exit 1; }

mkdir "$place"/{state,log,spool-n1,spool-n2}
install -d -o munge -g munge -m 0711 "$place/munge"
install -d -o munge -g munge -m 0755 "$place/munge/run"
dd if=/dev/urandom of="$place/munge/key" bs=1 count=128 2> /dev/null
chown munge:munge "$place/munge/key" && chmod 400 "$place/munge/key"
runuser -u munge -- munged --key-file="$place/munge/key" --socket="$place/munge/run/socket" --pid-file="$place/munge/pid" \
    --log-file="$place/munge/log" --seed-file="$place/munge/seed" || fail "munged starts"
cat > "$place/slurm.conf" << CONF
ClusterName=dmusim
SlurmctldHost=$node(127.0.0.1)
SlurmctldPort=16817
SlurmUser=root
AuthType=auth/munge
AuthInfo=socket=$place/munge/run/socket
CredType=cred/munge
CommunicationParameters=NoCtldInAddrAny,NoInAddrAny
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
MailProg=/bin/true
ReturnToService=2
SlurmdTimeout=8
MessageTimeout=5
SlurmctldPidFile=$place/slurmctld.pid
SlurmdPidFile=$place/slurmd-%n.pid
StateSaveLocation=$place/state
SlurmdSpoolDir=$place/spool-%n
SlurmctldLogFile=$place/log/slurmctld
SlurmdLogFile=$place/log/slurmd-%n
NodeName=n1 NodeHostname=$node NodeAddr=127.0.0.1 Port=17001 CPUs=1 RealMemory=1000
NodeName=n2 NodeHostname=$node NodeAddr=127.0.0.1 Port=17002 CPUs=1 RealMemory=1000
PartitionName=sim Nodes=ALL Default=YES MaxTime=INFINITE State=UP
CONF
export SLURM_CONF=$place/slurm.conf
slurmctld -c && slurmd -N n1 && slurmd -N n2 || fail "Slurm's daemons start"
for _ in $(seq 150); do
    [ "$(sinfo -h -o '%T %D' 2> /dev/null)" = "idle 2" ] && break
    sleep 0.2
done
[ "$(sinfo -h -o '%T %D')" = "idle 2" ] || fail "two nodes are idle"

cd "$place" || exit 1
sweep=(sweep alloc-one-txg --vary params.objects=20001..20030 --vary code.object_alloc=rescan,per-cpu -q)
"$program" "${sweep[@]}" -j 1 -o whole.jsonl || fail "the sweep on one machine"
"$program" "${sweep[@]}" -o slurm.jsonl --slurm --partition sim --array-size 6 > sweep.log 2>&1 &
sweep_pid=$!
started+=($sweep_pid)

# Processes of this test's own job: those whose arguments name its folder.
tasks_on() { pgrep -f -- "--shard .* -o $place/slurm.jsonl.slurm/part-" ; }
for _ in $(seq 100); do
    [ "$(tasks_on | wc -l)" -ge 2 ] && break
    sleep 0.1
done
first=$(tasks_on | head -1)
[ -n "$first" ] && kill -9 "$first" && echo "killed a task"
sleep 2
node_pid=$(cat "$place/slurmd-n2.pid")
kill -9 "$node_pid" && echo "killed the daemon of node n2"
second=$(tasks_on | tail -1)
[ -n "$second" ] && kill -9 "$second" && echo "and a task"
sleep 10
slurmd -N n2 && echo "node n2 is back"
wait $sweep_pid || { cat sweep.log; fail "the sweep on Slurm ends well"; }
cat sweep.log
cmp whole.jsonl slurm.jsonl || fail "the bytes are those of one machine"
[ ! -e slurm.jsonl.slurm ] || fail "nothing is left behind"
grep -iE 'requeue|not responding|DOWN' log/slurmctld | cut -c1-140 | tail -4
echo "60 points on two nodes, the same bytes as -j 1"
