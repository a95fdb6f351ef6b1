// The HTML report in a real browser: report_test.mjs PROGRAM [FOLDER-FOR-PICTURES].
//
// Checked: no message on the console,
// no request that leaves the page, every chart drawn, flame graphs that zoom by click and by keyboard, dark mode that
// follows the reader's setting, no sideways scrolling on a narrow screen, a table under every chart, hostile texts that
// stay text. Exit status 77, and the reason, where there is no browser.
import {spawnSync} from "node:child_process";
import {mkdtempSync, rmSync, writeFileSync} from "node:fs";
import {tmpdir} from "node:os";
import {join} from "node:path";
import {Browser, program as browser, until} from "./browser.mjs";

const [program, pictures] = process.argv.slice(2);
if (!browser) {
    console.log("skipped: no Chromium here");
    process.exit(77);
}
const folder = mkdtempSync(join(tmpdir(), "dmusim-browser-"));
let failed = 0, passed = 0;

function check(good, what) {
    if (good) {
        passed += 1;
    } else {
        failed += 1;
        console.log("FAILED: " + what);
    }
}

function dmusim(...words) {
    const ran = spawnSync(program, words, {encoding: "utf8", maxBuffer: 1 << 28});
    if (ran.status !== 0 && ran.status !== 3) {
        console.log(words.join(" ") + "\n" + ran.stderr);
        if (/built without the charting library/.test(ran.stderr)) {
            console.log("skipped: built without the charting library");
            process.exit(77);
        }
        process.exit(1);
    }
    return ran.stdout;
}

function pages() {
    const file = (name) => join(folder, name);
    const hostile = {
        name: "</script><script>document.title='owned'</script>\u001b[2J\"quotes'\n&amp;",
        description: "<img src=x onerror=alert(1)> \u202e `code` | pipe",
        params: {objects: 400},
        machine: {cpus: 4},
        workload: [{name: "<b>group</b>", threads: 4, steps: [{repeat: "$objects", steps: [{op: "alloc"}]}]}],
        record: ["txgs", "series"],
        expect: [{metric: "ops.alloc.count", equals: 1600, because: "<script>alert(2)</script>"},
                 {metric: "ops.alloc.per_s", at_most: 1, because: "does not hold"}]
    };
    writeFileSync(file("hostile.json"), JSON.stringify(hostile));
    const all = [];
    const report = (name, ...inputs) => {
        dmusim("report", ...inputs, "-o", file(name + ".html"));
        all.push({name, url: "file://" + file(name + ".html")});
    };
    dmusim("run", file("hostile.json"), "-q", "-o", file("hostile.result"));
    report("hostile", file("hostile.result"));
    dmusim("sweep", "create-one-directory", "--set", "params.files=1500", "--set", 'record=["txgs","series"]', "--vary",
           "machine.cpus=1,2,4,8,16", "--vary", "code.tx_hold_zap=by-object,by-dnode", "--seeds", "2", "-q", "-o", file("cpus"));
    report("cpus", file("cpus"));
    dmusim("sweep", "alloc-one-txg", "--vary", "params.objects=2^12..2^15", "--vary", "code.object_alloc=legacy,rescan,per-cpu", "-q",
           "-o", file("growth"));
    report("growth", file("growth"));
    for (const variant of ["legacy", "rescan"])
        dmusim("run", "alloc-one-txg", "--set", "params.objects=16384", "--set", "params.threads=8", "--set",
               "code.object_alloc=" + variant, "-q", "-o", file(variant));
    report("before-after", file("legacy"), file("rescan"));
    return all;
}

const picture = (name, at) => pictures && at.picture(join(pictures, name + ".png"));

