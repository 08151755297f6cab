/** A time, as the browser's language and time zone have it. The title has it in UTC. */
const format = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "medium" });

export function TimeText({ milliseconds }: { readonly milliseconds: number }) {
  const date = new Date(milliseconds);
  // The store keeps numbers that are no date.
  if (Number.isNaN(date.getTime())) return <span>{milliseconds}</span>;
  const iso = date.toISOString();
  return (
    <time dateTime={iso} title={iso}>
      {format.format(date)}
    </time>
  );
}
