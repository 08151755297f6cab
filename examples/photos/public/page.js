// @ts-check
/** The page shows one folder. Its address contains the folder (`#/trips/2026/`), so Back works. */
import { element, detailsOf, icon, make, nameOf } from "./elements.js";
import { deletePhoto, listFolder } from "./photos.js";
import { upload } from "./uploads.js";
import { view } from "./viewer.js";

/** @typedef {import("./photos.js").Photo} Photo */

const grid = element("grid");
const more = /** @type {HTMLButtonElement} */ (element("more"));

let prefix = "";
/** @type {Photo[]} */
let photos = [];
/** @type {string | undefined} */
let cursor;
/** Number of opened folders. A response for an earlier folder is discarded. */
let visit = 0;

const isPicture = (/** @type {Photo} */ { contentType }) => contentType.startsWith("image/");
const announce = (/** @type {string} */ text) => (element("status").textContent = text);

async function openFolder() {
  visit += 1;
  const thisVisit = visit;
  try {
    prefix = decodeURIComponent(location.hash.replace(/^#\/?/, ""));
    const folder = await listFolder(prefix);
    if (thisVisit !== visit) return;
    photos = [];
    grid.replaceChildren();
    showPath();
    append(folder);
    showEmpty(folder.folders.length + folder.photos.length === 0);
  } catch (error) {
    if (thisVisit === visit) showError(error);
  }
}

/** @param {import("./photos.js").Folder} folder */
function append(folder) {
  photos.push(...folder.photos);
  grid.append(...folder.folders.map(folderTile), ...folder.photos.map(photoTile));
  cursor = folder.cursor;
  more.hidden = cursor === undefined;
}

function showPath() {
  const names = prefix.split("/").slice(0, -1);
  const crumbs = [{ name: "All", target: "" }].concat(
    names.map((name, index) => ({ name, target: `${names.slice(0, index + 1).join("/")}/` })),
  );
  element("path").replaceChildren(
    ...crumbs.map(({ name, target }) => {
      const link = make("a", { href: folderAddress(target) }, name);
      if (target === prefix) link.setAttribute("aria-current", "page");
      return make("li", {}, link);
    }),
  );
  document.title = prefix === "" ? "Photos" : `${nameOf(prefix)} · Photos`;
}

/** @param {boolean} empty */
function showEmpty(empty) {
  element("empty").hidden = !empty;
  element("empty-title").textContent = prefix === "" ? "No photos yet" : "This folder is empty";
  const path = [...prefix.split("/").slice(0, -1), "cat.jpg"].map(encodeURIComponent).join("/");
  element("command").textContent = `curl -T cat.jpg ${location.origin}/photos/${path}`;
}

/** @param {string} target */
const folderAddress = (target) => `#/${target.split("/").map(encodeURIComponent).join("/")}`;

/** @param {string} folder */
function folderTile(folder) {
  const open = make(
    "a",
    { class: "open", href: folderAddress(folder) },
    make("span", { class: "picture" }, icon("folder")),
    make("span", { class: "name" }, nameOf(folder)),
    make("span", { class: "details" }, "Folder"),
  );
  return make("li", { class: "tile folder" }, open);
}

/** @param {Photo} photo */
function photoTile(photo) {
  const name = nameOf(photo.key);
  const picture = isPicture(photo)
    ? make("img", { src: `${photo.url}?v=${photo.etag}`, alt: "", loading: "lazy" })
    : icon("file");
  const open = make(
    "a",
    { class: "open", href: photo.url },
    make("span", { class: "picture" }, picture),
    make("span", { class: "name", title: photo.key }, name),
    make("span", { class: "details" }, detailsOf(photo)),
  );
  if (isPicture(photo)) {
    open.addEventListener("click", (event) => {
      // With a modifier key, the link opens a tab or starts a download.
      if (event.ctrlKey || event.metaKey || event.shiftKey) return;
      event.preventDefault();
      view(photos.filter(isPicture), photo);
    });
  }
  const remove = make(
    "button",
    { type: "button", class: "round delete", "aria-label": `Delete ${name}` },
    "×",
  );
  const tile = make("li", { class: "tile" }, open, remove);
  remove.addEventListener("click", () => void removePhoto(photo, tile));
  return tile;
}

/**
 * @param {Photo} photo
 * @param {HTMLElement} tile
 */
async function removePhoto(photo, tile) {
  if (!confirm(`Delete ${nameOf(photo.key)}? You cannot undo this.`)) return;
  try {
    await deletePhoto(photo);
    const neighbour = tile.nextElementSibling ?? tile.previousElementSibling;
    tile.remove();
    photos = photos.filter((other) => other !== photo);
    announce(`${nameOf(photo.key)} was deleted.`);
    showEmpty(grid.children.length === 0);
    const target = neighbour?.querySelector(".open");
    (target instanceof HTMLElement ? target : grid).focus();
  } catch (error) {
    showError(error);
  }
}

/** @param {unknown} error */
function showError(error) {
  const text = error instanceof Error ? error.message : String(error);
  const row = make("li", {}, make("span", { class: "failed", role: "alert" }, text));
  const dismiss = make("button", { type: "button", class: "button" }, "Dismiss");
  dismiss.addEventListener("click", () => row.remove());
  row.append(make("span"), dismiss);
  element("uploads").append(row);
}

/** @param {Iterable<File>} files */
function add(files) {
  const folder = prefix;
  upload(files, folder, (key) => {
    announce(`${nameOf(key)} was added.`);
    if (folder === prefix) void openFolder();
  });
}

const picker = /** @type {HTMLInputElement} */ (element("picker"));
picker.addEventListener("change", () => {
  add(Array.from(picker.files ?? []));
  picker.value = "";
});

more.addEventListener("click", async () => {
  const thisVisit = visit;
  more.disabled = true;
  try {
    const folder = await listFolder(prefix, cursor);
    if (thisVisit === visit) append(folder);
  } catch (error) {
    showError(error);
  } finally {
    more.disabled = false;
  }
});

element("copy").addEventListener("click", async () => {
  await navigator.clipboard.writeText(element("command").textContent ?? "");
  announce("The command was copied.");
  element("copy").textContent = "Copied";
});

const carriesFiles = (/** @type {DragEvent} */ { dataTransfer }) =>
  dataTransfer?.types.includes("Files") ?? false;
addEventListener("dragover", (event) => {
  if (!carriesFiles(event)) return;
  event.preventDefault();
  document.body.classList.add("dropping");
});
addEventListener("dragleave", ({ relatedTarget }) => {
  // The event fires for every element. It has no target when the drag leaves the window.
  if (relatedTarget === null) document.body.classList.remove("dropping");
});
addEventListener("drop", (event) => {
  if (!carriesFiles(event)) return;
  event.preventDefault();
  document.body.classList.remove("dropping");
  add(Array.from(event.dataTransfer?.files ?? []));
});

addEventListener("hashchange", () => void openFolder());
void openFolder();
