// @ts-check
/** A dialog with one large photo. The arrow keys show the next photo, and Escape closes it. */
import { element, detailsOf, nameOf } from "./elements.js";

/** @typedef {import("./photos.js").Photo} Photo */

const dialog = /** @type {HTMLDialogElement} */ (element("viewer"));
const picture = /** @type {HTMLImageElement} */ (element("viewer-photo"));

/** @type {Photo[]} */
let photos = [];
let current = 0;

/**
 * @param {Photo[]} all
 * @param {Photo} first
 */
export function view(all, first) {
  photos = all;
  show(all.indexOf(first));
  dialog.showModal();
}

/** @param {number} index */
function show(index) {
  const photo = photos[index];
  if (photo === undefined) return;
  current = index;
  picture.src = `${photo.url}?v=${photo.etag}`;
  picture.alt = nameOf(photo.key);
  element("viewer-name").textContent = nameOf(photo.key);
  element("viewer-details").textContent = `${detailsOf(photo)} · ${index + 1} of ${photos.length}`;
  element("previous").hidden = index === 0;
  element("next").hidden = index === photos.length - 1;
}

element("previous").addEventListener("click", () => show(current - 1));
element("next").addEventListener("click", () => show(current + 1));
element("close").addEventListener("click", () => dialog.close());
dialog.addEventListener("close", () => picture.removeAttribute("src"));
dialog.addEventListener("keydown", ({ key }) => {
  if (key === "ArrowLeft") show(current - 1);
  if (key === "ArrowRight") show(current + 1);
});
