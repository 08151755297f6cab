/**
 * The calls of uploads in a browser. Content is sent by XMLHttpRequest, because `fetch()` does not
 * tell how many bytes have been sent.
 */
import type {
  ObjectPage,
  UploadDetails,
  UploadedPart,
  NewUpload,
  UploadCompletion,
} from "../../api/buckets.ts";
import type { ProjectInfo } from "../../api/project.ts";
import { ApiCallError, apiUrl, bucketPath, callApi, readFailure } from "../api-client.ts";
import type { Sending, UploadTarget, UploadTransport } from "./upload-transport.ts";

export const pageTransport: UploadTransport = {
  project: async () => {
    const { name, stateFolder } = await callApi<ProjectInfo>("/api/project");
    return `${name} ${stateFolder}`;
  },

  // By a list, because browsers report a response of 404 as an error of the page.
  findObject: async ({ bucket, key }) => {
    const { objects } = await callApi<ObjectPage>(bucketPath(bucket, "/objects"), {
      query: { prefix: key, limit: 1 },
    });
    return objects.find((object) => object.key === key) ?? null;
  },

  putObject: async ({ bucket, key, overwrite, contentType }, sending) => {
    const query = { key, overwrite: String(overwrite) };
    await sendContent(apiUrl(bucketPath(bucket, "/content"), query), sending, contentType);
  },

  createUpload: async ({ bucket, key, contentType }) => {
    const path = bucketPath(bucket, "/uploads");
    const json: NewUpload = { key, ...(contentType !== undefined && { contentType }) };
    const { uploadId } = await callApi<{ uploadId: string }>(path, { method: "POST", json });
    return uploadId;
  },

  listParts: async (target) => {
    const { parts } = await callApi<UploadDetails>(uploadPath(target), {
      query: { key: target.key },
    });
    return parts;
  },

  putPart: async ({ partNumber, ...target }, sending) => {
    const path = `${uploadPath(target)}/parts/${partNumber}`;
    const text = await sendContent(apiUrl(path, { key: target.key }), sending);
    return JSON.parse(text) as UploadedPart;
  },

  completeUpload: async ({ overwrite, ...target }, parts) => {
    const query = { key: target.key, overwrite: String(overwrite) };
    const path = `${uploadPath(target)}/complete`;
    const json: UploadCompletion = { parts };
    await callApi(path, { method: "POST", query, json });
  },

  abortUpload: async (target) => {
    await callApi(uploadPath(target), { method: "DELETE", query: { key: target.key } });
  },
};

export function uploadPath({ bucket, uploadId }: Omit<UploadTarget, "key">): string {
  return bucketPath(bucket, `/uploads/${encodeURIComponent(uploadId)}`);
}

/** @returns the text of the response */
function sendContent(
  url: string,
  { body, onProgress, signal }: Sending,
  contentType?: string,
): Promise<string> {
  return new Promise((resolve, reject) => {
    signal.throwIfAborted();
    const request = new XMLHttpRequest();
    const abort = (): void => request.abort();
    request.open("PUT", url);
    if (contentType !== undefined) request.setRequestHeader("content-type", contentType);
    request.upload.addEventListener("progress", ({ loaded }) => onProgress(loaded));
    request.addEventListener("load", () => {
      const { status, responseText } = request;
      if (status >= 200 && status < 300) resolve(responseText);
      else reject(readFailure(status, responseText));
    });
    request.addEventListener("error", () => {
      reject(new ApiCallError(0, "The explorer did not answer."));
    });
    request.addEventListener("abort", () => reject(signal.reason as Error));
    request.addEventListener("loadend", () => signal.removeEventListener("abort", abort));
    signal.addEventListener("abort", abort, { once: true });
    request.send(body);
  });
}
