/** For tests: a store in memory behind the transport's interface, with failures on demand. */
import { multipartEtag } from "../../../store/core/multipart.ts";
import { ApiCallError } from "../api-client.ts";
import type { UploadRecord, UploadRecords } from "./upload-record.ts";
import type { ObjectTarget, Sending, UploadTarget, UploadTransport } from "./upload-transport.ts";

type Digest = (content: Blob) => Promise<string>;
type Call = keyof UploadTransport;

export class FakeTransport implements UploadTransport {
  readonly objects = new Map<string, { content: Blob; etag: string; contentType?: string }>();
  readonly uploads = new Map<string, Map<number, { content: Blob; etag: string }>>();
  /** The names of the calls, with the number of the part. */
  readonly calls: string[] = [];
  sending = 0;
  mostSending = 0;
  projectName = "photos";
  /** Runs before each call has an effect: it may throw, or wait. */
  before: (call: Call, partNumber?: number) => void | Promise<void> = () => {};
  /** Runs after each call had its effect: an error is a response that is lost. */
  after: (call: Call) => void = () => {};
  readonly #digest: Digest;

  constructor(digest: Digest) {
    this.#digest = digest;
  }

  project(): Promise<string> {
    return this.#call("project", undefined, () => this.projectName);
  }

  findObject({ key }: ObjectTarget): Promise<{ size: number; etag: string } | null> {
    return this.#call("findObject", undefined, () => {
      const found = this.objects.get(key);
      return found === undefined ? null : { size: found.content.size, etag: found.etag };
    });
  }

  putObject(
    { key, overwrite, contentType }: Parameters<UploadTransport["putObject"]>[0],
    sending: Sending,
  ): Promise<void> {
    return this.#send("putObject", undefined, sending, async () => {
      if (!overwrite && this.objects.has(key)) throw new ApiCallError(412, "exists", 10031);
      const content = sending.body;
      const etag = await this.#digest(content);
      this.objects.set(key, { content, etag, ...(contentType !== undefined && { contentType }) });
    });
  }

  createUpload(): Promise<string> {
    return this.#call("createUpload", undefined, () => {
      const uploadId = `upload-${this.calls.length}`;
      this.uploads.set(uploadId, new Map());
      return uploadId;
    });
  }

  listParts({ uploadId }: UploadTarget) {
    return this.#call("listParts", undefined, () =>
      Array.from(this.#parts(uploadId), ([partNumber, { etag, content }]) => ({
        partNumber,
        etag,
        size: content.size,
      })),
    );
  }

  putPart(
    { uploadId, partNumber }: Parameters<UploadTransport["putPart"]>[0],
    sending: Sending,
  ): Promise<{ etag: string }> {
    return this.#send("putPart", partNumber, sending, async () => {
      const etag = await this.#digest(sending.body);
      this.#parts(uploadId).set(partNumber, { content: sending.body, etag });
      return { etag };
    });
  }

  completeUpload(
    { key, uploadId, overwrite }: Parameters<UploadTransport["completeUpload"]>[0],
    named: Parameters<UploadTransport["completeUpload"]>[1],
  ): Promise<void> {
    return this.#call("completeUpload", undefined, () => {
      const parts = this.#parts(uploadId);
      if (!overwrite && this.objects.has(key)) throw new ApiCallError(412, "exists", 10031);
      const content = new Blob(named.map(({ partNumber }) => parts.get(partNumber)?.content ?? ""));
      this.objects.set(key, { content, etag: multipartEtag(named) });
      this.uploads.delete(uploadId);
    });
  }

  abortUpload({ uploadId }: UploadTarget): Promise<void> {
    return this.#call("abortUpload", undefined, () => {
      this.#parts(uploadId);
      this.uploads.delete(uploadId);
    });
  }

  #parts(uploadId: string): Map<number, { content: Blob; etag: string }> {
    const parts = this.uploads.get(uploadId);
    if (parts === undefined) throw new ApiCallError(404, "no such upload", 10024);
    return parts;
  }

  async #send<Result>(
    call: Call,
    partNumber: number | undefined,
    { body, signal, onProgress }: Sending,
    effect: () => Promise<Result>,
  ): Promise<Result> {
    this.mostSending = Math.max(this.mostSending, ++this.sending);
    try {
      return await this.#call(call, partNumber, async () => {
        signal.throwIfAborted();
        onProgress(body.size);
        return await effect();
      });
    } finally {
      this.sending--;
    }
  }

  async #call<Result>(
    call: Call,
    partNumber: number | undefined,
    effect: () => Result | Promise<Result>,
  ): Promise<Result> {
    this.calls.push(partNumber === undefined ? call : `${call} ${partNumber}`);
    await this.before(call, partNumber);
    const result = await effect();
    this.after(call);
    return result;
  }
}

export class FakeRecords implements UploadRecords {
  readonly #records = new Map<string, UploadRecord>();

  all(): UploadRecord[] {
    return [...this.#records.values()];
  }

  save(record: UploadRecord): void {
    this.#records.set(record.uploadId, record);
  }

  remove(uploadId: string): void {
    this.#records.delete(uploadId);
  }

  async claim(uploadId: string): Promise<boolean> {
    await Promise.resolve();
    return this.#records.has(uploadId);
  }
}
