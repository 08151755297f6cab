/**
 * The SvcParams of SVCB and HTTPS (RFC 9460). The value is canonical text with keys in numerical
 * order and quoted values, e.g. `alpn="h3,h2" port="8443"`.
 */
import {
  decodeBase64,
  decodeUtf8,
  encodeBase64,
  encodeUtf8,
  quoteBytes,
  unescapeBytes,
  WireError,
} from "../wire/bytes.ts";
import { Reader, Writer } from "../wire/octets.ts";
import { formatIpv4, formatIpv6, parseIpv4, parseIpv6 } from "./ip-address.ts";
import { problem } from "./problem.ts";
import type { Field } from "./record-type.ts";
import { scanLines, type Token } from "./tokens.ts";

/** `accept` catches the error and reports the message. */
function refuse(reason: string): never {
  throw new Error(reason);
}

/** Converts the value of a key between octets on the wire and the text between quotation marks. */
interface ValueForm {
  encode(text: string): Uint8Array;
  decode(reader: Reader): Uint8Array;
}

/** Commas and backslashes in a list item have a second level of escapes (RFC 9460 appendix A.1). */
function list(
  encodeItems: (items: readonly string[], writer: Writer) => void,
  decodeItem: (reader: Reader) => string,
): ValueForm {
  return {
    encode(text) {
      const items = text.match(/(?:[^,\\]|\\[^])+/gu) ?? [];
      if (items.join(",") !== text) refuse("a list has an empty item");
      const unescaped = items.map((item) => item.replaceAll(/\\([^])/gu, "$1"));
      const writer = new Writer();
      encodeItems(unescaped, writer);
      return writer.finish();
    },
    decode(reader) {
      const items: string[] = [];
      while (reader.remaining > 0) items.push(decodeItem(reader));
      return encodeUtf8(items.map((item) => item.replaceAll(/[\\,]/g, "\\$&")).join(","));
    },
  };
}

function addresses(
  key: string,
  parse: typeof parseIpv4,
  decodeItem: (reader: Reader) => string,
): ValueForm {
  return list((items, writer) => {
    for (const item of items) {
      writer.bytes(parse(item.trim()) ?? refuse(`${item} is not an address for ${key}`));
    }
  }, decodeItem);
}

const mandatory = list(
  (items, writer) => {
    const numbers = items.map(keyNumber).sort((one, other) => one - other);
    if (numbers.includes(0)) refuse("mandatory cannot list itself");
    if (new Set(numbers).size < numbers.length) refuse("mandatory lists a key twice");
    for (const number of numbers) writer.uint16(number);
  },
  (reader) => keyName(reader.uint16()),
);

const alpn = list(
  (items, writer) => {
    for (const id of items.map(encodeUtf8)) {
      if (id.length > 255) refuse("an alpn id is too long");
      writer.characterString(id);
    }
  },
  (reader) => {
    const id = decodeUtf8(reader.characterString());
    if (id === null) throw new WireError("An alpn id is not UTF-8");
    return id;
  },
);

const port: ValueForm = {
  encode(text) {
    const number = /^\d{1,5}$/.test(text) ? Number(text) : Infinity;
    if (number > 65_535) refuse("port must be between 0 and 65535");
    return Uint8Array.of(number >>> 8, number & 0xff);
  },
  decode: (reader) => encodeUtf8(String(reader.uint16())),
};

const ech: ValueForm = {
  encode: (text) => decodeBase64(text) ?? refuse("ech must be base64"),
  decode: (reader) => encodeUtf8(encodeBase64(reader.rest())),
};

/** The known keys by number, with the form of their values; `null` means that a key has no value. */
const keys: readonly (readonly [name: string, form: ValueForm | null])[] = [
  ["mandatory", mandatory],
  ["alpn", alpn],
  ["no-default-alpn", null],
  ["port", port],
  ["ipv4hint", addresses("ipv4hint", parseIpv4, (reader) => formatIpv4(reader.bytes(4)))],
  ["ech", ech],
  ["ipv6hint", addresses("ipv6hint", parseIpv6, (reader) => formatIpv6(reader.bytes(16)))],
  ["dohpath", { encode: encodeUtf8, decode: (reader) => reader.rest() }],
  ["ohttp", null],
];
/** 65535 is reserved (RFC 9460 section 14.3.2). */
const keyNumberMax = 65_534;

