#!/usr/bin/python3
"""Long runs of sweeps: sweep_long_test.py PROGRAM.

50 times kill -9 at random moments, resumed, the same bytes. A sweep of 10,000 points: how much time goes into anything but
the simulations, and whether memory stays flat.
"""
import os, random, signal, subprocess, sys, tempfile, time

program = sys.argv[1]
points = int(sys.argv[2]) if len(sys.argv) > 2 else 10000
objects = 16000  # of a point: some 50 ms, as short as anybody's point will be; what a point costs on top is a process
failed = 0


def check(good, what):
    global failed
    print(("ok: " if good else "FAILED: ") + what, flush=True)
    failed += not good


def kills(folder):
    words = [program, "sweep", "alloc-one-txg", "--vary", "params.objects=3000..3119", "-q", "-j", "2"]
    whole = os.path.join(folder, "whole")
    subprocess.run(words + ["-o", whole], check=True)
    part = os.path.join(folder, "part")
    chance = random.Random(8)
    killed = 0
    while killed < 50:
        process = subprocess.Popen(words + ["-o", part])
        try:
            process.wait(chance.uniform(0.002, 0.15))
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGKILL)
            process.wait()
            killed += 1
        if os.path.exists(part):  # came to its end in between: once more from the beginning
            with open(part, "rb") as one, open(whole, "rb") as other:
                if one.read() != other.read():
                    check(False, f"the bytes after {killed} kills")
                    return
            os.remove(part)
    subprocess.run(words + ["-o", part], check=True)
    with open(part, "rb") as one, open(whole, "rb") as other:
        check(one.read() == other.read(), "killed 50 times, resumed, the same bytes")
    check(sorted(os.listdir(folder)) == ["part", "whole"], "no journal is left")


def times_of(pid):
    """Own and children's CPU seconds of a process that may have ended but was not waited for."""
    with open(f"/proc/{pid}/stat") as stream:
        fields = stream.read().rsplit(")", 1)[1].split()
    tick = os.sysconf("SC_CLK_TCK")
    return (int(fields[11]) + int(fields[12])) / tick, (int(fields[13]) + int(fields[14])) / tick


def measure(folder, count, objects):
    words = [program, "sweep", "alloc-one-txg", "--set", f"params.objects={objects}", "--vary", f"seed=1..{count}", "-q", "-j", "2", "-o",
             os.path.join(folder, "many")]
    process = subprocess.Popen(words)
    peak_kib = 0
    while os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None:
        try:
            with open(f"/proc/{process.pid}/status") as stream:
                for line in stream:
                    if line.startswith("VmHWM:"):
                        peak_kib = max(peak_kib, int(line.split()[1]))
        except (FileNotFoundError, ProcessLookupError):
            pass
        time.sleep(0.2)
    own, children = times_of(process.pid)
    process.wait()
    os.remove(os.path.join(folder, "many"))
    return own, children, peak_kib, process.returncode


def many(folder):
    few_own, few_children, few_kib, _ = measure(folder, max(points // 10, 10), objects)
    own, children, kib, status = measure(folder, points, objects)
    share = own / (own + children)
    check(status == 0, f"{points} points: {own:.1f} s of CPU in the sweep itself ({own / points * 1e3:.2f} ms a point), "
          f"{children:.1f} s in its simulations ({children / points * 1e3:.1f} ms a point)")
    check(share <= 0.02, f"{share:.2%} of the CPU time is outside the simulations' processes")
    check(kib <= few_kib * 1.3 + 20480, f"peak memory {kib} KiB with {points} points, {few_kib} KiB with a tenth of them")


with tempfile.TemporaryDirectory(prefix="dmusim-long-") as folder:
    kills(folder)
with tempfile.TemporaryDirectory(prefix="dmusim-long-") as folder:
    many(folder)
print(f"{'0 failed' if not failed else str(failed) + ' failed'}")
sys.exit(1 if failed else 0)
