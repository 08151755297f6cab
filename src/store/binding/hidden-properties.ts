/**
 * Properties of a binding beside its interface: non-enumerable, with names that no script uses.
 *
 * `ledge:bucket` executes the calls of a bucket in Node, which arrive through Miniflare's proxy.
 * `ledge:name`, `ledge:observe` and `ledge:remote` serve tests in the script's isolate.
 */
import type {
  BucketCalls,
  GetRequest,
  PartRequest,
  PieceRequest,
  ProxiedCall,
  PutRequest,
} from "../client/bucket-calls.ts";
import { observation, type CallObserver } from "../client/call-observer.ts";
import { OpenContents } from "../client/open-contents.ts";
import { encodeHeld } from "../client/opened-object.ts";
import type { Operation } from "../core/operations.ts";

export function defineHiddenProperties<Binding extends object>(
  binding: Binding,
  bucket: BucketCalls,
  bucketName: string,
  { isRemote = false } = {},
): Binding {
  const contents = new OpenContents();
  const properties = {
    "ledge:bucket": (name: ProxiedCall, request: unknown) =>
      execute(bucket, contents, name, request),
    "ledge:name": bucketName,
    "ledge:remote": isRemote,
    "ledge:observe": (observer: CallObserver | undefined) => {
      observation.current = observer;
    },
  };
  for (const [name, value] of Object.entries(properties)) {
    // Configurable, because a proxy may not report a non-configurable property that its own target
    // does not have: inspecting the bucket in Node would throw.
    Object.defineProperty(binding, name, { value, configurable: true });
  }
  return binding;
}

async function execute(
  bucket: BucketCalls,
  contents: OpenContents,
  name: ProxiedCall,
  request: unknown,
): Promise<unknown> {
  switch (name) {
    case "get":
      return bucket.get(request as GetRequest, (opened) =>
        encodeHeld(opened, (content) => contents.add(content)),
      );
    case "read": {
      const { id, length } = request as PieceRequest;
      return contents.read(id, length);
    }
    case "close":
      return contents.close(request as number[]);
    case "call":
      return bucket.call(request as Operation, (result) => result);
    case "put":
      return bucket.put(request as PutRequest);
    case "uploadPart":
      return bucket.uploadPart(request as PartRequest);
  }
}
