// @ts-check
/**
 * An upload that can be resumed. It sends several parts at once, retries failed parts, and after a
 * reload sends only the parts that the server does not have.
 *
 * The browser keeps only the id of the upload, under the file's name, size and date. The server
 * keeps the list of stored parts. Nothing in this file needs a browser: `fetch`, the storage and
 * the wait function are options.
 *
 *     ready ─▶ uploading ─▶ done
 *                │  ▲  └──▶ failed ─▶ start() continues
 *                ▼  │
 *               paused            aborted: from any state except done
 */

/**
 * @typedef {"ready" | "uploading" | "paused" | "failed" | "aborted" | "done"} UploadState
 * @typedef {{ key: string, size: number, etag: string, url: string }} StoredFile
 * @typedef {{ id: string, partSize: number, parts: number[], file?: StoredFile }} UploadStatus
 * @typedef {{ name: string, size: number, type: string, lastModified: number, slice(start: number, end: number): Blob }} FileLike
 * @typedef {{ method?: string, body?: Blob | string, headers?: Record<string, string>, signal?: AbortSignal }} RequestOptions
 * @typedef {{ ok: boolean, status: number, json(): Promise<any> }} Answer
 * @typedef {(url: string, options: RequestOptions) => Promise<Answer>} Fetch
 * @typedef {(url: string, part: Blob, options: { signal: AbortSignal, onProgress: (sent: number) => void }) => Promise<Answer>} SendPart
 * @typedef {object} UploadOptions
 * @property {Fetch} [fetch]
 * @property {SendPart} [sendPart] sends one part, and reports its progress
 * @property {{ getItem(key: string): string | null, setItem(key: string, value: string): void, removeItem(key: string): void }} storage
 * @property {number} [concurrency] number of parts that are sent at once
 * @property {number} [attempts] number of attempts for a request
 * @property {(milliseconds: number, signal: AbortSignal) => Promise<void>} [wait]
 * @property {(upload: Upload) => void} [onChange] called on every change of state or progress
 */

/** Prefix of all keys in the storage. */
export const storagePrefix = "upload:";

/** @param {{ name: string, size: number, lastModified: number }} file */
export function fingerprint({ name, size, lastModified }) {
  return `${storagePrefix}${size}:${lastModified}:${name}`;
}

/** A refusal of the server. Another attempt would fail too. */
class Refusal extends Error {
  /**
   * @param {number} status
   * @param {string} message
   */
  constructor(status, message) {
    super(message);
    this.status = status;
  }
}

export class Upload {
  /** @type {UploadState} */
  state = "ready";
  /** @type {Error | null} */
  error = null;
  /** @type {StoredFile | null} */
  result = null;

  #file;
  #options;
  #fingerprint;
  #controller = new AbortController();
  /** @type {Promise<void> | null} */
  #run = null;
  /** @type {UploadStatus | null} */
  #status = null;
  /** @type {Set<number>} */
  #done = new Set();
  /** Sent bytes of parts in progress @type {Map<number, number>} */
  #inFlight = new Map();

