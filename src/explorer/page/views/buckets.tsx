/** To be written. */
export function BucketsView() {
  return <h1>Buckets</h1>;
}
