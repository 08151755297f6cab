/**
 * The cap on the requests that a runtime has under way at an S3 service, and the queue before it.
 *
 * A request takes a place before it is sent, and gives the place back when its answer has been read. Requests
 * wait in their order. Two rules keep a place from being lost, because workerd drops the code of a request
 * whose client went away, and runs no handler then:
 *
 * - A request that has a place, or waits for a place, renews its claim by a timer of its own. A claim that is
 *   not renewed has ended.
 * - An answer whose content the caller does not read for some time gives its place back: a caller that holds
 *   answers while it asks for others must not block them.
 *
 * In workerd, a promise that the code of another request resolves goes on in that request, unless the script
 * has a compatibility flag. Without it, waiting requests look again after a short time, and nothing wakes them.
 */

const renewalMilliseconds = 250;
const claimMilliseconds = 4 * renewalMilliseconds;
/** How long an answer keeps its place while its content is not asked for. */
const unreadMilliseconds = 2_000;
const pollMilliseconds = 5;

interface Runtime {
  readonly Cloudflare?: { readonly compatibilityFlags?: Readonly<Record<string, boolean>> };
  readonly WebSocketPair?: unknown;
}

function mayWake({ Cloudflare, WebSocketPair }: Runtime): boolean {
  if (WebSocketPair === undefined) return true;
  return Cloudflare?.compatibilityFlags?.["handle_cross_request_promise_resolution"] === true;
}

interface Claim {
  /** Milliseconds since the epoch. */
  ends: number;
}

interface Waiting extends Claim {
  wake: () => void;
}

/** A request that has a place. */
export class Place implements Claim {
  ends: number;
  readonly #places: ConnectionPlaces;
  readonly #timer: ReturnType<typeof setInterval>;
  /** Since when the content is not asked for; `null` while the request or its reader is at work. */
  #unreadSince: number | null = null;

  constructor(places: ConnectionPlaces) {
    this.#places = places;
    this.ends = Date.now() + claimMilliseconds;
    this.#timer = setInterval(() => {
      const now = Date.now();
      this.ends = now + claimMilliseconds;
      if (this.#unreadSince !== null && now - this.#unreadSince >= unreadMilliseconds) {
        this.release();
      }
    }, renewalMilliseconds);
  }

  /** @param isAtWork whether the service is to deliver something */
  set isAtWork(isAtWork: boolean) {
    this.#unreadSince = isAtWork ? null : Date.now();
  }

  /** May be called again. */
  release(): void {
    clearInterval(this.#timer);
    this.#places.end(this);
  }
}

export class ConnectionPlaces {
  readonly max: number;
  readonly #held = new Set<Place>();
  #waiting: Waiting[] = [];

  constructor(max: number) {
    this.max = max;
  }

  /** @returns `null` when there was no place in this time */
  async take(milliseconds: number): Promise<Place | null> {
    if (this.#waiting.length === 0 && this.#free() > 0) return this.#hold();
    const end = Date.now() + milliseconds;
    const waiting: Waiting = { ends: 0, wake: () => {} };
    this.#waiting.push(waiting);
    const wakes = mayWake(globalThis as Runtime);
    try {
      for (;;) {
        const now = Date.now();
        waiting.ends = now + claimMilliseconds;
        if (this.#isNext(waiting)) return this.#hold();
        if (now >= end) return null;
        const longest = wakes ? renewalMilliseconds : pollMilliseconds;
        let timer: ReturnType<typeof setTimeout> | undefined;
        await new Promise<void>((resolve) => {
          timer = setTimeout(resolve, Math.min(longest, end - now));
          if (wakes) waiting.wake = resolve;
        });
        // Timers belong to the code of one request: the code that wakes this request must not touch them.
        clearTimeout(timer);
      }
    } finally {
      this.#waiting = this.#waiting.filter((each) => each !== waiting);
      this.#wakeNext();
    }
  }

  end(place: Place): void {
    if (this.#held.delete(place)) this.#wakeNext();
  }

  #hold(): Place {
    const place = new Place(this);
    this.#held.add(place);
    return place;
  }

  #free(): number {
    const now = Date.now();
    if (this.#held.size >= this.max) {
      for (const place of this.#held) if (place.ends < now) this.#held.delete(place);
    }
    return this.max - this.#held.size;
  }

  /** Whether the request is among the first that wait, as many as there are free places. */
  #isNext(waiting: Waiting): boolean {
    const free = this.#free();
    if (free <= 0) return false;
    const now = Date.now();
    if (this.#waiting.slice(0, free).some(({ ends }) => ends < now)) {
      this.#waiting = this.#waiting.filter(({ ends }) => ends >= now);
    }
    return this.#waiting.slice(0, free).includes(waiting);
  }

  #wakeNext(): void {
    if (this.#waiting.length === 0) return;
    for (const { wake } of this.#waiting.slice(0, Math.max(this.#free(), 0))) wake();
  }
}

/** By the origin of the service. All buckets of a service share its places. */
const known = new Map<string, ConnectionPlaces>();

export function placesOf(endpoint: string, max: number): ConnectionPlaces {
  let places = known.get(endpoint);
  if (places?.max !== max) {
    places = new ConnectionPlaces(max);
    known.set(endpoint, places);
  }
  return places;
}
