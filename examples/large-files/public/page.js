// @ts-check
/** The page: uploads in progress, unfinished uploads of earlier visits, and the files. */
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
  const details = make("span", { class: "details" });
  const actions = make("span", { class: "actions" });
  const row = make("li", {}, make("span", { class: "name" }, file.name), actions, bar, details);
  element("uploads").append(row);

  const removeRow = () => {
    open.delete(id);
    row.remove();
    showUnfinished();
  };
  const abort = async () => {
    await upload.abort().catch(() => {});
    announce(`The upload of ${file.name} was aborted.`);
    removeRow();
  };
  const pace = makePace();
  let shownState = "";

  const show = () => {
    const { state, sent, total, error } = upload;
    bar.value = state === "done" ? bar.max : sent;
    details.className = state === "failed" ? "details failed" : "details";
    const share = total === 0 ? 100 : Math.floor((sent / total) * 100);
    const amount = `${sizeText(sent)} of ${sizeText(total)} · ${share} %`;
    details.textContent = {
      ready: "",
      uploading: `${amount}${pace(sent, total)}`,
      paused: `${amount} · paused`,
      failed: `${amount} · ${error?.message ?? "failed"}`,
      aborted: "Aborting",
      done: "Done",
    }[state];
    if (state === shownState) return;
    shownState = state;
    // The buttons change only with the state, so that progress does not replace a pressed button.
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
    if (state === "failed" || state === "paused") announce(`${file.name}: ${details.textContent}`);
    if (state === "done") {
      announce(`${file.name} is uploaded.`);
      removeRow();
      void showFiles();
    }
  };
  const upload = new Upload(file, { storage: localStorage, sendPart, onChange: show });
  showUnfinished();
  void upload.start();
}

/** Speed over the last five seconds, and the remaining time. */
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

/** Shows uploads of earlier visits. A page cannot reopen a file: the user has to choose it. */
function showUnfinished() {
  const keys = Object.keys(localStorage).filter(
    (key) => key.startsWith(storagePrefix) && !open.has(key),
  );
  element("unfinished").replaceChildren(
    ...keys.map((key) => {
      const [size, , ...name] = key.slice(storagePrefix.length).split(":");
      const abort = button("Abort", async () => {
        const id = localStorage.getItem(key);
        localStorage.removeItem(key);
        showUnfinished();
        await fetch(`/uploads/${id}`, { method: "DELETE" });
      });
      return make(
        "li",
        {},
        make("span", { class: "name" }, name.join(":")),
        make("span", { class: "actions" }, abort),
        make("span", { class: "details" }, sizeText(Number(size))),
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
    if (!confirm(`Delete ${key}? You cannot undo this.`)) return;
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
    make(
      "span",
      { class: "details" },
      `${sizeText(size)} · ${new Date(uploaded).toLocaleString()}`,
    ),
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
