// A kdb+ client of other people's making (node-q), driven by lines: each one on stdin is a request,
// {"mode": "deferred" | "sync", "text": "...", "arguments": [...]}; each reply is a line of JSON on
// stdout, {"mode": "...", "error": "..."} or {"mode": "...", "columns": {...}}. Then it closes, and
// says {"closed": true}. Deferred requests in a row are sent at once; a sync one waits until those
// before it are answered, as this client counts replies without looking at their kind. With
// "sums": true a reply's columns are {"rows": ..., "sum": ...} each. {"mode": "idle", "ms": ...}
// waits, when all before is answered, and says how many bytes came: {"mode": "idle", "bytes": ...}.
// At SIGTERM it closes at once, whatever is unanswered.
//
// usage: node node_client.js FOLDER-OF-NODE-Q PORT
"use strict";
const [folder, port] = process.argv.slice(2);
const nodeq = require(folder + "/node_modules/node-q");
const Long = require(folder + "/node_modules/long");

function plain(value) {
    if (value === null || value === undefined) return null;
    if (value instanceof Long || Long.isLong(value)) return value.toString();
    if (value instanceof Date) return isNaN(value) ? null : value.toISOString();
    if (typeof value === "number" && isNaN(value)) return null;
    if (Buffer.isBuffer(value)) return [...value];
    if (Array.isArray(value)) return value.map(plain);
    if (typeof value === "object")
        return Object.fromEntries(Object.entries(value).map(([name, part]) => [name, plain(part)]));
    return value;
}

const sums = columns => Object.fromEntries(Object.entries(columns).map(([name, values]) =>
    [name, {rows: values.length, sum: values.reduce((sum, value) => sum + Number(value), 0)}]));

const say = line => process.stdout.write(JSON.stringify(line) + "\n");
const requests = require("fs").readFileSync(0, "utf8").split("\n").filter(line => line).map(
    line => JSON.parse(line));

nodeq.connect({host: "127.0.0.1", port: +port, user: "desk", password: "secret",
               long2number: false, flipTables: false},
              (refused, con) => {
    if (refused) {
        say({refused: refused.message});
        process.exit(1);
    }
    con.on("error", error => say({broken: error.message}));
    process.once("SIGTERM", () => con.close(() => say({closed: true})));
    let waiting = 0;
    const answered = ({mode, sums: only_sums}) => (error, columns) => {
        say(error ? {mode, error: error.message}
                  : {mode, columns: only_sums ? sums(columns) : plain(columns)});
        --waiting;
        go_on();
    };
    const send = request => {
        const parts = [request.text, ...(request.arguments || [])];
        ++waiting;
        if (request.mode === "sync") return con.k(...parts, answered(request));
        con.k(answered(request));  // The listener first.
        con.ks(...parts, error => error && say({unsent: error.message}));
    };
    const idle = ({mode, ms}) => {
        const before = con.socket.bytesRead;
        setTimeout(() => {
            say({mode, bytes: con.socket.bytesRead - before});
            go_on();
        }, ms);
    };
    const go_on = () => {
        if (waiting > 0) return;
        if (requests.length === 0) return con.close(() => say({closed: true}));
        if (requests[0].mode === "idle") return idle(requests.shift());
        if (requests[0].mode === "sync") return send(requests.shift());
        while (requests.length > 0 && requests[0].mode === "deferred") send(requests.shift());
    };
    go_on();
});
