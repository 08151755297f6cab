// @ts-check
/** Uploads, three at a time. Each has a row with its progress. */
import { element, make } from "./elements.js";
import { putPhoto } from "./photos.js";

const concurrency = 3;

/** @type {(() => Promise<void>)[]} */
const waiting = [];
let running = 0;

/**
 * @param {Iterable<File>} files
 * @param {string} prefix
 * @param {(key: string) => void} onStored
 */
export function upload(files, prefix, onStored) {
  for (const file of files) {
    const key = prefix + file.name;
    const bar = make("progress", { max: String(file.size || 1), value: "0", "aria-label": key });
    const end = make("span");
    const row = make("li", {}, make("span", { class: "name" }, file.name), bar, end);
    element("uploads").append(row);
    enqueue(() => send({ key, file, row, bar, end, onStored }, false));
  }
}

/** @param {() => Promise<void>} work */
function enqueue(work) {
  waiting.push(work);
  if (running < concurrency) void drain();
}

async function drain() {
  running += 1;
  for (let work = waiting.shift(); work; work = waiting.shift()) await work();
  running -= 1;
}

/**
 * @param {{ key: string, file: File, row: HTMLElement, bar: HTMLProgressElement, end: HTMLElement, onStored: (key: string) => void }} job
 * @param {boolean} replace
 */
async function send(job, replace) {
  const { key, file, row, bar, end, onStored } = job;
  try {
    const onProgress = (/** @type {number} */ sent) => (bar.value = sent);
    const outcome = await putPhoto(key, file, { replace, onProgress });
    if (outcome === "stored") {
      row.remove();
      onStored(key);
      return;
    }
    const overwrite = make("button", { type: "button", class: "button" }, "Replace");
    overwrite.addEventListener("click", () => enqueue(() => send(job, true)), { once: true });
    const dismiss = make("button", { type: "button", class: "button" }, "Keep the old photo");
    dismiss.addEventListener("click", () => row.remove());
    end.replaceChildren("A photo with this name exists. ", overwrite, " ", dismiss);
  } catch (error) {
    end.className = "failed";
    end.setAttribute("role", "alert");
    const retry = make("button", { type: "button", class: "button" }, "Try again");
    retry.addEventListener("click", () => enqueue(() => send(job, replace)), { once: true });
    end.replaceChildren(error instanceof Error ? error.message : String(error), " ", retry);
  }
}
