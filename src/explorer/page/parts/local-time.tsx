/** A moment in the time zone of the browser. */
const shown = new Intl.DateTimeFormat("sv-SE", { dateStyle: "short", timeStyle: "short" });
const exact = new Intl.DateTimeFormat("en", { dateStyle: "full", timeStyle: "long" });

/** @param at milliseconds since the epoch */
export function LocalTime({ at }: { readonly at: number }) {
  const date = new Date(at);
  return (
    <time dateTime={date.toISOString()} title={exact.format(date)}>
      {shown.format(date)}
    </time>
  );
}
