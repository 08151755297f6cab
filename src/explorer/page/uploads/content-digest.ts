/** The MD5 of a file or of a part of a file. */
import { UnreadableFileError } from "./call-attempts.ts";

/** @throws UnreadableFileError */
export async function contentDigest(content: Blob): Promise<string> {
  const worker = new Worker(new URL("./md5-worker.ts", import.meta.url), { type: "module" });
  try {
    return await new Promise<string>((resolve, reject) => {
      worker.addEventListener("message", ({ data }: MessageEvent<Answer>) => {
        if ("md5" in data) resolve(data.md5);
        else reject(new UnreadableFileError(`The browser cannot read the file: ${data.problem}`));
      });
      worker.addEventListener("error", ({ message }) => {
        reject(new Error(`The file cannot be compared with the uploaded parts: ${message}`));
      });
      worker.postMessage(content, []);
    });
  } finally {
    worker.terminate();
  }
}

type Answer = { readonly md5: string } | { readonly problem: string };
