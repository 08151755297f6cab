/** To be written. */
export function ConditionsView() {
  return <h1>Conditions</h1>;
}
