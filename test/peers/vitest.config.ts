import { configDefaults, defineConfig } from "vitest/config";

// Several servers and thousands of queries share two cores.
const slow = {
  testTimeout: 300_000,
  hookTimeout: 120_000,
  expect: { poll: { timeout: 60_000 } },
};
const withCeph = ["test/peers/remote-*.test.ts"];

export default defineConfig({
  test: {
    fileParallelism: false,
    projects: [
      {
        test: {
          ...slow,
          name: "peers",
          include: ["test/peers/**/*.test.ts"],
          exclude: [...configDefaults.exclude, ...withCeph],
        },
      },
      {
        test: {
          ...slow,
          name: "ceph",
          // Tests of remote buckets, which otherwise run on our own endpoint.
          include: [...withCeph, "test/store/remote-{bucket,list,uploads,faults}.test.ts"],
          // Runs only when a file of this project runs.
          globalSetup: "test/peers/ceph/global-setup.ts",
        },
      },
    ],
  },
});
