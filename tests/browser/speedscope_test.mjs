// speedscope, offline, opens what `export --as speedscope` writes: speedscope_test.mjs FILE FOLDER. It comes from npm; exit
// status 77, and the reason, where that or a browser is missing.
import {spawnSync} from "node:child_process";
import {existsSync, readFileSync, readdirSync, writeFileSync} from "node:fs";
import {join} from "node:path";
import {Browser, program, until} from "./browser.mjs";

const [file, folder] = process.argv.slice(2);
if (!program) {
    console.log("no Chromium");
    process.exit(77);
}
const got = spawnSync("npm", ["pack", "speedscope@1.25.0", "--silent", "--pack-destination", folder], {encoding: "utf8", timeout: 120000});
const archive = readdirSync(folder).find((name) => /^speedscope-.*\.tgz$/.test(name));
if (got.status !== 0 || !archive || spawnSync("tar", ["xzf", join(folder, archive), "-C", folder]).status !== 0) {
    console.log("npm has no speedscope");
    process.exit(77);
}
const index = ["package/dist/release/index.html"].map((name) => join(folder, name)).find(existsSync);
// Its own command does the same: the profile as a script, and the page told where that is.
const script = join(folder, "profile.js");
writeFileSync(script, "speedscope.loadFileFromBase64(" + JSON.stringify("run.speedscope.json") + ", " +
    JSON.stringify(readFileSync(file).toString("base64")) + ")");
const chromium = new Browser(join(folder, "profile"));
let good = false;
try {
    await chromium.open();
    await chromium.send("Page.navigate", {url: "file://" + index + "#localProfilePath=" + script});
    good = await until(() => chromium.value("document.title.includes('CPU') || document.title.includes('create-one-directory')"));
    console.log("title: " + await chromium.value("document.title"));
    const text = await chromium.value("document.body.innerText");
    for (const event of chromium.events)
        if (event.method === "Runtime.exceptionThrown") {
            console.log(JSON.stringify(event.params).slice(0, 300));
            good = false;
        }
    if (/error|failed/i.test(text))
        console.log(text.slice(0, 300));
} catch (error) {
    console.log(error);
} finally {
    await chromium.close();
}
process.exit(good ? 0 : 1);
