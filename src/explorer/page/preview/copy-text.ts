/** Puts text on the clipboard. `false` if the browser refuses, which a person can then do by hand. */
export async function copyText(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return false;
  }
}
