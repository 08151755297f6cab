/** Opens a page in the browser of the user. */
export async function openBrowser(url: string): Promise<void> {
  try {
    const { default: open } = await import("open");
    await open(url);
  } catch {
    console.log(`This machine has no browser for ${url}.`);
  }
}
