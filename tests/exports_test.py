#!/usr/bin/python3
"""Exports opened by the tools they are for: exports_test.py PROGRAM SOURCE-ROOT.

Folded lines against the CPU time of the run, trace-event spans nested, OpenMetrics by Prometheus's strict parser, pprof by
Go's tool, speedscope by speedscope itself in a browser. What is not on this machine is not tested, and is said.
"""
import json, os, shutil, subprocess, sys, tempfile

program, source = sys.argv[1:3]
folder = tempfile.mkdtemp(prefix="dmusim-exports-")
passed, failed, missing = 0, 0, []


def check(good, what):
    global passed, failed
    if good:
        passed += 1
    else:
        failed += 1
        print("FAILED:", what)


def dmusim(*words):
    return subprocess.run([program, *words], check=True, capture_output=True).stdout


def export(form, suffix):
    name = os.path.join(folder, "run." + suffix)
    dmusim("export", result_file, "--as", form, "-o", name)
    return name


def nested(events):
    """Spans of one thread either contain each other or are apart."""
    lanes = {}
    for event in events:
        if event["ph"] == "X":
            lanes.setdefault((event["pid"], event["tid"]), []).append((event["ts"], event["ts"] + event["dur"]))
    for (pid, _), spans in lanes.items():
        if pid == 1:  # txgs: one after the other
            continue
        spans.sort(key=lambda span: (span[0], -span[1]))
        open_spans = []
        for start, end in spans:
            while open_spans and open_spans[-1] <= start + 1e-9:
                open_spans.pop()
            if open_spans and end > open_spans[-1] + 1e-6:
                return False
            open_spans.append(end)
    return bool(lanes)


try:
    result_file = os.path.join(folder, "run.json")
    dmusim("run", "create-one-directory", "--set", "params.files=2000", "--set", "machine.cpus=8", "--set",
           'record=["txgs","series"]', "-q", "-o", result_file)
    with open(result_file) as stream:
        result = json.load(stream)

    def folded_sum(form):
        with open(export(form, form)) as stream:
            return sum(int(line.rsplit(" ", 1)[1]) for line in stream)

    check(folded_sum("folded") == int(result["cpu"]["busy_ns"]), "folded lines sum to the CPU time exactly")

    with open(export("trace-event", "trace.json")) as stream:
        check(nested(json.load(stream)["traceEvents"]), "trace-event spans nest")

    metrics = export("openmetrics", "om")
    try:
        from prometheus_client.openmetrics.parser import text_string_to_metric_families
        with open(metrics) as stream:
            families = list(text_string_to_metric_families(stream.read()))
        check(len(families) > 3 and any(family.samples for family in families), "Prometheus's parser accepts the metrics")
    except ImportError:
        missing.append("OpenMetrics: no prometheus_client")

    go = shutil.which("go")
    if go:
        top = subprocess.run([go, "tool", "pprof", "-top", "-nodecount=5", export("pprof", "pb.gz")], capture_output=True, text=True,
                             env=dict(os.environ, HOME=folder, GOFLAGS="-mod=mod", GOTOOLCHAIN="local"))
        if "no such tool" in top.stderr:
            missing.append("pprof: this Go has no pprof tool")
        else:
            check(top.returncode == 0 and "flat%" in top.stdout, "go tool pprof prints its top: " + top.stderr[:300])
            check(any(function["name"] in top.stdout for function in result["cpu"]["functions"][:5]), "pprof names the functions")
    else:
        missing.append("pprof: no go")

    node, npm = shutil.which("node"), shutil.which("npm")
    if node and npm:
        loaded = subprocess.run([node, os.path.join(source, "tests/browser/speedscope_test.mjs"), export("speedscope", "speedscope.json"), folder],
                                capture_output=True, text=True)
        if loaded.returncode == 77:
            missing.append("speedscope: " + loaded.stdout.strip())
        else:
            check(loaded.returncode == 0, "speedscope loads its file: " + loaded.stdout + loaded.stderr[:500])
    else:
        missing.append("speedscope: no node or npm")
finally:
    shutil.rmtree(folder, ignore_errors=True)
for one in missing:
    print("not tested here:", one)
print(f"{passed} passed, {failed} failed")
sys.exit(1 if failed else 0)
