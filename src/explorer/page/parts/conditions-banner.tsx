/** To be written: a banner while any condition is unusual. */
export function ConditionsBanner() {
  return null;
}