function keyNumber(name: string): number {
  const known = keys.findIndex(([keyword]) => keyword === name);
  if (known >= 0) return known;
  const match = /^key(0|[1-9]\d{0,4})$/.exec(name);
  const number = Number(match?.[1] ?? keyNumberMax + 1);
  return number > keyNumberMax ? refuse(`${name} is not a key`) : number;
}

function keyName(number: number): string {
  return keys[number]?.[0] ?? `key${number}`;
}

/** Values of unknown keys are opaque octets, and may be absent. */
function encodeValue(key: number, raw: Uint8Array): Uint8Array {
  const [name, form] = keys[key] ?? [];
  if (form === undefined) return raw;
  if (form === null) return raw.length > 0 ? refuse(`${name} takes no value`) : raw;
  const text = decodeUtf8(raw);
  return form.encode(text || refuse(`${name} needs a value`));
}

function composeParameter([key, bytes]: readonly [number, Uint8Array]): string {
  const form = keys[key]?.[1];
  const reader = new Reader(bytes);
  const value = form === null ? new Uint8Array() : (form?.decode(reader) ?? reader.rest());
  reader.expectEnd();
  return form || value.length > 0 ? `${keyName(key)}=${quoteBytes(value)}` : keyName(key);
}

type ServiceParameters = readonly (readonly [key: number, value: Uint8Array])[];

function parseWord({ text }: Token): readonly [number, Uint8Array] {
  const [, name, given = ""] = /^([^=]*)=?([^]*)$/.exec(text)!;
  const key = keyNumber(name!.toLowerCase());
  const value = given.replace(/^"([^]*)"$/, "$1");
  const raw = unescapeBytes(value);
  if (raw === null || /(?:^|[^\\])(?:\\\\)*"/.test(value)) {
    refuse(`the quotation of ${keyName(key)} is broken`);
  }
  return [key, encodeValue(key, raw)];
}

function parseParameters(text: string): ServiceParameters {
  const [line, second] = scanLines(text);
  if (line?.comment !== undefined && line.comment !== null) {
    refuse("a semicolon must stand in quotation marks");
  }
  if (second !== undefined) refuse("it must be on one line");
  const parameters = (line?.tokens ?? []).map(parseWord).sort(([one], [other]) => one - other);
  const given = new Map(parameters);
  if (given.size < parameters.length) refuse("a key is given twice");
  if (given.has(2) && !given.has(1)) refuse("no-default-alpn needs alpn");
  const required = new Reader(given.get(0) ?? new Uint8Array());
  while (required.remaining > 0) {
    const key = required.uint16();
    if (!given.has(key)) refuse(`mandatory key ${keyName(key)} is missing`);
  }
  return parameters;
}

export const serviceParameters: Field<string> = {
  rest: true,
  fallback: "",
  accept(input, name) {
    if (typeof input !== "string") return problem.notAString(name);
    try {
      return parseParameters(input).map(composeParameter).join(" ");
    } catch (error) {
      return problem.serviceParameter((error as Error).message);
    }
  },
  parse: (tokens) => tokens.map(({ text, quoted }) => (quoted ? `"${text}"` : text)).join(" "),
  write(writer, value) {
    for (const [key, bytes] of parseParameters(value)) {
      writer.uint16(key);
      writer.sizedBytes(bytes);
    }
  },
  read(reader) {
    const parameters: [number, Uint8Array][] = [];
    while (reader.remaining > 0) {
      const key = reader.uint16();
      const last = parameters.at(-1)?.[0] ?? -1;
      // RFC 9460 section 2.2: keys must be in strictly increasing order.
      if (key <= last) throw new WireError("SvcParam keys are out of order");
      parameters.push([key, reader.bytes(reader.uint16())]);
    }
    return parameters.map(composeParameter).join(" ");
  },
};
