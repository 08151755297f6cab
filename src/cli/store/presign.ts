/** `ledge store presign` */
import { readConfig } from "../../config/read-config.ts";
import { presign as sign } from "../../http/signature.ts";
import { defaultPort, findServer, readOrMakeCredentials } from "../../s3/state-files.ts";
import { pluginFolder, stateFolder } from "../../state/folder.ts";
import {
  configSelection,
  projectOptions,
  UsageError,
  type Invocation,
  type LeafCommand,
} from "../command.ts";
import { print, printRemark } from "../output.ts";
import { findBucket, findProject, objectArgument, parseAddress } from "./open-store.ts";

const expiresSecondsDefault = 3600;

export const presign: LeafCommand = {
  name: "presign",
  summary: "Prints a URL with which anyone can read or write an object",
  details:
    "The URL belongs to the S3-compatible API, which ledge dev and ledge s3 serve. It is valid while\n" +
    "the credentials stay the same, and until it expires.",
  arguments: [objectArgument],
  options: {
    ...projectOptions,
    "--method METHOD": "What the URL is for: GET, HEAD, PUT or DELETE (default: GET)",
    "--expires TIME": "How long the URL is valid: 90s, 15m, 12h or 7d (default: 1h)",
    "--endpoint URL":
      "The address of the server (default: the running server's, or http://localhost:8789)",
  },
  choices: { method: ["GET", "HEAD", "PUT", "DELETE"] },
  examples: [
    "ledge store presign photos/cat.png",
    "ledge store presign photos/upload.png --method PUT --expires 15m",
  ],

  async run(invocation, word) {
    const { bucket, key } = parseAddress(word);
    const expiresSeconds = invocation.seconds("expires", "7d") ?? expiresSecondsDefault;
    const method = invocation.text<Parameters<typeof sign>[0]["method"]>("method") ?? "GET";
    const { bucketName } = findBucket(findProject(invocation).buckets, bucket);
    const now = Date.now();
    const { isRunning, ...server } = findSigner(invocation);
    const url = await sign({ ...server, method, bucketName, key, expiresSeconds, now });
    const expires = new Date(now + expiresSeconds * 1000).toISOString();
    print(invocation, { url, method, expires, isRunning }, url);
    if (!isRunning) {
      printRemark(
        `No server answers this URL yet: start "ledge dev" or "ledge s3", which listens on ` +
          `${server.endpoint} unless the port is taken.`,
      );
    }
  },
};

function findSigner(invocation: Invocation) {
  const { folder, s3 } = readConfig({ ...configSelection(invocation), keysOptional: true });
  const records = pluginFolder(stateFolder(folder, invocation.text("persist-to")), "s3");
  // A server that the user names may be on another machine.
  const running = invocation.text("endpoint") ?? findServer(records);
  const endpoint = running ?? `http://localhost:${s3.port ?? defaultPort}`;
  if (!URL.canParse(endpoint)) {
    throw new UsageError(
      `--endpoint must be a URL such as http://localhost:8789, not "${endpoint}".`,
    );
  }
  return {
    endpoint,
    isRunning: running !== null,
    credentials: s3.credentials ?? readOrMakeCredentials(records),
  };
}