async function look(page, at) {
    at.events.length = 0;
    await at.size(1240, 900);
    await at.media("light");
    await at.send("Page.navigate", {url: at.url = page.url});
    const name = page.name + ": ";
    check(await until(() => at.value("document.readyState === 'complete' && (d => d && d.split('/')[0] === d.split('/')[1])(document.documentElement.dataset.drawn)")),
        name + "every chart is drawn");
    const charts = await at.value("document.querySelectorAll('.chart').length");
    check(charts > 0, name + "it has charts");
    check(await at.value("[...document.querySelectorAll('.chart')].every(c => c.querySelectorAll('svg path, svg text').length > 3)"),
        name + "a chart is a drawing");
    check(await at.value("[...document.querySelectorAll('figure')].filter(f => f.querySelector('.chart, .flame')).every(f => f.querySelector('details table, details pre'))"),
        name + "a table stands under every chart");
    check(await at.value("[...document.querySelectorAll('.chart')].every(c => (c.getAttribute('aria-label') || '').length > 5)"),
        name + "a chart is told to a screen reader");
    await picture(page.name + "-light", at);

    const flame = "document.querySelector('.flame')";
    const frames = await at.value(flame + ".querySelectorAll('.frame').length");
    check(frames > 3, name + "a flame graph has frames");
    const first = await at.value(flame + ".querySelectorAll('.frame')[1].textContent");
    await at.value(flame + ".querySelectorAll('.frame')[1].click()");
    check(await at.value(flame + ".dataset.zoomed") === first, name + "a click zooms");
    await at.key("Escape");
    check(await at.value(flame + ".dataset.zoomed") !== first, name + "Escape goes back");
    await at.key("ArrowDown");
    await at.key("ArrowDown");
    const focused = await at.value("document.activeElement.getAttribute('aria-label')");
    await at.key("Enter");
    check(focused.startsWith(await at.value(flame + ".dataset.zoomed")), name + "Enter zooms to the focused frame");
    check(await at.value("document.activeElement.classList.contains('frame')"), name + "the focus stays in the graph");
    await at.value(flame + ".previousElementSibling.querySelector('button').click()");

    const colours = "[getComputedStyle(document.body).backgroundColor, getComputedStyle(document.querySelector('.chart svg text')).fill].join()";
    const light = await at.value(colours);
    await at.media("dark");
    const dark = await at.value(colours);
    check(light.split("rgb")[1] !== dark.split("rgb")[1] && light.split("rgb")[2] !== dark.split("rgb")[2], name + "page and charts follow dark mode");
    await picture(page.name + "-dark", at);
    await at.media("light");
    await at.size(390, 800);
    await new Promise((resolve) => setTimeout(resolve, 500));
    check(await at.value("document.documentElement.scrollWidth <= innerWidth"), name + "a narrow screen does not scroll sideways");
    await picture(page.name + "-narrow", at);
    await at.size(1240, 900);
    if (pictures) {
        const {data} = await at.send("Page.printToPDF", {preferCSSPageSize: true, printBackground: false});
        writeFileSync(join(pictures, page.name + ".pdf"), Buffer.from(data, "base64"));
    }
    for (const event of at.events) {
        if (["Runtime.consoleAPICalled", "Runtime.exceptionThrown", "Log.entryAdded"].includes(event.method))
            check(false, name + "the console is silent: " + JSON.stringify(event.params).slice(0, 400));
        if (event.method === "Network.requestWillBeSent" && event.params.request.url !== page.url && !event.params.request.url.startsWith("data:"))
            check(false, name + "no request leaves the page: " + event.params.request.url);
    }
    check(!(await at.value("document.title")).startsWith("owned"), name + "no text of a scenario is run");
    check(await at.value("document.querySelectorAll('img, iframe, main script:not([type])').length") === 0, name + "no text becomes an element");
}

let status = 1;
const chromium = new Browser(join(folder, "profile"));
try {
    const all = pages();
    await chromium.open();
    for (const page of all)
        await look(page, chromium);
    console.log(passed + " passed, " + failed + " failed");
    status = failed === 0 ? 0 : 1;
} catch (error) {
    console.log(error);
} finally {
    await chromium.close();
    rmSync(folder, {recursive: true, force: true});
}
process.exit(status);
