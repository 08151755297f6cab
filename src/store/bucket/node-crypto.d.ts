// The one part of Node that the bucket uses; workerd has it under `nodejs_compat`.
declare module "node:crypto" {
  interface Hash {
    update(data: Uint8Array): Hash;
    update(data: string, encoding: "hex"): Hash;
    digest(encoding: "hex"): string;
  }
  export function createHash(algorithm: string): Hash;
}
