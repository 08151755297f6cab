// @ts-check
/** The page's client for the HTTP interface of the script. */

/**
 * @typedef {{ key: string, url: string, size: number, contentType: string, etag: string, uploaded: string }} Photo
 * @typedef {{ prefix: string, folders: string[], photos: Photo[], cursor?: string }} Folder
 */

/**
 * @param {string} prefix
 * @param {string} [cursor]
 * @returns {Promise<Folder>}
 */
export async function listFolder(prefix, cursor) {
  const query = new URLSearchParams({ prefix, ...(cursor && { cursor }) });
  const response = await fetch(`/photos?${query}`);
  if (!response.ok) throw new Error((await response.json()).error);
  return response.json();
}

/**
 * Stores a photo. With `replace` false, an existing photo stays, and the result is "taken".
 *
 * This uses XMLHttpRequest, because `fetch` does not report the progress of a body.
 *
 * @param {string} key
 * @param {File} file
 * @param {{ replace: boolean, onProgress: (sent: number) => void }} options
 * @returns {Promise<"stored" | "taken">}
 */
export function putPhoto(key, file, { replace, onProgress }) {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    request.open("PUT", photoPath(key));
    if (file.type) request.setRequestHeader("content-type", file.type);
    if (!replace) request.setRequestHeader("if-none-match", "*");
    request.upload.addEventListener("progress", ({ loaded }) => onProgress(loaded));
    request.addEventListener("load", () => {
      if (request.status < 300) resolve("stored");
      else if (request.status === 412) resolve("taken");
      else reject(new Error(errorOf(request)));
    });
    request.addEventListener("error", () => reject(new Error("The connection was lost.")));
    request.send(file);
  });
}

/** @param {XMLHttpRequest} request */
function errorOf({ status, responseText }) {
  try {
    return JSON.parse(responseText).error;
  } catch {
    return `The server answered ${status}.`;
  }
}

/**
 * Deletes the photo, unless another photo has replaced it.
 *
 * @param {Photo} photo
 */
export async function deletePhoto({ url, etag }) {
  const response = await fetch(url, { method: "DELETE", headers: { "if-match": `"${etag}"` } });
  if (!response.ok && response.status !== 404) throw new Error((await response.json()).error);
}

/** @param {string} key */
function photoPath(key) {
  return `/photos/${key.split("/").map(encodeURIComponent).join("/")}`;
}
