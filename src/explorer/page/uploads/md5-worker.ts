/** Computes MD5 outside of the page's thread: a part of 16 MiB takes half a second. */
import { md5 } from "../../../store/core/hash.ts";

addEventListener("message", ({ data }: MessageEvent<Blob>) => {
  void answer(data);
});

async function answer(content: Blob): Promise<void> {
  try {
    postMessage({ md5: md5(new Uint8Array(await content.arrayBuffer())) });
  } catch (error) {
    postMessage({ problem: (error as Error).message });
  }
}