  /**
   * @param {FileLike} file
   * @param {UploadOptions} options
   */
  constructor(file, options) {
    this.#file = file;
    this.#fingerprint = fingerprint(file);
    this.#options = {
      // Not `fetch` itself, which must be called as a method of the window.
      fetch: /** @type {Fetch} */ ((url, init) => fetch(url, init)),
      concurrency: 4,
      attempts: 6,
      wait,
      onChange: () => {},
      ...options,
    };
  }

  get total() {
    return this.#file.size;
  }

  /** Number of sent bytes. */
  get sent() {
    let sent = 0;
    for (const number of this.#done) sent += this.#partLength(number);
    for (const bytes of this.#inFlight.values()) sent += bytes;
    return this.state === "done" ? this.total : Math.min(sent, this.total);
  }

  /** Starts or continues the upload. Resolves when it is done, paused, aborted or failed. */
  start() {
    if (this.state === "done" || this.state === "aborted") return Promise.resolve();
    this.#run ??= this.#work().finally(() => {
      this.#run = null;
    });
    return this.#run;
  }

  /** Stops sending. The stored parts stay, and `start()` continues. */
  async pause() {
    if (this.state !== "uploading") return;
    this.#change("paused");
    await this.#stop();
  }

  /** Aborts the upload in the browser and on the server. */
  async abort() {
    if (this.state === "done") return;
    this.#change("aborted");
    await this.#stop();
    const id = this.#status?.id ?? this.#options.storage.getItem(this.#fingerprint);
    this.#options.storage.removeItem(this.#fingerprint);
    if (id !== null) await this.#options.fetch(`/uploads/${id}`, { method: "DELETE" });
  }

  async #stop() {
    this.#controller.abort();
    await this.#run;
  }

  async #work() {
    this.#controller = new AbortController();
    this.error = null;
    this.#change("uploading");
    try {
      const status = await this.#open();
      this.#status = status;
      this.#done = new Set(status.parts);
      this.#change("uploading");
      if (status.file === undefined) await this.#sendParts(status);
      this.result =
        status.file ?? (await this.#request(`/uploads/${status.id}/complete`, { method: "POST" }));
      this.#options.storage.removeItem(this.#fingerprint);
      this.#change("done");
      // The server keeps the record of a completed upload until the client deletes it.
      await this.#options.fetch(`/uploads/${status.id}`, { method: "DELETE" }).catch(() => {});
    } catch (error) {
      if (this.state !== "uploading") return;
      if (error instanceof Refusal && (error.status === 404 || error.status === 410)) {
        this.#options.storage.removeItem(this.#fingerprint);
      }
      this.error = error instanceof Error ? error : new Error(String(error));
      this.#change("failed");
    } finally {
      this.#inFlight.clear();
    }
  }

  /**
   * The existing upload of this file if the server still has it, otherwise a new upload.
   *
   * @returns {Promise<UploadStatus>}
   */
  async #open() {
    const { storage } = this.#options;
    const id = storage.getItem(this.#fingerprint);
    if (id !== null) {
      try {
        return await this.#request(`/uploads/${id}`, {});
      } catch (error) {
        if (!(error instanceof Refusal) || error.status !== 404) throw error;
      }
    }
    const { name, size, type } = this.#file;
    const created = await this.#request("/uploads", {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ name, size, type }),
    });
    storage.setItem(this.#fingerprint, created.id);
    return created;
  }

  /** @param {UploadStatus} status */
  async #sendParts({ id, partSize }) {
    const count = Math.max(1, Math.ceil(this.#file.size / partSize));
    const numbers = Array.from({ length: count }, (_, index) => index + 1);
    const queue = numbers.filter((number) => !this.#done.has(number));
    const sender = async () => {
      for (let number = queue.shift(); number !== undefined; number = queue.shift()) {
        await this.#sendPart(`/uploads/${id}/${number}`, number, partSize);
      }
    };
    const senders = Array.from({ length: this.#options.concurrency }, sender);
    try {
      await Promise.all(senders);
    } catch (error) {
      // One sender has failed. The others stop, and this waits until none is sending.
      this.#controller.abort();
      await Promise.allSettled(senders);
      throw error;
    }
  }

  /**
   * @param {string} url
   * @param {number} number
   * @param {number} partSize
   */
  async #sendPart(url, number, partSize) {
    const start = (number - 1) * partSize;
    const part = this.#file.slice(start, Math.min(start + partSize, this.#file.size));
    const { signal } = this.#controller;
    await this.#withRetries(() => {
      this.#progress(number, 0);
      if (this.#options.sendPart === undefined) {
        return this.#options.fetch(url, { method: "PUT", body: part, signal });
      }
      const onProgress = (/** @type {number} */ sent) => this.#progress(number, sent);
      return this.#options.sendPart(url, part, { signal, onProgress });
    });
    this.#inFlight.delete(number);
    this.#done.add(number);
    this.#options.onChange(this);
  }

  /**
   * @param {string} url
   * @param {RequestOptions} options
   */
  #request(url, options) {
    const { signal } = this.#controller;
    return this.#withRetries(() => this.#options.fetch(url, { ...options, signal }));
  }

  /**
   * Retries after a lost connection and after a temporary error of the server, but not after a
   * refusal.
   *
   * @param {() => Promise<Answer>} send
   */
  async #withRetries(send) {
    const { signal } = this.#controller;
    for (let attempt = 1; ; attempt += 1) {
      signal.throwIfAborted();
      /** @type {Error} */
      let problem;
      try {
        const answer = await send();
        if (answer.ok) return await answer.json();
        problem = await refusalOf(answer);
        if (answer.status < 500 && answer.status !== 408 && answer.status !== 429) throw problem;
      } catch (error) {
        if (error instanceof Refusal || signal.aborted) throw error;
        problem = error instanceof Error ? error : new Error(String(error));
      }
      if (attempt === this.#options.attempts) throw problem;
      await this.#options.wait(delay(attempt), signal);
    }
  }

  /** @param {number} number */
  #partLength(number) {
    const partSize = this.#status?.partSize ?? 0;
    return Math.min(partSize, this.#file.size - (number - 1) * partSize);
  }

  /**
   * @param {number} number
   * @param {number} sent
   */
  #progress(number, sent) {
    this.#inFlight.set(number, sent);
    this.#options.onChange(this);
  }

  /** @param {UploadState} state */
  #change(state) {
    this.state = state;
    this.#options.onChange(this);
  }
}

/** @param {Answer} answer */
async function refusalOf(answer) {
  const { error } = await answer.json().catch(() => ({}));
  return new Refusal(answer.status, error ?? `The server answered ${answer.status}.`);
}

/**
 * Half a second, doubled with each attempt, up to ten seconds. A random factor spreads the parts.
 *
 * @param {number} attempt
 */
export function delay(attempt) {
  return Math.min(500 * 2 ** (attempt - 1), 10_000) * (0.75 + Math.random() / 2);
}

/**
 * @param {number} milliseconds
 * @param {AbortSignal} signal
 * @returns {Promise<void>}
 */
function wait(milliseconds, signal) {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, milliseconds);
    signal.addEventListener("abort", () => {
      clearTimeout(timer);
      reject(signal.reason);
    });
  });
}
