/** The cost of publication for a create: servers without and with listeners, in turns. */
import { startTestDns, type TestDns } from "../../test/dns/support/running-dns.ts";
import { median } from "../store/measure.ts";
import { call, measure } from "./api-load.ts";

const turns = 5;
const kinds = { "no listeners": false, listeners: true };

export async function measureListeners({ seconds }: { readonly seconds: number }) {
  const servers: { name: string; server: TestDns; url: string; rates: number[][] }[] = [];
  try {
    for (const [name, listen] of Object.entries(kinds)) {
      const server = await startTestDns({}, { listen });
      const zoneId = await server.client.createZone("bench.example");
      const url = `${server.dns.url}/zones/${zoneId}/dns_records`;
      servers.push({ name, server, url, rates: [[], []] });
    }
    for (let turn = 0; turn < turns; turn++) {
      for (const { url, rates } of servers) {
        const work = () =>
          call(url, "POST", { type: "A", name: `n-${crypto.randomUUID()}`, content: "192.0.2.1" });
        rates[0]!.push(await measure({ concurrency: 1, seconds, work }));
        rates[1]!.push(await measure({ concurrency: 16, seconds, work }));
      }
    }
    return servers.map(({ name, rates: [sequential = [], concurrent = []] }) => ({
      listeners: name,
      "µs each, 1 at a time": Math.round(1e6 / median(sequential)),
      "µs each, 16 at once": Math.round(1e6 / median(concurrent)),
    }));
  } finally {
    await Promise.all(servers.map(({ server }) => server.stop()));
  }
}
