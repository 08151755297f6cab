/**
 * RFC 1876. The data has degrees, minutes and seconds. The wire form has thousandths of a second
 * from the equator and the prime meridian, and lengths as a digit times a power of ten centimetres;
 * the record type itself packs them, so its fields have no wire form of their own.
 */
import { WireError } from "../wire/bytes.ts";
import { Reader, Writer } from "../wire/octets.ts";
import { problem } from "./problem.ts";
import { defineRecordType, type Field, type Rdata, type RecordType } from "./record-type.ts";
import type { Token } from "./tokens.ts";

const equator = 2 ** 31;
const altitudeBaseMetres = 100_000;
/** 9 × 10^9 centimetres, the largest length of the wire form. */
const lengthMetresMax = 90_000_000;

const degrees = (max: number) => decimal({ min: 0, max, fractionDigits: 0 });
const minutes = decimal({ min: 0, max: 59, fractionDigits: 0, fallback: 0 });
const seconds = decimal({ min: 0, max: 59.999, fractionDigits: 3, fallback: 0 });
const metres = (fallback: number) =>
  decimal({ min: 0, max: lengthMetresMax, fractionDigits: 2, unit: "m", fallback });

const base = defineRecordType("LOC", 29, {
  example: "52 22 23 N 4 53 32 E -2m",
  fields: {
    lat_degrees: degrees(90),
    lat_minutes: minutes,
    lat_seconds: seconds,
    lat_direction: choice(["N", "S"]),
    long_degrees: degrees(180),
    long_minutes: minutes,
    long_seconds: seconds,
    long_direction: choice(["E", "W"]),
    altitude: decimal({ min: -100_000, max: 42_849_672.95, fractionDigits: 2, unit: "m" }),
    size: metres(1),
    precision_horz: metres(10_000),
    precision_vert: metres(10),
  },
  check(rdata, report) {
    if (rdata.lat_degrees === 90 && rdata.lat_minutes + rdata.lat_seconds > 0) {
      report(problem.decimalRange("latitude", 0, 90));
    }
    if (rdata.long_degrees === 180 && rdata.long_minutes + rdata.long_seconds > 0) {
      report(problem.decimalRange("longitude", 0, 180));
    }
  },
});

const zero: Token = { text: "0", quoted: false };

/** A zone file may leave out minutes and seconds; `null` when an angle is malformed. */
function completeAngles(tokens: readonly Token[]): readonly Token[] | null {
  const complete: Token[] = [];
  let at = 0;
  for (const directions of [/^[NS]$/i, /^[EW]$/i]) {
    const end = tokens.findIndex(({ text }, index) => index >= at && directions.test(text));
    if (end <= at || end > at + 3) return null;
    const [degree, minute = zero, second = zero] = tokens.slice(at, end);
    complete.push(degree!, minute, second, tokens[end]!);
    at = end + 1;
  }
  return [...complete, ...tokens.slice(at)];
}

function encodeAngle(rdata: Rdata, axis: "lat" | "long", negative: string): number {
  const part = (name: string) => rdata[`${axis}_${name}`] as number;
  const thousandths =
    (part("degrees") * 3600 + part("minutes") * 60) * 1000 + Math.round(part("seconds") * 1000);
  return rdata[`${axis}_direction`] === negative ? equator - thousandths : equator + thousandths;
}

function decodeAngle(value: number, axis: "lat" | "long", directions: string): Rdata {
  const distance = Math.abs(value - equator);
  if (distance > (axis === "lat" ? 90 : 180) * 3_600_000) {
    throw new WireError("A LOC angle is out of range");
  }
  return {
    [`${axis}_degrees`]: Math.floor(distance / 3_600_000),
    [`${axis}_minutes`]: Math.floor(distance / 60_000) % 60,
    [`${axis}_seconds`]: (distance % 60_000) / 1000,
    [`${axis}_direction`]: value < equator ? directions[1] : directions[0],
  };
}

const lengthNames = ["size", "precision_horz", "precision_vert"];

/** The wire form keeps only the first digit of a length. */
function encodeLength(metresLong: number): number {
  let mantissa = Math.round(metresLong * 100);
  let exponent = 0;
  while (mantissa > 9) {
    mantissa = Math.floor(mantissa / 10);
    exponent += 1;
  }
  return (mantissa << 4) | exponent;
}

function decodeLength(octet: number): number {
  if (octet >> 4 > 9 || (octet & 0xf) > 9) throw new WireError("A LOC length is out of range");
  return ((octet >> 4) * 10 ** (octet & 0xf)) / 100;
}

export const loc: RecordType = {
  ...base,
  parse(tokens, origin) {
    const complete = completeAngles(tokens);
    return complete === null ? null : base.parse(complete, origin);
  },
  write(rdata) {
    const writer = new Writer();
    writer.uint8(0);
    for (const name of lengthNames) writer.uint8(encodeLength(rdata[name] as number));
    writer.uint32(encodeAngle(rdata, "lat", "S"));
    writer.uint32(encodeAngle(rdata, "long", "W"));
    writer.uint32(Math.round(((rdata["altitude"] as number) + altitudeBaseMetres) * 100));
    return writer.finish();
  },
  read(message, offset, end) {
    const reader = new Reader(message, offset, end);
    if (reader.uint8() !== 0) throw new WireError("Only version 0 of LOC is known");
    const lengths = lengthNames.map((name) => [name, decodeLength(reader.uint8())]);
    const latitude = decodeAngle(reader.uint32(), "lat", "NS");
    const longitude = decodeAngle(reader.uint32(), "long", "EW");
    const altitude = (reader.uint32() - altitudeBaseMetres * 100) / 100;
    reader.expectEnd();
    return { ...latitude, ...longitude, altitude, ...Object.fromEntries(lengths) };
  },
};

function packed(): never {
  throw new Error("The record type packs this field");
}

function decimal(options: {
  readonly min: number;
  readonly max: number;
  readonly fractionDigits: number;
  readonly unit?: string;
  readonly fallback?: number;
}): Field<number> {
  const { min, max, fractionDigits, unit = "", fallback } = options;
  return {
    fallback,
    accept(input, name) {
      const isNumber = typeof input === "string" && /^-?\d+(?:\.\d+)?$/.test(input);
      const value = isNumber ? Number(input) : input;
      const whole = fractionDigits > 0 || Number.isInteger(value);
      if (typeof value === "number" && whole && value >= min && value <= max) {
        // Adding 0 turns -0 into 0.
        return Number(value.toFixed(fractionDigits)) + 0;
      }
      const refuse = fractionDigits === 0 ? problem.integerRange : problem.decimalRange;
      return refuse(name, min, max);
    },
    compose: (value) => `${value.toFixed(fractionDigits)}${unit}`,
    parse: ([token]) => token!.text.replace(/m$/, ""),
    write: packed,
    read: packed,
  };
}

function choice(values: readonly string[]): Field<string> {
  return {
    accept(input, name) {
      const value = typeof input === "string" ? input.toUpperCase() : "";
      return values.includes(value) ? value : problem.notOneOf(name, values);
    },
    write: packed,
    read: packed,
  };
}
