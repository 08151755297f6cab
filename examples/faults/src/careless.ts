/** Assumes that every call succeeds. */
export async function save(bucket: StoreBucket, key: string, photo: string): Promise<void> {
  await bucket.put(key, photo);
}

export async function load(bucket: StoreBucket, key: string): Promise<string | null> {
  const object = await bucket.get(key);
  return object === null ? null : object.text();
}

/** Counts an upload. */
export async function count(bucket: StoreBucket): Promise<number> {
  const counted = Number((await load(bucket, "count")) ?? 0) + 1;
  await save(bucket, "count", String(counted));
  return counted;
}
