// Chromium, driven through its debugging pipe: nothing but node is needed.
import {spawn} from "node:child_process";
import {existsSync, writeFileSync} from "node:fs";

// Undefined where there is none.
export const program = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"].find(existsSync);

export async function until(good) {
    for (let i = 0; i < 300; ++i) {
        if (await good())
            return true;
        await new Promise((resolve) => setTimeout(resolve, 100));
    }
    return false;
}

export class Browser {
    constructor(profile) {
        this.process = spawn(program, ["--headless=new", "--no-sandbox", "--disable-gpu", "--remote-debugging-pipe",
            "--disable-extensions", "--no-first-run", "--user-data-dir=" + profile, "about:blank"],
            {stdio: ["ignore", "ignore", "ignore", "pipe", "pipe"]});
        this.waiting = new Map();
        this.events = [];
        this.last = 0;
        let rest = "";
        this.process.stdio[4].on("data", (data) => {
            rest += data.toString("utf8");
            for (let end; (end = rest.indexOf("\0")) >= 0; rest = rest.slice(end + 1)) {
                const message = JSON.parse(rest.slice(0, end));
                if (message.id)
                    this.waiting.get(message.id)(message);
                else
                    this.events.push(message);
            }
        });
    }
    send(method, params = {}) {
        const id = ++this.last;
        this.process.stdio[3].write(JSON.stringify({id, method, params, sessionId: this.session}) + "\0");
        return new Promise((resolve, reject) => this.waiting.set(id, (answer) =>
            answer.error ? reject(new Error(method + ": " + JSON.stringify(answer.error))) : resolve(answer.result)));
    }
    async open() {
        const {targetId} = await this.send("Target.createTarget", {url: "about:blank"});
        this.session = (await this.send("Target.attachToTarget", {targetId, flatten: true})).sessionId;
        for (const domain of ["Page", "Runtime", "Log", "Network"])
            await this.send(domain + ".enable");
    }
    async value(expression) {
        const {result, exceptionDetails} = await this.send("Runtime.evaluate", {expression, returnByValue: true, awaitPromise: true});
        if (exceptionDetails)
            throw new Error(expression + ": " + JSON.stringify(exceptionDetails));
        return result.value;
    }
    close() {
        this.process.kill("SIGKILL");
        return new Promise((resolve) => setTimeout(resolve, 300));
    }
    size(width, height) {
        return this.send("Emulation.setDeviceMetricsOverride", {width, height, deviceScaleFactor: 1, mobile: false});
    }
    media(scheme, type = "") {
        return this.send("Emulation.setEmulatedMedia", {media: type, features: [{name: "prefers-color-scheme", value: scheme}]});
    }
    async key(key) {
        const codes = {Enter: 13, Escape: 27, ArrowUp: 38, ArrowDown: 40, ArrowLeft: 37, ArrowRight: 39};
        for (const type of ["keyDown", "keyUp"])
            await this.send("Input.dispatchKeyEvent", {type, key, code: key, windowsVirtualKeyCode: codes[key]});
    }
    async picture(file) {
        const {cssContentSize} = await this.send("Page.getLayoutMetrics");
        const {data} = await this.send("Page.captureScreenshot", {captureBeyondViewport: true,
            clip: {x: 0, y: 0, width: cssContentSize.width, height: cssContentSize.height, scale: 1}});
        writeFileSync(file, Buffer.from(data, "base64"));
    }
}
