import { DurableObject } from "cloudflare:workers";

export class Counter extends DurableObject {
  async count(): Promise<number> {
    const count = ((await this.ctx.storage.get<number>("count")) ?? 0) + 1;
    await this.ctx.storage.put("count", count);
    return count;
  }
}

export default { fetch: () => new Response("ok") };
