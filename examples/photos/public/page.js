// @ts-check
/** The page: one folder, which the address names (`#/trips/2026/`), so that Back goes back. */
import { element, factsOf, icon, make, nameOf } from "./elements.js";
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
/** Counts visits, so that an answer that comes after the visitor has gone on is dropped. */
let visit = 0;

const isPicture = (/** @type {Photo} */ { contentType }) => contentType.startsWith("image/");
const announce = (/** @type {string} */ text) => (element("status").textContent = text);

async function openFolder() {
  visit += 1;
  const mine = visit;
  try {
    prefix = decodeURIComponent(location.hash.replace(/^#\/?/, ""));
    const folder = await listFolder(prefix);
    if (mine !== visit) return;
    photos = [];
    grid.replaceChildren();
    showPath();
    append(folder);
    showEmpty(folder.folders.length + folder.photos.length === 0);
  } catch (error) {
    if (mine === visit) fail(error);
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
  element("empty-title").textContent = prefix === "" ? "No photos yet" : "Nothing in this folder";
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
    make("span", { class: "facts" }, "Folder"),
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
    make("span", { class: "facts" }, factsOf(photo)),
  );
  if (isPicture(photo)) {
    open.addEventListener("click", (event) => {
      // With a modifier it is a link like others: a tab of its own, a download.
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
  if (!confirm(`Delete ${nameOf(photo.key)}? It cannot be brought back.`)) return;
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
    fail(error);
  }
}

/** @param {unknown} error */
function fail(error) {
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
  const mine = visit;
  more.disabled = true;
  try {
    const folder = await listFolder(prefix, cursor);
    if (mine === visit) append(folder);
  } catch (error) {
    fail(error);
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
  // It leaves every element that it passes; only the window is without another to go to.
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
