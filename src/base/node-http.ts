/**
 * Node's `http`. To import it as an ES module would evaluate its lazy properties, among them
 * `WebSocket`: Node would load its `fetch`, which takes 60 ms, a fifth of a short command's time.
 */
const http = process.getBuiltinModule("node:http");

export const { Agent, createServer, request } = http;
