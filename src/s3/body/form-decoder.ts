/**
 * Decodes the form of a browser, `multipart/form-data` (RFC 7578): fields, and then a file.
 *
 *     --BOUNDARY CRLF
 *     Content-Disposition: form-data; name="key" CRLF  CRLF  VALUE CRLF
 *     --BOUNDARY CRLF
 *     Content-Disposition: form-data; name="file"; filename="cat.png" CRLF  CRLF  CONTENT CRLF
 *     --BOUNDARY--
 *
 * S3 ignores what follows the file, so the file ends the form. Fields are kept in memory and are
 * limited; content is passed on as it arrives.
 */
import { S3Error } from "../s3-error.ts";

/** AWS's limit of what precedes the content of the file. */
const fieldBytesMax = 20 * 1024;
/** RFC 2046 section 5.1.1. */
const boundaryCharactersMax = 70;

export type FormPiece =
  | { readonly kind: "field"; readonly name: string; readonly value: string }
  | { readonly kind: "file"; readonly fileName: string }
  | { readonly kind: "content"; readonly bytes: Uint8Array }
  | { readonly kind: "end" };

type State = "preamble" | "after boundary" | "headers" | "value" | "content" | "ended";

const lineEnd = Buffer.from("\r\n");
const headersEnd = Buffer.from("\r\n\r\n");

export class FormDecoder {
  readonly #delimiter: Buffer;
  #state: State = "preamble";
  #fieldName = "";
  #fieldBytes = 0;
  /** Bytes that have arrived and are not decoded. The first boundary has no line before it. */
  #rest: Buffer = lineEnd;

  /** @param contentType of the request */
  constructor(contentType: string) {
    const [, quoted, bare] = /;\s*boundary=(?:"([^"]+)"|([^\s;"]+))/i.exec(contentType) ?? [];
    const boundary = quoted ?? bare ?? "";
    if (boundary === "" || boundary.length > boundaryCharactersMax) throw malformed();
    this.#delimiter = Buffer.from(`\r\n--${boundary}`, "latin1");
  }

  /**
   * @returns what the bytes complete. The memory of `bytes` is not used after the call
   * @throws S3Error for bytes that are not in the format, and for fields that are too long
   */
  push(bytes: Uint8Array): FormPiece[] {
    if (this.#state === "ended") return [];
    this.#rest = Buffer.concat([this.#rest, bytes]);
    const pieces: FormPiece[] = [];
    while (this.#step(pieces));
    return pieces;
  }

  /** Whether the form has a file, whole. */
  get hasEnded(): boolean {
    return this.#state === "ended";
  }

  /** @returns whether another step may be possible */
  #step(pieces: FormPiece[]): boolean {
    switch (this.#state) {
      case "preamble":
        return this.#takeUntil(this.#delimiter, () => (this.#state = "after boundary"));
      case "after boundary":
        return this.#takeBoundaryEnd();
      case "headers":
        return this.#takeUntil(headersEnd, (text) => this.#takeHeaders(text.toString(), pieces));
      case "value":
        return this.#takeUntil(this.#delimiter, (value) => {
          pieces.push({ kind: "field", name: this.#fieldName, value: value.toString() });
          this.#state = "after boundary";
        });
      case "content":
        return this.#takeContent(pieces);
      case "ended":
        return false;
    }
  }

  /** Takes the bytes before `end`, and `end`. */
  #takeUntil(end: Buffer, take: (bytes: Buffer) => void): boolean {
    const at = this.#rest.indexOf(end);
    const waiting = at === -1 ? this.#rest.length : at;
    if (this.#fieldBytes + waiting > fieldBytesMax) {
      throw new S3Error("MaxPostPreDataLengthExceededError");
    }
    if (at === -1) return false;
    this.#fieldBytes += at + end.length;
    const bytes = this.#rest.subarray(0, at);
    this.#rest = this.#rest.subarray(at + end.length);
    take(bytes);
    return true;
  }

  #takeBoundaryEnd(): boolean {
    if (this.#rest.length < lineEnd.length) return false;
    const isLast = this.#rest.subarray(0, 2).toString("latin1") === "--";
    if (isLast) throw new S3Error("IncorrectNumberOfFilesInPostRequest");
    return this.#takeUntil(lineEnd, (padding) => {
      if (padding.toString("latin1").trim() !== "") throw malformed();
      // The end of this line may be the end of empty headers.
      this.#rest = Buffer.concat([lineEnd, this.#rest]);
      this.#state = "headers";
    });
  }

  #takeHeaders(text: string, pieces: FormPiece[]): void {
    const [, disposition] = /^content-disposition:\s*form-data\s*(;.*)$/im.exec(text) ?? [];
    const name = disposition === undefined ? null : parameterOf(disposition, "name");
    if (disposition === undefined || name === null) throw malformed();
    if (name.toLowerCase() === "file") {
      pieces.push({ kind: "file", fileName: parameterOf(disposition, "filename") ?? "" });
      this.#state = "content";
    } else {
      this.#fieldName = name;
      this.#state = "value";
    }
  }

  #takeContent(pieces: FormPiece[]): boolean {
    const at = this.#rest.indexOf(this.#delimiter);
    // The last bytes may be the beginning of the boundary.
    const length = at === -1 ? this.#rest.length - this.#delimiter.length + 1 : at;
    if (length > 0) pieces.push({ kind: "content", bytes: this.#rest.subarray(0, length) });
    if (at === -1) {
      if (length > 0) this.#rest = Buffer.from(this.#rest.subarray(length));
      return false;
    }
    pieces.push({ kind: "end" });
    this.#state = "ended";
    this.#rest = lineEnd;
    return false;
  }
}

/** Browsers write `"` and line ends of names in percent-encoding, and leave backslashes. */
function parameterOf(disposition: string, name: string): string | null {
  const pattern = new RegExp(`;\\s*${name}=(?:"([^"]*)"|([^\\s;"]*))`, "i");
  const [, quoted, bare] = pattern.exec(disposition) ?? [];
  const text = quoted ?? bare ?? null;
  return text?.replace(/%(22|0D|0A)/gi, decodeURIComponent) ?? null;
}

function malformed(): S3Error {
  return new S3Error("MalformedPOSTRequest");
}
