/**
 * The oldest and the newest version of each tool that the package was tested with.
 *
 * `npx node test/tools/matrix.ts` writes this file and the table in docs/stock-tools.md.
 */
export const testedVersions = {
  wrangler: ["4.124.0", "4.164.0"],
  miniflare: ["5.20260815.0-alpha", "5.20261117.0-beta"],
  "@cloudflare/vitest-pool-workers": ["0.22.0", "0.23.0"],
  "@cloudflare/vitest-plugin": ["1.0.0", "1.1.13"],
  "@cloudflare/vite-plugin": ["1.53.0", "1.64.0"],
  vitest: ["4.1.0", "4.1.12"],
} as const satisfies Record<string, readonly [oldest: string, newest: string]>;
