/** Reads a form: its fields at once, and its file as the caller iterates. */
import { S3Error } from "../s3-error.ts";
import type { S3Form } from "../s3-request.ts";
import { FormDecoder, type FormPiece } from "./form-decoder.ts";

/**
 * Resolves when the content of the file begins.
 *
 * @param source ends only after the length of the body has been verified
 * @throws S3Error for a body that is no form with a file
 */
export async function readForm(
  source: AsyncIterable<Uint8Array>,
  contentType: string,
): Promise<S3Form> {
  const decoder = new FormDecoder(contentType);
  const iterator = source[Symbol.asyncIterator]();
  const close = async (): Promise<void> => void (await iterator.return?.());
  const fields = new Map<string, string>();
  try {
    for (;;) {
      const { done, value } = await iterator.next();
      if (done === true) throw new S3Error("MalformedPOSTRequest");
      const pieces = decoder.push(value);
      const file = pieces.findIndex(({ kind }) => kind === "file");
      addFields(fields, file === -1 ? pieces : pieces.slice(0, file));
      if (file === -1) continue;
      const { fileName } = pieces[file] as Extract<FormPiece, { kind: "file" }>;
      const first = pieces.slice(file + 1);
      return { fields, fileName, content: () => contentOf(first, iterator, decoder), close };
    }
  } catch (error) {
    await close();
    throw error;
  }
}

/** Names are compared without regard to case. The first of equal names counts. */
function addFields(fields: Map<string, string>, pieces: readonly FormPiece[]): void {
  for (const piece of pieces) {
    if (piece.kind !== "field") continue;
    const name = piece.name.toLowerCase();
    if (!fields.has(name)) fields.set(name, piece.value);
  }
}

/** Reads the whole body, also what follows the file: then the length of the body is known. */
async function* contentOf(
  first: readonly FormPiece[],
  iterator: AsyncIterator<Uint8Array>,
  decoder: FormDecoder,
): AsyncGenerator<Uint8Array> {
  yield* bytesOf(first);
  for (;;) {
    const { done, value } = await iterator.next();
    if (done === true) break;
    yield* bytesOf(decoder.push(value));
  }
  if (!decoder.hasEnded) throw new S3Error("MalformedPOSTRequest");
}

function* bytesOf(pieces: readonly FormPiece[]): Generator<Uint8Array> {
  for (const piece of pieces) if (piece.kind === "content") yield piece.bytes;
}
