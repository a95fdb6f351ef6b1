// Draws what the HTML report holds as data: Vega-Lite charts, and flame graphs of its own.
//
// The page works without a network and under a policy that allows these scripts alone: charts are evaluated by an
// interpreter (ast), never by eval. Colours are the style sheet's variables, so that light, dark and print need no second
// drawing. <html data-drawn="N/M"> says how many of how many charts are there; a chart that fails says so in its place.
(function () {
    "use strict";
    var root = document.documentElement, drawn = 0, all = 0;

    function done() {
        drawn += 1;
        root.dataset.drawn = drawn + "/" + all;
    }

    function dataOf(id) {
        return JSON.parse(document.getElementById(id + "-data").textContent);
    }

    var marks = ["var(--mark-1)", "var(--mark-2)", "var(--mark-3)", "var(--mark-4)", "var(--mark-5)", "var(--mark-6)"];
    var config = {
        background: "transparent",
        font: "system-ui, DejaVu Sans, sans-serif",
        range: {category: marks, symbol: ["circle", "square", "triangle-up", "diamond", "cross", "triangle-down"]},
        mark: {color: marks[0]},
        bar: {color: marks[0]}, line: {color: marks[0]}, point: {color: marks[0]}, rule: {color: "var(--faint)"},
        text: {color: "var(--text)", fontSize: 11},
        axis: {labelColor: "var(--text)", titleColor: "var(--faint)", gridColor: "var(--line)", gridOpacity: 0.7,
               domainColor: "var(--faint)", tickColor: "var(--faint)", labelFontSize: 11, titleFontSize: 12,
               titleFontWeight: "normal"},
        header: {labelColor: "var(--text)", titleColor: "var(--faint)", labelFontSize: 12},
        legend: {labelColor: "var(--text)", titleColor: "var(--faint)", labelFontSize: 12, labelLimit: 420,
                 symbolStrokeWidth: 2, orient: "bottom", direction: "vertical"},
        view: {stroke: null}
    };

    // A title that is longer than its axis takes more lines.
    function wrapped(title, most) {
        var lines = [""];
        title.split(" ").forEach(function (word) {
            var last = lines[lines.length - 1];
            if (last && last.length + 1 + word.length > most)
                lines.push(word);
            else
                lines[lines.length - 1] = last ? last + " " + word : word;
        });
        return lines;
    }

    function wrapTitles(spec, most) {
        if (spec && typeof spec === "object")
            Object.keys(spec).forEach(function (key) {
                if (most[key] && spec[key] && typeof spec[key].title === "string" && spec[key].title.length > most[key])
                    spec[key].title = wrapped(spec[key].title, most[key]);
                if (key !== "values")
                    wrapTitles(spec[key], most);
            });
        return spec;
    }

    // On a narrow screen names get less room, and the numbers behind the bars more.
    function narrowed(spec) {
        if (spec && typeof spec === "object") {
            if (spec.labelLimit)
                spec.labelLimit = 140;
            if (spec.domainMax && spec.type !== "symlog")
                spec.domainMax *= 1.5;
            Object.keys(spec).forEach(function (key) {
                if (key !== "values")
                    narrowed(spec[key]);
            });
        }
        return spec;
    }

    function drawChart(element) {
        var narrow = element.clientWidth < 420, spec = wrapTitles(dataOf(element.id), {x: narrow ? 30 : 80, y: 26});
        vegaEmbed(element, narrow ? narrowed(spec) : spec, {renderer: "svg", actions: false, ast: true, config: config, tooltip: true})
            .then(done)
            .catch(function (error) { element.textContent = "This chart could not be drawn: " + error; });
    }

    function duration(ns) {
        var units = [[1e9, " s"], [1e6, " ms"], [1e3, " \u00b5s"]];
        for (var i = 0; i < units.length; ++i)
            if (ns >= units[i][0])
                return (ns / units[i][0]).toPrecision(4) + units[i][1];
        return ns === 0 ? "0" : ns.toPrecision(4) + " ns";
    }

    // {names, rows: [[parent, name, own ns], ...]}, parents first, row 0 the root. Frames are elements of a tree: the
    // arrow keys walk it, Enter widens a frame, Escape goes back one step.
    function drawFlame(element) {
        var data = dataOf(element.id), bar = document.getElementById(element.id + "-bar");
        var out = bar.querySelector("output"), reset = bar.querySelector("button");
        var nodes = data.rows.map(function (row, index) {
            return {index: index, parent: null, children: [], name: data.names[row[1]], own: row[2], total: row[2],
                    depth: 0, up: row[0]};
        });
        var deepest = 0, height = 20, i;
        for (i = 1; i < nodes.length; ++i) {
            nodes[i].parent = nodes[nodes[i].up];
            nodes[i].parent.children.push(nodes[i]);
            nodes[i].depth = nodes[i].parent.depth + 1;
        }
        for (i = nodes.length - 1; i > 0; --i)
            nodes[i].parent.total += nodes[i].total;
        nodes.forEach(function (node) {
            node.children.sort(function (a, b) { return b.total - a.total || a.index - b.index; });
        });
        var whole = nodes[0].total, zoomed = nodes[0], current = nodes[0];

        function tell(node) {
            return node.name + ", " + (node.total * 100 / whole).toFixed(2) + " % of all, " + duration(node.total) +
                ", own " + duration(node.own);
        }

        function show(node) {
            out.textContent = tell(node);
        }

        function inside(node) {
            for (; node; node = node.parent)
                if (node === zoomed)
                    return true;
            return false;
        }

        function draw(focus) {
            element.textContent = "";
            deepest = 0;
            var path = [];
            for (var node = zoomed; node; node = node.parent)
                path.push(node);
            function add(node, left, width) {
                var frame = document.createElement("div");
                frame.className = "frame" + (inside(node) ? "" : " around");
                frame.style.left = (left * 100).toFixed(4) + "%";
                frame.style.width = (width * 100).toFixed(4) + "%";
                frame.style.top = node.depth * height + "px";
                frame.textContent = width > 0.02 ? node.name : "";
                frame.title = tell(node);
                frame.tabIndex = node === current ? 0 : -1;
                frame.setAttribute("role", "treeitem");
                frame.setAttribute("aria-level", String(node.depth + 1));
                frame.setAttribute("aria-label", tell(node));
                frame.setAttribute("aria-selected", node === zoomed ? "true" : "false");
                frame.addEventListener("click", function () { zoom(node); });
                frame.addEventListener("mouseenter", function () { show(node); });
                frame.addEventListener("focus", function () { current = node; show(node); });
                node.frame = frame;
                element.appendChild(frame);
                deepest = Math.max(deepest, node.depth);
            }
            function below(node, left, width) {
                add(node, left, width);
                var at = left;
                node.children.forEach(function (child) {
                    var part = node.total > 0 ? width * child.total / node.total : 0;
                    if (part > 0.0008)
                        below(child, at, part);
                    else
                        child.frame = null;
                    at += part;
                });
            }
            nodes.forEach(function (node) { node.frame = null; });
            path.slice(1).reverse().forEach(function (node) { add(node, 0, 1); });
            below(zoomed, 0, 1);
            element.style.height = (deepest + 1) * height + 2 + "px";
            reset.disabled = zoomed === nodes[0];
            element.dataset.zoomed = zoomed.name;
            if (focus && current.frame)
                current.frame.focus();
        }

        function zoom(node, quiet) {
            zoomed = node;
            current = node;
            draw(!quiet);
            show(node);
        }

        function sibling(node, step) {
            if (!node.parent)
                return node;
            var list = node.parent.children, at = list.indexOf(node) + step;
            return list[at] && list[at].frame ? list[at] : node;
        }

        element.addEventListener("keydown", function (event) {
            var next = null;
            if (event.key === "ArrowDown")
                next = current.children[0] && current.children[0].frame ? current.children[0] : current;
            else if (event.key === "ArrowUp")
                next = current.parent || current;
            else if (event.key === "ArrowRight" || event.key === "ArrowLeft")
                next = sibling(current, event.key === "ArrowRight" ? 1 : -1);
            else if (event.key === "Home")
                next = nodes[0];
            else if (event.key === "Enter" || event.key === " ")
                zoom(current);
            else if (event.key === "Escape" || event.key === "Backspace")
                zoom(zoomed.parent || zoomed);
            else
                return;
            event.preventDefault();
            if (next && next.frame) {
                current.frame.tabIndex = -1;
                current = next;
                current.frame.tabIndex = 0;
                current.frame.focus();
            }
        });
        reset.addEventListener("click", function () { zoom(nodes[0]); });
        zoom(nodes[0], true);
        done();
    }

    var charts = document.querySelectorAll(".chart"), flames = document.querySelectorAll(".flame");
    all = charts.length + flames.length;
    root.dataset.drawn = "0/" + all;
    charts.forEach(drawChart);
    flames.forEach(drawFlame);
})();
