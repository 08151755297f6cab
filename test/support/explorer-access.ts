/** Opens the link of an explorer, as a browser does. */
export interface ExplorerAccess {
  /** The address of the page without a slash at its end: addresses of the page and of its API begin so. */
  readonly address: string;
  readonly cookie: string;
}

export async function openExplorerLink(link: string): Promise<ExplorerAccess> {
  const { headers } = await fetch(link, { redirect: "manual" });
  const { href } = new URL(headers.get("location") ?? "", link);
  const cookie = (headers.get("set-cookie") ?? "").split(";")[0] as string;
  return { address: href.slice(0, -1), cookie };
}
