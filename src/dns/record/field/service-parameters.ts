/**
 * The SvcParams of SVCB and HTTPS (RFC 9460). The value is canonical text with keys in numerical
 * order and quoted values, e.g. `alpn="h3,h2" port="8443"`.
 */
import { decodeBase64, encodeBase64 } from "../../wire/base64.ts";
import { quoteBytes, unescapeBytes } from "../../wire/character-string.ts";
import { Reader } from "../../wire/reader.ts";
import { concatBytes, decodeUtf8, encodeUtf8, WireError } from "../../wire/bytes.ts";
import { Writer } from "../../wire/writer.ts";
import { formatIpv4, formatIpv6, parseIpv4, parseIpv6 } from "./ip-address.ts";
import { problem } from "../problem.ts";
import { scanLines, type Token } from "../tokens.ts";
import type { Field } from "./field.ts";

/** `accept` catches this error and reports the message. */
class ParameterError extends Error {}

const keyNames = [
  "mandatory",
  "alpn",
  "no-default-alpn",
  "port",
  "ipv4hint",
  "ech",
  "ipv6hint",
  "dohpath",
  "ohttp",
] as const;
/** 65535 is reserved (RFC 9460 section 14.3.2). */
const keyNumberMax = 65_534;

function keyNumber(name: string): number {
  const known = (keyNames as readonly string[]).indexOf(name);
  if (known >= 0) return known;
  const match = /^key(0|[1-9]\d{0,4})$/.exec(name);
  const number = Number(match?.[1] ?? keyNumberMax + 1);
  if (number > keyNumberMax) throw new ParameterError(`${name} is not a key`);
  return number;
}

function keyName(number: number): string {
  return keyNames[number] ?? `key${number}`;
}

/** Commas and backslashes in a list item have a second level of escapes (RFC 9460 appendix A.1). */
function splitList(text: string): string[] {
  const items = text.match(/(?:[^,\\]|\\[^])+/gu) ?? [];
  if (items.join(",") !== text) throw new ParameterError("a list has an empty item");
  return items.map((item) => item.replaceAll(/\\([^])/gu, "$1"));
}

function joinList(items: readonly string[]): string {
  return items.map((item) => item.replaceAll(/[\\,]/g, "\\$&")).join(",");
}

function encodeAddresses(text: string, parse: typeof parseIpv4, key: string): Uint8Array {
  const addresses = splitList(text).map((item) => {
    const bytes = parse(item.trim());
    if (bytes === null) throw new ParameterError(`${item} is not an address for ${key}`);
    return bytes;
  });
  return concatBytes(addresses);
}

function encodeValue(key: number, raw: Uint8Array | null): Uint8Array {
  const name = keyName(key);
  const text = raw === null ? null : decodeUtf8(raw);
  const writer = new Writer();
  const withoutValue = name === "no-default-alpn" || name === "ohttp";
  if (withoutValue) {
    if (raw !== null && raw.length > 0) throw new ParameterError(`${name} takes no value`);
    return new Uint8Array();
  }
  if (key >= keyNames.length) return raw ?? new Uint8Array();
  if (text === null || text === "") throw new ParameterError(`${name} needs a value`);
  switch (name) {
    case "mandatory": {
      const keys = splitList(text)
        .map(keyNumber)
        .sort((one, other) => one - other);
      if (keys.includes(0)) throw new ParameterError("mandatory cannot list itself");
      if (new Set(keys).size < keys.length) throw new ParameterError("mandatory lists a key twice");
      for (const number of keys) writer.uint16(number);
      return writer.finish();
    }
    case "alpn":
      for (const item of splitList(text)) {
        if (encodeUtf8(item).length > 255) throw new ParameterError("an alpn id is too long");
        writer.characterString(encodeUtf8(item));
      }
      return writer.finish();
    case "port":
      if (!/^\d{1,5}$/.test(text) || Number(text) > 65_535) {
        throw new ParameterError("port must be between 0 and 65535");
      }
      writer.uint16(Number(text));
      return writer.finish();
    case "ipv4hint":
      return encodeAddresses(text, parseIpv4, name);
    case "ipv6hint":
      return encodeAddresses(text, parseIpv6, name);
    case "ech": {
      const bytes = decodeBase64(text);
      if (bytes === null) throw new ParameterError("ech must be base64");
      return bytes;
    }
    default:
      return raw!;
  }
}

