/** RFC 3492, encoding only: names come in as Unicode and go out as ASCII, never back. */
const BASE = 36;
const T_MIN = 1;
const T_MAX = 26;
const SKEW = 38;
const DAMP = 700;
const INITIAL_BIAS = 72;
const INITIAL_N = 128;

function digit(value: number): string {
  return String.fromCharCode(value < 26 ? value + 97 : value + 22);
}

function adaptBias(delta: number, points: number, first: boolean): number {
  let rest = first ? Math.floor(delta / DAMP) : Math.floor(delta / 2);
  rest += Math.floor(rest / points);
  let k = 0;
  while (rest > Math.floor(((BASE - T_MIN) * T_MAX) / 2)) {
    rest = Math.floor(rest / (BASE - T_MIN));
    k += BASE;
  }
  return k + Math.floor(((BASE - T_MIN + 1) * rest) / (rest + SKEW));
}

function encodeVariableLength(delta: number, bias: number): string {
  let text = "";
  let rest = delta;
  for (let k = BASE; ; k += BASE) {
    const threshold = Math.min(Math.max(k - bias, T_MIN), T_MAX);
    if (rest < threshold) return text + digit(rest);
    text += digit(threshold + ((rest - threshold) % (BASE - threshold)));
    rest = Math.floor((rest - threshold) / (BASE - threshold));
  }
}

export function encodePunycode(label: string): string {
  const points = Array.from(label, (character) => character.codePointAt(0)!);
  const basic = points.filter((point) => point < INITIAL_N);
  let output = String.fromCharCode(...basic);
  if (basic.length > 0) output += "-";
  let handled = basic.length;
  let n = INITIAL_N;
  let delta = 0;
  let bias = INITIAL_BIAS;
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

/** Compatibility forms, capitals and the ideographic full stops go the way of UTS 46. */
export function toAsciiName(name: string): string {
  // oxlint-disable-next-line no-control-regex -- the range of ASCII is what is asked
  if (/^[\x00-\x7f]*$/.test(name)) return name.toLowerCase();
  return (
    name
      .normalize("NFKC")
      .toLowerCase()
      .normalize("NFC")
      .replaceAll(/[。．｡]/gu, ".")
      .split(".")
      // oxlint-disable-next-line no-control-regex -- the range of ASCII is what is asked
      .map((label) => (/^[\x00-\x7f]*$/.test(label) ? label : `xn--${encodePunycode(label)}`))
      .join(".")
  );
}
