/**
 * A value as one run of bytes, for where there is only `fetch`: the length of its JSON in four
 * bytes, the JSON, and behind it the bytes that JSON cannot hold.
 */

type Place = [start: number, length: number];

export function encodeFrame(value: unknown): Blob {
  const attachments: Uint8Array<ArrayBuffer>[] = [];
  let end = 0;
  const json = JSON.stringify(value, (_, item: unknown) => {
    if (!(item instanceof ArrayBuffer) && !ArrayBuffer.isView(item)) return item;
    const bytes =
      item instanceof ArrayBuffer ? new Uint8Array(item) : (item as Uint8Array<ArrayBuffer>);
    const place: Place = [end, bytes.length];
    attachments.push(bytes);
    end += bytes.length;
    return { [bytesField]: place };
  });
  const encoded = new TextEncoder().encode(json);
  return new Blob([Uint32Array.of(encoded.length), encoded, ...attachments]);
}

export function decodeFrame<Value>(buffer: ArrayBuffer): Value {
  const length = new Uint32Array(buffer, 0, 1)[0] as number;
  const attachments = 4 + length;
  const json = new TextDecoder().decode(new Uint8Array(buffer, 4, length));
  return JSON.parse(json, (_, item: unknown) => {
    const place = placeOf(item);
    if (place === null) return item;
    const start = attachments + place[0];
    // A copy: as a view it would keep the whole frame in memory, and pass for all of it.
    return new Uint8Array(buffer.slice(start, start + place[1]));
  }) as Value;
}

/** Metadata may have any name, but its values are text, and this one is a pair of numbers. */
const bytesField = "$bytes";

function placeOf(item: unknown): Place | null {
  if (typeof item !== "object" || item === null || !(bytesField in item)) return null;
  const place = item[bytesField];
  return Array.isArray(place) ? (place as Place) : null;
}
