/** A moment in the time zone of the browser. */
const shown = new Intl.DateTimeFormat("sv-SE", { dateStyle: "short", timeStyle: "short" });

/** @param at milliseconds since the epoch */
export function LocalTime({ at }: { readonly at: number }) {
  const date = new Date(at);
  const exact = date.toISOString();
  return (
    <time dateTime={exact} title={exact}>
      {shown.format(date)}
    </time>
  );
}
