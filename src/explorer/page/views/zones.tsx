/** To be written. */
export function ZonesView() {
  return <h1>Zones</h1>;
}
