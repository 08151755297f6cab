/** $GENERATE of BIND: a range `start-stop[/step]`, and words with `$` or `${offset[,width[,base]]}`. */

/** A limit of our own for the records of one directive. */
const generatedMax = 65_536;

/** The values of a range; `null` when the word is not a range. */
export function parseRange(word: string): number[] | null {
  const match = /^(\d{1,9})-(\d{1,9})(?:\/(\d{1,9}))?$/.exec(word);
  if (match === null) return null;
  const [start, stop, step] = [Number(match[1]), Number(match[2]), Number(match[3] ?? 1)];
  if (step < 1 || stop < start || (stop - start) / step >= generatedMax) return null;
  const count = Math.floor((stop - start) / step) + 1;
  return Array.from({ length: count }, (_, index) => start + index * step);
}

function format(value: number, width: number, base: string): string {
  // n and N reverse the digits and separate them with dots, for ip6.arpa.
  if (base === "n" || base === "N") {
    const digits = value.toString(16).padStart(Math.ceil(width / 2), "0");
    const nibbles = digits.split("").toReversed().join(".");
    return base === "N" ? nibbles.toUpperCase() : nibbles;
  }
  const radix = base === "o" ? 8 : base === "x" || base === "X" ? 16 : 10;
  const digits = value.toString(radix).padStart(width, "0");
  return base === "X" ? digits.toUpperCase() : digits;
}

/** `null` when a `${…}` is malformed or its value is negative. */
export function substitute(template: string, value: number): string | null {
  let broken = false;
  const text = template.replaceAll(
    /\\\$|\$\{([^}]*)\}|\$/g,
    (whole: string, modifiers: string | undefined) => {
      if (whole === "\\$") return "$";
      if (modifiers === undefined) return String(value);
      const match = /^(-?\d{1,9})(?:,(\d{1,3})(?:,([doxXnN]))?)?$/.exec(modifiers);
      const result = value + Number(match?.[1] ?? 0);
      if (match === null || result < 0) broken = true;
      return format(Math.max(0, result), Number(match?.[2] ?? 0), match?.[3] ?? "d");
    },
  );
  return broken ? null : text;
}
