export interface ResultInfo {
  readonly page: number;
  readonly per_page: number;
  readonly count: number;
  readonly total_count: number;
  readonly total_pages: number;
}

/** An empty list still has one page. */
export function describePage(
  page: { readonly page: number; readonly perPage: number },
  count: number,
  totalCount: number,
): ResultInfo {
  return {
    page: page.page,
    per_page: page.perPage,
    count,
    total_count: totalCount,
    total_pages: Math.max(1, Math.ceil(totalCount / page.perPage)),
  };
}
