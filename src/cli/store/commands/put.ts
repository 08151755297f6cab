import { createWriteStream } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import { UsageError, type Invocation } from "../../command.ts";
import type { HttpMetadata } from "../../../store/core/http-metadata.ts";
import type { StorageClass } from "../../../store/core/operations.ts";
import { parseAddress } from "../object-address.ts";
import { guessedMetadata } from "../content-type.ts";
import { formatBytes } from "../../../base/format.ts";
import { FileContent } from "../../../store/node/file-content.ts";
import { toObjectJson } from "../object-json.ts";
import { print, textOption, withStore } from "../with-store.ts";

export function putObject(invocation: Invocation): Promise<void> {
  const [address, file] = invocation.arguments as [string, string];
  const { bucket, key } = parseAddress(address);
  const http = { ...guessed(key, file), ...httpOptions(invocation) };
  const custom = customOptions(invocation);
  const given = storageClassOption(invocation);
  return withStore(invocation, async (store) => {
    const remote = store.bucket(bucket);
    const storageClass = given ?? remote.known.storageClass;
    const record = await withContent(file, (content) =>
      remote.put({ key, http, custom, storageClass }, content),
    );
    print(
      invocation,
      toObjectJson({ http, custom, ...record }),
      `${remote.name}/${key}: ${formatBytes(record.size)}, etag ${record.etag}`,
    );
  });
}

/** The key says what the object is; the file does where the key does not. */
function guessed(key: string, file: string): HttpMetadata {
  const byKey = guessedMetadata(key);
  return byKey.contentType === undefined && file !== "-" ? guessedMetadata(file) : byKey;
}

/** Standard input is kept in a file first: a transfer may have to begin again. */
async function withContent<Result>(
  file: string,
  work: (content: FileContent) => Promise<Result>,
): Promise<Result> {
  if (file !== "-") return work(FileContent.of(file));
  const folder = await mkdtemp(join(tmpdir(), "ledge-put-"));
  try {
    const path = join(folder, "content");
    await pipeline(process.stdin, createWriteStream(path));
    return await work(FileContent.of(path));
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

const httpFields = {
  "content-type": "contentType",
  "content-language": "contentLanguage",
  "content-disposition": "contentDisposition",
  "content-encoding": "contentEncoding",
  "cache-control": "cacheControl",
} as const;

function httpOptions(invocation: Invocation): HttpMetadata {
  const fields = Object.entries(httpFields).flatMap(([option, field]) => {
    const value = textOption(invocation, option);
    return value === undefined ? [] : [[field, value] as const];
  });
  const expires = textOption(invocation, "expires");
  const cacheExpiry = expires === undefined ? undefined : Date.parse(expires);
  if (Number.isNaN(cacheExpiry)) {
    throw new UsageError(`--expires "${expires}" is not a date: write it as 2030-01-31T12:00:00Z.`);
  }
  return { ...Object.fromEntries(fields), ...(cacheExpiry !== undefined && { cacheExpiry }) };
}

function customOptions({ options }: Invocation): Record<string, string> {
  const pairs = (options["metadata"] ?? []) as readonly string[];
  return Object.fromEntries(
    pairs.map((pair) => {
      const equals = pair.indexOf("=");
      if (equals < 1) throw new UsageError(`--metadata "${pair}" is not NAME=VALUE.`);
      return [pair.slice(0, equals), pair.slice(equals + 1)];
    }),
  );
}

export function storageClassOption(invocation: Invocation): StorageClass | undefined {
  const value = textOption(invocation, "storage-class");
  if (value === undefined || value === "Standard" || value === "InfrequentAccess") return value;
  throw new UsageError(`--storage-class "${value}" is not Standard or InfrequentAccess.`);
}
