/** Knows that a call may fail, hang, break off, or have worked although nobody heard of it. */
const attemptsMax = 4;
const patienceMilliseconds = 100;

export async function save(bucket: StoreBucket, key: string, photo: string): Promise<void> {
  await retrying(() => bucket.put(key, photo));
}

export async function load(bucket: StoreBucket, key: string): Promise<string | null> {
  return retrying(async () => {
    const object = await inTime(bucket.get(key));
    // The body is part of the attempt: it, too, can break off.
    return object === null ? null : object.text();
  });
}

/** A second attempt must not count twice, so it is written only where nothing has changed. */
export async function count(bucket: StoreBucket): Promise<number> {
  const before = await bucket.get("count");
  const counted = Number((await before?.text()) ?? 0) + 1;
  const onlyIf = before === null ? { etagDoesNotMatch: "*" } : { etagMatches: before.etag };
  await retrying(() => bucket.put("count", String(counted), { onlyIf }));
  return counted;
}

async function retrying<Result>(act: () => Promise<Result>): Promise<Result> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await act();
    } catch (error) {
      if (attempt === attemptsMax) throw error;
    }
  }
}

/** A call that takes too long is given up; the next attempt may be luckier. */
function inTime<Result>(call: Promise<Result>): Promise<Result> {
  return new Promise((resolve, reject) => {
    setTimeout(() => reject(new Error("The bucket takes too long")), patienceMilliseconds);
    call.then(resolve, reject);
  });
}
