/**
 * The edge of a dev server, in Node: tells the folder of this member, hears of the others, and keeps the edge worker
 * up to date. The plugin asks for the state at each start of a runtime (`dev/plugin/edge-plugin.ts`); between
 * starts, a request to the edge worker brings each change, so that no script is loaded again.
 */
import { randomBytes } from "node:crypto";
import { pluginFolder } from "../../state/folder.ts";
import {
  edgeControls,
  proxyHeader,
  proxyHeaderValue,
  stateHeader,
  type EdgeState,
  type EdgeWork,
  type UrlOverrides,
} from "../core/edge-state.ts";
import type { EdgeMember } from "../core/edge-table.ts";
import {
  announceMember,
  newMemberId,
  readMembers,
  watchMembers,
  type Announcement,
} from "./members.ts";
import { startOriginServer } from "./origin-server.ts";

/** What the configuration says, and where the dev server is. */
export interface EdgeProfile extends Omit<EdgeState, "own" | "others" | "isHeld"> {
  readonly member: Omit<EdgeMember, "id" | "processId" | "token">;
}

/** A part of wrangler's event `reloadComplete`. */
interface ProxyData {
  userWorkerUrl?: { protocol?: string; hostname?: string; port?: string };
  userWorkerInnerUrlOverrides?: UrlOverrides;
  headers: Record<string, string | undefined>;
}

/** Of this process, for the plugin, by the id of the member. */
const edges = new Map<string, DevEdge>();

export function findEdge(memberId: string): DevEdge | undefined {
  return edges.get(memberId);
}

export class DevEdge {
  readonly id = newMemberId();
  readonly stateFolder: string;
  readonly #token = randomBytes(16).toString("hex");
  #profile: EdgeProfile;
  #announcement: Announcement | null;
  readonly #endWatch: () => void;
  /** Of the edge worker of the runtime that runs; `null` before the first. */
  #port: number | null = null;
  #processId: number | null = null;
  /** The state that the edge worker has. */
  #sent = "";
  #sending: Promise<void> = Promise.resolve();
  #origins: ReturnType<typeof startOriginServer> | undefined;
  #gate: PromiseWithResolvers<void> | null = null;

  constructor(stateFolder: string, profile: EdgeProfile) {
    this.stateFolder = stateFolder;
    this.#profile = profile;
    this.#announcement = announceMember(stateFolder, this.#member);
    this.#endWatch = watchMembers(stateFolder, () => void this.#send());
    edges.set(this.id, this);
  }

  /** The other members that live. */
  get others(): EdgeMember[] {
    return readMembers(this.stateFolder).filter(({ id }) => id !== this.id);
  }

  update(profile: EdgeProfile): void {
    this.#profile = profile;
    this.#announcement?.update(this.#member);
  }

  /** The public buckets of this member. */
  get bucketNames(): string[] {
    return this.#profile.member.buckets.map(({ bucketName }) => bucketName);
  }

  /** Of the server of origins, as workerd takes addresses. It runs until the edge stops. */
  async originsAddress(): Promise<string> {
    this.#origins ??= startOriginServer(pluginFolder(this.stateFolder, "edge"), {
      gate: async () => this.#gate?.promise,
    });
    return (await this.#origins).address;
  }

  /** The state for a runtime that starts, as JSON. */
  startState(): string {
    return (this.#sent = JSON.stringify(this.#state));
  }

  /** Of the runtime that runs; `null` before the first. */
  get processId(): number | null {
    return this.#processId;
  }

  onStart(processId: number): void {
    this.#processId = processId;
  }

  /** The edge worker listens. */
  onListen(port: number): void {
    this.#port = port;
    // The members may have changed since the state was asked for.
    void this.#send();
  }

  /** Leads the requests of wrangler's proxy to the edge worker, which changes URLs itself. */
  lead(proxyData: ProxyData): void {
    if (this.#port === null || proxyData.userWorkerUrl === undefined) return;
    const overrides = proxyData.userWorkerInnerUrlOverrides ?? {};
    proxyData.userWorkerUrl = {
      protocol: "http:",
      hostname: "127.0.0.1",
      port: String(this.#port),
    };
    proxyData.userWorkerInnerUrlOverrides = {};
    proxyData.headers = {
      ...proxyData.headers,
      [proxyHeader]: proxyHeaderValue(this.#token, overrides),
    };
  }

  /** From now on, requests wait, also those of a runtime that starts meanwhile. */
  async hold(): Promise<void> {
    this.#gate ??= Promise.withResolvers();
    await this.#send();
  }

  async release(): Promise<void> {
    const gate = this.#gate;
    this.#gate = null;
    await this.#send();
    gate?.resolve();
  }

  /** What runs at this moment. */
  async work(): Promise<EdgeWork> {
    return (await (await this.#ask("work")).json()) as EdgeWork;
  }

  /** Ends the Durable Objects of the runtime. */
  async abortObjects(): Promise<void> {
    await this.#ask("abort");
  }

  async stop(): Promise<void> {
    edges.delete(this.id);
    this.#endWatch();
    this.#announcement?.end();
    this.#announcement = null;
    await (await this.#origins)?.close();
  }

  get #member(): EdgeMember {
    return { id: this.id, processId: process.pid, token: this.#token, ...this.#profile.member };
  }

  get #state(): EdgeState {
    const { member: _, ...rest } = this.#profile;
    return { ...rest, own: this.#member, others: this.others, isHeld: this.#gate !== null };
  }

  #send(): Promise<void> {
    return (this.#sending = this.#sending.then(async () => {
      const state = JSON.stringify(this.#state);
      if (state === this.#sent || this.#port === null || this.#announcement === null) return;
      try {
        await this.#ask("state", state);
        this.#sent = state;
      } catch {
        // The runtime has ended: the next one asks for the state.
      }
    }));
  }

  async #ask(control: keyof typeof edgeControls, body?: string): Promise<Response> {
    const headers = { [stateHeader]: this.#token };
    const url = `http://127.0.0.1:${this.#port}${edgeControls[control]}`;
    const response = await fetch(url, { method: "POST", headers, ...(body && { body }) });
    if (!response.ok) throw new Error(`The edge worker answers ${response.status}`);
    return response;
  }
}
