/**
 * The address of the page, as a place: which view, of what. Every view has an address that can be
 * shared and reloaded. Names and keys are in the query where they can have any character.
 */
export type Place =
  | { readonly view: "buckets" }
  | {
      readonly view: "objects";
      readonly bucket: string;
      readonly prefix: string;
      /** The page begins after this key; empty on the first page. */
      readonly after: string;
      readonly sort: ObjectSort;
      /** The object whose details are open. */
      readonly key: string | null;
    }
  | { readonly view: "uploads"; readonly bucket: string }
  | { readonly view: "zones" }
  | {
      readonly view: "records";
      readonly zone: string;
      readonly search: string;
      /** The record whose form is open. */
      readonly record: string | null;
      /** The first page, unless the field is there. */
      readonly page?: number;
      /** By name, unless the field is there. */
      readonly sort?: RecordSort;
    }
  | {
      readonly view: "lookup";
      readonly name: string;
      /** Empty: PTR for an address, and A for a name. */
      readonly type: string;
      /** Whether the question asks for signatures. */
      readonly dnssec?: true;
    }
  | { readonly view: "live"; readonly filter: string }
  | { readonly view: "faults" }
  | { readonly view: "unknown"; readonly path: string };

/** Within a page, by a column; a minus sign is for descending order. */
export type ObjectSort = "key" | "-key" | "size" | "-size" | "uploaded" | "-uploaded";

/** By a column of the record API; a minus sign is for descending order. */
export type RecordSort = `${"" | "-"}${"type" | "name" | "content" | "ttl" | "proxied"}`;

const recordSortPattern = /^-?(?:type|name|content|ttl|proxied)$/;

const sorts: ReadonlySet<string> = new Set<ObjectSort>([
  "key",
  "-key",
  "size",
  "-size",
  "uploaded",
  "-uploaded",
]);

export function parsePlace(path: string, search: string): Place {
  const query = new URLSearchParams(search);
  const text = (name: string): string => query.get(name) ?? "";
  const [view, name, part, ...rest] = path.split("/").slice(1).map(decode);
  const unknown: Place = { view: "unknown", path };
  if (rest.length > 0 || [view, name, part].includes(null)) return unknown;
  if (view === "" || view === undefined) return { view: "buckets" };
  if (view === "buckets") {
    if (!name) return { view: "buckets" };
    if (part === "uploads") return { view: "uploads", bucket: name };
    if (part) return unknown;
    const sort = text("sort");
    return {
      view: "objects",
      bucket: name,
      prefix: text("prefix"),
      after: text("after"),
      sort: sorts.has(sort) ? (sort as ObjectSort) : "key",
      key: query.get("key"),
    };
  }
  if (part) return unknown;
  if (view === "zones") {
    if (!name) return { view: "zones" };
    const [page, sort] = [Number(text("page")), text("sort")];
    return {
      view: "records",
      zone: name,
      search: text("search"),
      record: query.get("record"),
      ...(Number.isSafeInteger(page) && page > 1 && { page }),
      ...(recordSortPattern.test(sort) && sort !== "name" && { sort: sort as RecordSort }),
    };
  }
  if (name) return unknown;
  // Older links have "ask".
  if (view === "lookup" || view === "ask") {
    const dnssec = text("dnssec") === "true" && { dnssec: true as const };
    return { view: "lookup", name: text("name"), type: text("type"), ...dnssec };
  }
  if (view === "live") return { view: "live", filter: text("filter") };
  if (view === "faults") return { view: "faults" };
  return unknown;
}

export function placeUrl(place: Place): string {
  switch (place.view) {
    case "buckets":
      return "/buckets";
    case "objects": {
      const { prefix, after, sort, key } = place;
      return `/buckets/${encodeURIComponent(place.bucket)}${queryText({
        prefix,
        after,
        sort: sort === "key" ? "" : sort,
        key,
      })}`;
    }
    case "uploads":
      return `/buckets/${encodeURIComponent(place.bucket)}/uploads`;
    case "zones":
      return "/zones";
    case "records":
      return `/zones/${encodeURIComponent(place.zone)}${queryText({
        search: place.search,
        sort: place.sort ?? null,
        page: place.page === undefined ? null : String(place.page),
        record: place.record,
      })}`;
    case "lookup":
      return `/lookup${queryText({
        name: place.name,
        type: place.type,
        dnssec: place.dnssec === true ? "true" : null,
      })}`;
    case "live":
      return `/live${queryText({ filter: place.filter })}`;
    case "faults":
      return "/faults";
    case "unknown":
      return place.path;
  }
}

/** The first page of a bucket, or of a folder in it. */
export function bucketPlace(bucket: string, prefix = ""): Place {
  return { view: "objects", bucket, prefix, after: "", sort: "key", key: null };
}

/** The title of the tab. */
export function placeTitle(place: Place): string {
  switch (place.view) {
    case "objects":
      return `${place.key ?? `${place.bucket}/${place.prefix}`} · Ledge explorer`;
    case "uploads":
      return `Uploads to ${place.bucket} · Ledge explorer`;
    case "records":
      return `${place.zone} · Ledge explorer`;
    case "buckets":
      return "Buckets · Ledge explorer";
    case "zones":
      return "Zones · Ledge explorer";
    case "lookup":
      return `${place.name === "" ? "DNS lookup" : `${place.name} ${place.type}`.trim()} · Ledge explorer`;
    case "live":
      return "Live · Ledge explorer";
    case "faults":
      return "Faults · Ledge explorer";
    case "unknown":
      return "Ledge explorer";
  }
}

/** Empty and absent values are left out. A key may be empty text, and is kept. */
function queryText(values: Readonly<Record<string, string | null>>): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(values)) {
    if (value !== null && (value !== "" || name === "key")) query.set(name, value);
  }
  return query.size === 0 ? "" : `?${query.toString()}`;
}

function decode(segment: string): string | null {
  try {
    return decodeURIComponent(segment);
  } catch {
    return null;
  }
}
