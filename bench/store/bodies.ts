/**
 * Bodies that differ in every operation: random bytes with a serial number in every 64 KiB. A store
 * that recognises repeated bytes therefore gains nothing.
 */

export const chunkBytes = 65536;

let random: Uint8Array<ArrayBuffer> | undefined;
let serial = 0;

/** Random bytes, generated on first use: workerd has no randomness outside of a request. */
function randomChunk(): Uint8Array<ArrayBuffer> {
  return (random ??= crypto.getRandomValues(new Uint8Array(chunkBytes)));
}

function stamp(bytes: Uint8Array, numbers: { serial: number; index: number }): void {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (bytes.length < 16) return;
  view.setFloat64(0, numbers.serial);
  view.setFloat64(8, numbers.index);
}

/** Changes a body in place, so that it differs from all earlier bodies. */
export function renew(body: Uint8Array): void {
  const bodySerial = serial++;
  for (let start = 0, index = 0; start < body.length; start += chunkBytes, index++) {
    stamp(body.subarray(start, start + chunkBytes), { serial: bodySerial, index });
  }
}

export function makeBody(size: number): Uint8Array {
  const body = new Uint8Array(size);
  for (let start = 0; start < size; start += chunkBytes) {
    body.set(randomChunk().subarray(0, Math.min(chunkBytes, size - start)), start);
  }
  renew(body);
  return body;
}

/** Renews the existing bodies, and adds new ones up to `count`. */
export function makeBodies(
  { bodies, task }: { bodies: Uint8Array[]; task: { size: number } },
  count: number,
): void {
  bodies.slice(0, count).forEach(renew);
  while (bodies.length < count) bodies.push(makeBody(task.size));
}

/** One chunk of the content that `chunks` streams. */
export function chunkAt(seed: number, index: number): Uint8Array<ArrayBuffer> {
  const chunk = randomChunk().slice();
  stamp(chunk, { serial: seed, index });
  return chunk;
}

/** Content of a stream. All chunks use one buffer: a consumer must not keep a chunk. */
export function* chunks(seed: number, size: number): Generator<Uint8Array> {
  const chunk = chunkAt(seed, 0);
  for (let index = 0; index * chunkBytes < size; index++) {
    stamp(chunk, { serial: seed, index });
    yield chunk;
  }
}

export function nextSeed(): number {
  return serial++;
}

export function sameBytes(a: Uint8Array, b: Uint8Array): boolean {
  if (a.length !== b.length) return false;
  for (let index = 0; index < a.length; index++) if (a[index] !== b[index]) return false;
  return true;
}
