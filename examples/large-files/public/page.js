// @ts-check
/** The page: uploads under way, uploads that were left unfinished, and the files. */
import { button, element, make, sizeText } from "./elements.js";
import { sendPart } from "./send-part.js";
import { fingerprint, storagePrefix, Upload } from "./upload.js";

const announce = (/** @type {string} */ text) => (element("status").textContent = text);

/** Fingerprints of the uploads on the page @type {Set<string>} */
const open = new Set();

/** @param {File} file */
function add(file) {
  const id = fingerprint(file);
  if (open.has(id)) return;
  open.add(id);

  const bar = make("progress", {
    max: String(file.size || 1),
    value: "0",
    "aria-label": file.name,
  });
  const facts = make("span", { class: "facts" });
  const actions = make("span", { class: "actions" });
  const row = make("li", {}, make("span", { class: "name" }, file.name), actions, bar, facts);
  element("uploads").append(row);

  const leave = () => {
    open.delete(id);
    row.remove();
    showUnfinished();
  };
  const abort = async () => {
    await upload.abort().catch(() => {});
    announce(`${file.name} was aborted.`);
    leave();
  };
  const pace = makePace();
  let shown = "";

  const show = () => {
    const { state, sent, total, error } = upload;
    bar.value = state === "done" ? bar.max : sent;
    facts.className = state === "failed" ? "facts failed" : "facts";
    const share = total === 0 ? 100 : Math.floor((sent / total) * 100);
    const amount = `${sizeText(sent)} of ${sizeText(total)} · ${share} %`;
    facts.textContent = {
      ready: "",
      uploading: `${amount}${pace(sent, total)}`,
      paused: `${amount} · paused`,
      failed: `${amount} · ${error?.message ?? "failed"}`,
      aborted: "Aborting",
      done: "Done",
    }[state];
    if (state === shown) return;
    shown = state;
    // Which buttons there are changes with the state alone, so that none is lost under a pointer.
    const focused = actions.contains(document.activeElement);
    const stop = button("Abort", abort);
    if (state === "uploading")
      actions.replaceChildren(
        button("Pause", () => upload.pause()),
        stop,
      );
    if (state === "paused")
      actions.replaceChildren(
        button("Resume", () => upload.start()),
        stop,
      );
    if (state === "failed")
      actions.replaceChildren(
        button("Try again", () => upload.start()),
        stop,
      );
    if (state === "aborted") actions.replaceChildren();
    if (focused) actions.querySelector("button")?.focus();
    if (state === "failed" || state === "paused") announce(`${file.name}: ${facts.textContent}`);
    if (state === "done") {
      announce(`${file.name} is uploaded.`);
      leave();
      void showFiles();
    }
  };
  const upload = new Upload(file, { storage: localStorage, sendPart, onChange: show });
  showUnfinished();
  void upload.start();
}

/** How fast it goes, and how long it will take, over the last seconds. */
function makePace() {
  /** @type {{ time: number, sent: number }[]} */
  let points = [];
  return (/** @type {number} */ sent, /** @type {number} */ total) => {
    const time = performance.now();
    points = points.filter((point) => time - point.time < 5000).concat({ time, sent });
    const first = points[0];
    if (first === undefined || time - first.time < 500) return "";
    const perSecond = ((sent - first.sent) / (time - first.time)) * 1000;
    if (perSecond <= 0) return "";
    const seconds = Math.ceil((total - sent) / perSecond);
    const left = seconds < 90 ? `${seconds} s` : `${Math.ceil(seconds / 60)} min`;
    return ` · ${sizeText(perSecond)}/s · ${left} left`;
  };
}

/** Uploads of earlier visits. A page cannot open a file again by itself: it has to be chosen. */
function showUnfinished() {
  const keys = Object.keys(localStorage).filter(
    (key) => key.startsWith(storagePrefix) && !open.has(key),
  );
  element("unfinished").replaceChildren(
    ...keys.map((key) => {
      const [size, , ...name] = key.slice(storagePrefix.length).split(":");
      const forget = button("Abort", async () => {
        const id = localStorage.getItem(key);
        localStorage.removeItem(key);
        showUnfinished();
        await fetch(`/uploads/${id}`, { method: "DELETE" });
      });
      return make(
        "li",
        {},
        make("span", { class: "name" }, name.join(":")),
        make("span", { class: "actions" }, forget),
        make("span", { class: "facts" }, sizeText(Number(size))),
      );
    }),
  );
  element("unfinished-section").hidden = keys.length === 0;
}

/** @type {string | undefined} */
let nextPage;
element("more").addEventListener("click", () => void showFiles(nextPage));

/** @param {string} [cursor] */
async function showFiles(cursor) {
  const query = cursor === undefined ? "" : `?cursor=${encodeURIComponent(cursor)}`;
  const page = await (await fetch(`/files${query}`)).json();
  const rows = page.files.map(fileRow);
  if (cursor === undefined) element("files").replaceChildren(...rows);
  else element("files").append(...rows);
  element("none").hidden = element("files").children.length > 0;
  nextPage = page.cursor;
  element("more").hidden = nextPage === undefined;
}

/** @param {{ key: string, url: string, size: number, uploaded: string }} file */
function fileRow({ key, url, size, uploaded }) {
  const remove = button("Delete", async () => {
    if (!confirm(`Delete ${key}? It cannot be brought back.`)) return;
    await fetch(url, { method: "DELETE" });
    announce(`${key} was deleted.`);
    await showFiles();
  });
  remove.setAttribute("aria-label", `Delete ${key}`);
  return make(
    "li",
    {},
    make("a", { class: "name", href: url, download: "" }, key),
    make("span", { class: "actions" }, remove),
    make("span", { class: "facts" }, `${sizeText(size)} · ${new Date(uploaded).toLocaleString()}`),
  );
}

const picker = /** @type {HTMLInputElement} */ (element("picker"));
picker.addEventListener("change", () => {
  for (const file of picker.files ?? []) add(file);
  picker.value = "";
});

const drop = element("drop");
addEventListener("dragover", (event) => {
  event.preventDefault();
  drop.classList.add("over");
});
addEventListener("dragleave", ({ relatedTarget }) => {
  if (relatedTarget === null) drop.classList.remove("over");
});
addEventListener("drop", (event) => {
  event.preventDefault();
  drop.classList.remove("over");
  for (const file of event.dataTransfer?.files ?? []) add(file);
});

showUnfinished();
void showFiles();
