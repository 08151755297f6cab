/** Punycode (RFC 3492), encoding only: names are never converted back to Unicode. */
const base = 36;
const tMin = 1;
const tMax = 26;
const skew = 38;
const damp = 700;
const initialBias = 72;
const initialN = 128;

function digit(value: number): string {
  return String.fromCharCode(value < 26 ? value + 97 : value + 22);
}

function adaptBias(delta: number, points: number, first: boolean): number {
  let rest = first ? Math.floor(delta / damp) : Math.floor(delta / 2);
  rest += Math.floor(rest / points);
  let k = 0;
  while (rest > Math.floor(((base - tMin) * tMax) / 2)) {
    rest = Math.floor(rest / (base - tMin));
    k += base;
  }
  return k + Math.floor(((base - tMin + 1) * rest) / (rest + skew));
}

function encodeVariableLength(delta: number, bias: number): string {
  let text = "";
  let rest = delta;
  for (let k = base; ; k += base) {
    const threshold = Math.min(Math.max(k - bias, tMin), tMax);
    if (rest < threshold) return text + digit(rest);
    text += digit(threshold + ((rest - threshold) % (base - threshold)));
    rest = Math.floor((rest - threshold) / (base - threshold));
  }
}

export function encodePunycode(label: string): string {
  const points = Array.from(label, (character) => character.codePointAt(0)!);
  const basic = points.filter((point) => point < initialN);
  let output = String.fromCharCode(...basic);
  if (basic.length > 0) output += "-";
  let handled = basic.length;
  let n = initialN;
  let delta = 0;
  let bias = initialBias;
  while (handled < points.length) {
    const next = Math.min(...points.filter((point) => point >= n));
    delta += (next - n) * (handled + 1);
    n = next;
    for (const point of points) {
      if (point < n) delta += 1;
      if (point === n) {
        output += encodeVariableLength(delta, bias);
        bias = adaptBias(delta, handled + 1, handled === basic.length);
        delta = 0;
        handled += 1;
      }
    }
    delta += 1;
    n += 1;
  }
  return output;
}

/** Maps compatibility forms, capitals and ideographic full stops as UTS 46 does. */
export function toAsciiName(name: string): string {
  // oxlint-disable-next-line no-control-regex -- the pattern tests for ASCII
  if (/^[\x00-\x7f]*$/.test(name)) return name.toLowerCase();
  return (
    name
      .normalize("NFKC")
      .toLowerCase()
      .normalize("NFC")
      .replaceAll(/[。．｡]/gu, ".")
      .split(".")
      // oxlint-disable-next-line no-control-regex -- the pattern tests for ASCII
      .map((label) => (/^[\x00-\x7f]*$/.test(label) ? label : `xn--${encodePunycode(label)}`))
      .join(".")
  );
}
