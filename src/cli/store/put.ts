/** `ledge store put` */
import { createWriteStream } from "node:fs";
import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import { formatBytes } from "../../base/format.ts";
import { ByteProgress } from "../../base/progress.ts";
import { httpMetadataFromHeaders, type HttpMetadata } from "../../store/core/http-metadata.ts";
import type { Bucket } from "../../store/node/bucket.ts";
import { putFile } from "../../store/node/bucket-objects.ts";
import { FileContent } from "../../store/node/file-content.ts";
import { withTemporaryPath } from "../cleanup.ts";
import { UsageError, type Invocation, type LeafCommand } from "../command.ts";
import { pairsOption, projectOptions, textOption } from "../options.ts";
import { print } from "../output.ts";
import { parseAddress } from "./object-address.ts";
import { guessMetadata } from "./object-file.ts";
import { toObjectJson } from "./object-json.ts";
import { withStore } from "./open-store.ts";
import { objectArgument, readStorageClass, storageClassOption } from "./parameters.ts";

export const put: LeafCommand = {
  name: "put",
  summary: "Puts a file into a bucket",
  arguments: [objectArgument, { name: "FILE", summary: 'The file; "-" is standard input' }],
  options: {
    "content-type": {
      summary: "The type of the content",
      value: "TYPE",
      default: "from the ending of the key or the file",
    },
    "content-language": { summary: "The language of the content", value: "TEXT" },
    "content-disposition": { summary: "How a browser presents the content", value: "TEXT" },
    "content-encoding": { summary: "The compression of the content", value: "TEXT" },
    "cache-control": { summary: "The rules for caches", value: "TEXT" },
    expires: { summary: "When cached copies expire", value: "DATE" },
    metadata: { summary: "Custom metadata", value: "NAME=VALUE", repeated: true },
    "storage-class": storageClassOption,
    ...projectOptions,
  },
  examples: [
    "ledge store put photos/cat.png ./cat.png --metadata owner=me",
    "date | ledge store put photos/now.txt -",
  ],

  async run(invocation) {
    const [word, file] = invocation.arguments as [string, string];
    const address = parseAddress(word);
    const { key } = address;
    // The name of the file decides where the key has no known ending.
    const guesses = [key, ...(file === "-" ? [] : [file])].map(guessMetadata);
    const guess = guesses.find(({ contentType }) => contentType !== undefined);
    const http = { ...guess, ...httpOptions(invocation) };
    const custom = pairsOption(invocation, "metadata", "=") ?? {};
    const storageClass = readStorageClass(invocation);
    await withStore(invocation, async (store) => {
      const bucket = store.bucket(address.bucket);
      const description = {
        key,
        http,
        custom,
        storageClass: storageClass ?? bucket.known.storageClass,
      };
      const record = await withInputFile(file, (path) => putShown(bucket, description, path));
      print(
        invocation,
        toObjectJson({ http, custom, ...record }),
        `${bucket.name}/${key}: ${formatBytes(record.size)}, etag ${record.etag}`,
      );
    });
  },
};

/** The options for HTTP metadata have the names of the headers. */
function httpOptions(invocation: Invocation): HttpMetadata {
  const expires = textOption(invocation, "expires");
  if (expires !== undefined && Number.isNaN(Date.parse(expires))) {
    throw new UsageError(
      `--expires must be a date such as 2030-01-31T12:00:00Z, not "${expires}".`,
    );
  }
  return httpMetadataFromHeaders({ get: (name) => textOption(invocation, name) ?? null });
}

/**
 * Runs `work` with the path of a file. Standard input, `-`, goes to a temporary file first: a
 * transfer may have to start again.
 */
async function withInputFile<Result>(
  file: string,
  work: (path: string) => Promise<Result>,
): Promise<Result> {
  if (file !== "-") return work(file);
  const folder = await mkdtemp(join(tmpdir(), "ledge-put-"));
  return withTemporaryPath(folder, async () => {
    const path = join(folder, "content");
    await pipeline(process.stdin, createWriteStream(path));
    return work(path);
  });
}

/** Puts a file, and shows the progress. */
async function putShown(
  bucket: Bucket,
  object: Parameters<typeof putFile>[1],
  path: string,
): ReturnType<typeof putFile> {
  const content = FileContent.of(path);
  const progress = new ByteProgress(object.key, content.size);
  try {
    return await putFile(bucket, object, content, {
      onBytes: (count) => progress.moveTo(count),
    });
  } finally {
    progress.end();
  }
}
