// @ts-check
/**
 * Sends a part with XMLHttpRequest, which reports the progress of a body; `fetch` does not.
 *
 * @type {import("./upload.js").SendPart}
 */
export function sendPart(url, part, { signal, onProgress }) {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    const stop = () => request.abort();
    signal.addEventListener("abort", stop);
    request.open("PUT", url);
    request.upload.addEventListener("progress", ({ loaded }) => onProgress(loaded));
    request.addEventListener("load", () =>
      resolve({
        ok: request.status >= 200 && request.status < 300,
        status: request.status,
        json: async () => JSON.parse(request.responseText),
      }),
    );
    request.addEventListener("error", () => reject(new Error("The connection was lost.")));
    request.addEventListener("abort", () => reject(signal.reason));
    request.addEventListener("loadend", () => signal.removeEventListener("abort", stop));
    request.send(part);
  });
}
