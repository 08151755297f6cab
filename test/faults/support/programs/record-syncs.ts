/**
 * Is loaded before a program (`node --import`), in each of its threads: appends the inode of each file and
 * folder whose sync has ended to the file of the variable LEDGE_TEST_SYNCS, a line each.
 */
import fs from "node:fs";
import { syncBuiltinESMExports } from "node:module";

const log = process.env["LEDGE_TEST_SYNCS"] as string;
const { fstatSync, appendFileSync } = fs;
const inodeOf = (descriptor: number): number => fstatSync(descriptor).ino;
const record = (inode: number): void => appendFileSync(log, `${inode}\n`);

for (const name of ["fsync", "fdatasync"] as const) {
  const sync = fs[name];
  const syncAtOnce = fs[`${name}Sync`];
  Object.assign(fs, {
    [name](descriptor: number, callback: fs.NoParamCallback) {
      const inode = inodeOf(descriptor);
      sync(descriptor, (error) => {
        if (error === null) record(inode);
        callback(error);
      });
    },
    [`${name}Sync`](descriptor: number) {
      const inode = inodeOf(descriptor);
      syncAtOnce(descriptor);
      record(inode);
    },
  });
}

// The class of file handles has no name.
const handle = await fs.promises.open(log, "a");
const handles = Object.getPrototypeOf(handle) as fs.promises.FileHandle;
await handle.close();
for (const name of ["sync", "datasync"] as const) {
  // oxlint-disable-next-line typescript/unbound-method -- is called with the handle
  const sync = handles[name];
  Object.assign(handles, {
    async [name](this: fs.promises.FileHandle) {
      const inode = inodeOf(this.fd);
      await sync.call(this);
      record(inode);
    },
  });
}
syncBuiltinESMExports();
