/** Handles calls that fail, hang, break off, or succeed although the answer is lost. */
const attemptsMax = 4;
const timeoutMilliseconds = 100;

export async function save(bucket: StoreBucket, key: string, photo: string): Promise<void> {
  await withRetries(() => bucket.put(key, photo));
}

export async function load(bucket: StoreBucket, key: string): Promise<string | null> {
  return withRetries(async () => {
    const object = await withTimeout(bucket.get(key));
    // The body is part of the attempt, because it can break off too.
    return object === null ? null : object.text();
  });
}

/** A second attempt must not count twice, so the put requires the etag of the old count. */
export async function count(bucket: StoreBucket): Promise<number> {
  const before = await bucket.get("count");
  const counted = Number((await before?.text()) ?? 0) + 1;
  const onlyIf = before === null ? { etagDoesNotMatch: "*" } : { etagMatches: before.etag };
  await withRetries(() => bucket.put("count", String(counted), { onlyIf }));
  return counted;
}

async function withRetries<Result>(act: () => Promise<Result>): Promise<Result> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await act();
    } catch (error) {
      if (attempt === attemptsMax) throw error;
    }
  }
}

/** Rejects when the call takes too long, so that the next attempt can start. */
function withTimeout<Result>(call: Promise<Result>): Promise<Result> {
  return new Promise((resolve, reject) => {
    setTimeout(() => reject(new Error("The bucket did not answer in time")), timeoutMilliseconds);
    call.then(resolve, reject);
  });
}
