/**
 * The key of a file that a person drops or chooses. The path of the file below the dropped folder is
 * kept as it is: a key may have `..` and spaces, and a browser that sends the key in a query does not
 * change them.
 */
export function droppedKey(prefix: string, path: string): string {
  return prefix + path.replace(/^\/+/, "");
}

/**
 * A second name: `photo (2).jpg` for `photo.jpg`. A name that begins with its only dot has no
 * extension.
 */
export function numberedKey(key: string, number: number): string {
  const nameStart = folderOf(key).length;
  const dot = key.lastIndexOf(".");
  const end = dot > nameStart ? dot : key.length;
  return `${key.slice(0, end)} (${number})${key.slice(end)}`;
}

/** The prefix of the folder that a key is in: empty, or with a slash at its end. */
export function folderOf(key: string): string {
  return key.slice(0, key.lastIndexOf("/") + 1);
}
