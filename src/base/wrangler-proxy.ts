/**
 * wrangler's proxy, which has the port of `ledge dev`. Like every Miniflare, the proxy takes the URL of a request from
 * the header `MF-Original-URL`, by which tools pass a URL on, and which any client can send. A web page that has given
 * its own name the address of this machine (DNS rebinding) could name any host in the header. So a module before the
 * proxy compares the URL with `Host`, which no page can choose:
 *
 *     client ──▶ Miniflare's entry ──▶ gate ──▶ wrangler's worker ──▶ edge worker
 *                URL from the header   Host     sets the header itself
 *
 * A header that names the host of the request passes: a client can as well send the rest of that URL without it. The
 * edge worker believes the header of the last hop, by the token of wrangler's proxy (`edge/core/edge-state.ts`).
 * wrangler's own messages to its proxy name no host of a client. They have a secret in `Authorization`.
 */
import type * as Miniflare from "miniflare";
import { requireParts } from "./package-version.ts";

type Proxy = Pick<Miniflare.Miniflare, "setOptions" | "dispose">;

/** The part of wrangler's dev server that makes the proxy. */
export interface ProxyController {
  proxyWorker?: Proxy;
  proxyWorkerOptions?: object;
}

const gateModule = "ledge-proxy-gate.js";

/** @param main the module of wrangler's worker */
const gate = (main: string): string => `
import proxy from "./${main}";
export * from "./${main}";

export default {
  fetch(request, env, context) {
    const { url, headers } = request;
    const isWranglers = headers.get("authorization") === env.PROXY_CONTROLLER_AUTH_SECRET;
    if (isWranglers || isFor(new URL(url), headers.get("host"))) {
      return proxy.fetch(request, env, context);
    }
    const text =
      "The header MF-Original-URL names another host than Host. Send the request without MF-Original-URL.\\n";
    return new Response(text, { status: 403 });
  },
};

function isFor({ protocol, host }, given) {
  const named = protocol + "//" + given;
  return URL.canParse(named) && new URL(named).host === host;
}
`;

/**
 * Puts the gate into the proxy that the controller makes later. The controller makes a proxy if it has none, and
 * otherwise hands changed options to the proxy that it has: to one that waits for the first options.
 */
export function guardProxy(
  controller: ProxyController,
  { Miniflare: Class }: Pick<typeof Miniflare, "Miniflare">,
): void {
  const waiting: Proxy = {
    setOptions(options) {
      const proxy = new Class(withGate(options));
      const setOptions = proxy.setOptions.bind(proxy);
      proxy.setOptions = (changed) => setOptions(withGate(changed));
      controller.proxyWorker = proxy;
      return Promise.resolve();
    },
    dispose: () => Promise.resolve(),
  };
  controller.proxyWorker = requireParts(waiting, "wrangler's proxy");
  controller.proxyWorkerOptions = {};
}

function withGate(options: Miniflare.MiniflareOptions): Miniflare.MiniflareOptions {
  const config = requireParts(options.workers[0]!.config, "wrangler's proxy");
  const { mainModule, modules } = requireParts(config.manifest!, "wrangler's proxy");
  const added = { [gateModule]: { type: "esm" as const, contents: gate(mainModule) } };
  config.manifest = {
    ...config.manifest!,
    mainModule: gateModule,
    modules: { ...modules, ...added },
  };
  return options;
}