function decodeValue(key: number, bytes: Uint8Array): Uint8Array | null {
  const name = keyName(key);
  const reader = new Reader(bytes);
  const items: string[] = [];
  switch (name) {
    case "no-default-alpn":
    case "ohttp":
      reader.expectEnd();
      return null;
    case "mandatory":
      while (reader.remaining > 0) items.push(keyName(reader.uint16()));
      break;
    case "alpn":
      while (reader.remaining > 0) {
        const item = decodeUtf8(reader.characterString());
        if (item === null) throw new WireError("An alpn id is not UTF-8");
        items.push(item);
      }
      break;
    case "port":
      items.push(String(reader.uint16()));
      reader.expectEnd();
      break;
    case "ipv4hint":
      while (reader.remaining > 0) items.push(formatIpv4(reader.bytes(4)));
      break;
    case "ipv6hint":
      while (reader.remaining > 0) items.push(formatIpv6(reader.bytes(16)));
      break;
    case "ech":
      return encodeUtf8(encodeBase64(bytes));
    default:
      return bytes;
  }
  return encodeUtf8(joinList(items));
}

type ServiceParameters = readonly (readonly [key: number, value: Uint8Array])[];

function parseWord({ text }: Token): readonly [number, Uint8Array] {
  const equals = text.indexOf("=");
  const key = keyNumber((equals < 0 ? text : text.slice(0, equals)).toLowerCase());
  if (equals < 0) return [key, encodeValue(key, null)];
  let value = text.slice(equals + 1);
  if (value.length > 1 && value.startsWith('"') && value.endsWith('"')) value = value.slice(1, -1);
  const raw = unescapeBytes(value);
  if (raw === null || /(?:^|[^\\])(?:\\\\)*"/.test(value)) {
    throw new ParameterError(`the quotation of ${keyName(key)} is broken`);
  }
  return [key, encodeValue(key, raw)];
}

function parseParameters(text: string): ServiceParameters {
  const [line, second] = scanLines(text);
  if (line?.comment !== undefined && line.comment !== null) {
    throw new ParameterError("a semicolon must stand in quotation marks");
  }
  if (second !== undefined) throw new ParameterError("it must be on one line");
  const parameters = (line?.tokens ?? []).map(parseWord).sort(([one], [other]) => one - other);
  const keys = new Set(parameters.map(([key]) => key));
  if (keys.size < parameters.length) throw new ParameterError("a key is given twice");
  if (keys.has(2) && !keys.has(1)) throw new ParameterError("no-default-alpn needs alpn");
  const mandatory = new Reader(parameters.find(([key]) => key === 0)?.[1] ?? new Uint8Array());
  while (mandatory.remaining > 0) {
    const key = mandatory.uint16();
    if (!keys.has(key)) throw new ParameterError(`mandatory key ${keyName(key)} is missing`);
  }
  return parameters;
}

function composeParameters(parameters: ServiceParameters): string {
  return parameters
    .map(([key, bytes]) => {
      const value = decodeValue(key, bytes);
      const bare = value === null || (key >= keyNames.length && value.length === 0);
      return bare ? keyName(key) : `${keyName(key)}=${quoteBytes(value)}`;
    })
    .join(" ");
}

export const serviceParameters: Field<string> = {
  rest: true,
  fallback: "",
  accept(input, { field, report }) {
    if (typeof input !== "string") {
      report(problem.notAString(field));
      return undefined;
    }
    try {
      return composeParameters(parseParameters(input));
    } catch (error) {
      report(problem.serviceParameter((error as Error).message));
      return undefined;
    }
  },
  compose: (value) => value,
  parse: (tokens) => tokens.map(({ text, quoted }) => (quoted ? `"${text}"` : text)).join(" "),
  write(writer, value) {
    for (const [key, bytes] of parseParameters(value)) {
      writer.uint16(key);
      writer.uint16(bytes.length);
      writer.bytes(bytes);
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
    return composeParameters(parameters);
  },
};
