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
      readonly dnssec?: boolean;
    }
  | { readonly view: "live"; readonly filter: string }
  | { readonly view: "faults" }
  | { readonly view: "state" }
  | {
      /** Between a saved state and another, or what is there now. */
      readonly view: "difference";
      readonly from: string;
      /** Empty: what is there now. */
      readonly to: string;
    }
  | { readonly view: "unknown"; readonly path: string };

/** Within a page, by a column; a minus sign is for descending order. */
export type ObjectSort = `${"" | "-"}${"key" | "size" | "uploaded"}`;

/** By a column of the record API; a minus sign is for descending order. */
export type RecordSort = `${"" | "-"}${"type" | "name" | "content" | "ttl" | "proxied"}`;

const objectSortPattern = /^-?(?:key|size|uploaded)$/;
const recordSortPattern = /^-?(?:type|name|content|ttl|proxied)$/;

export function parsePlace(path: string, search: string): Place {
  const query = new URLSearchParams(search);
  const text = (name: string): string => query.get(name) ?? "";
  const unknown: Place = { view: "unknown", path };
  const segments = path.split("/").slice(1).map(decode);
  const [view = "", name, part] = segments;
  if (segments.length > 3 || segments.includes(null)) return unknown;
  if (part && !(view === "buckets" && part === "uploads")) return unknown;
  if (!name) {
    if (view === "" || view === "buckets") return { view: "buckets" };
    if (view === "zones" || view === "faults" || view === "state") return { view };
    if (view === "live") return { view, filter: text("filter") };
    if (view === "lookup") {
      const dnssec = text("dnssec") === "true" && { dnssec: true as const };
      return { view, name: text("name"), type: text("type"), ...dnssec };
    }
  } else if (view === "buckets") {
    if (part) return { view: "uploads", bucket: name };
    const sort = objectSortPattern.test(text("sort")) ? (text("sort") as ObjectSort) : "key";
    const [prefix, after, key] = [text("prefix"), text("after"), query.get("key")];
    return { view: "objects", bucket: name, prefix, after, sort, key };
  } else if (view === "state") {
    return { view: "difference", from: name, to: text("to") };
  } else if (view === "zones") {
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
  return unknown;
}

export function placeUrl(place: Place): string {
  switch (place.view) {
    case "objects": {
      const { bucket, prefix, after, sort, key } = place;
      const order = sort === "key" ? null : sort;
      return address(["buckets", bucket], { prefix, after, sort: order, key });
    }
    case "uploads":
      return address(["buckets", place.bucket, "uploads"]);
    case "records": {
      const { zone, search, sort, page, record } = place;
      return address(["zones", zone], {
        search,
        sort: sort === "name" ? null : sort,
        page: page === 1 ? null : page,
        record,
      });
    }
    case "lookup":
      return address(["lookup"], {
        name: place.name,
        type: place.type,
        dnssec: place.dnssec || null,
      });
    case "live":
      return address(["live"], { filter: place.filter });
    case "difference":
      return address(["state", place.from], { to: place.to });
    case "unknown":
      return place.path;
    case "buckets":
    case "zones":
    case "faults":
    case "state":
      return `/${place.view}`;
  }
}

type QueryValue = string | number | true | null | undefined;

/** Empty and absent values are left out. A key may be the empty text, and is kept. */
function address(
  path: readonly string[],
  values: Readonly<Record<string, QueryValue>> = {},
): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(values)) {
    if ((value ?? "") !== "" || (name === "key" && value === "")) query.set(name, String(value));
  }
  const search = query.size === 0 ? "" : `?${query.toString()}`;
  return `/${path.map(encodeURIComponent).join("/")}${search}`;
}

/** The first page of a bucket, or of a folder in it. */
export function bucketPlace(bucket: string, prefix = "", key: string | null = null): Place {
  return { view: "objects", bucket, prefix, after: "", sort: "key", key };
}

/** The records of a zone, by its name or its id. */
export function recordsPlace(zone: string, search = ""): Place {
  return { view: "records", zone, search, record: null };
}

/** The title of the tab. */
export function placeTitle(place: Place): string {
  const title = ((): string => {
    switch (place.view) {
      case "objects":
        return place.key ?? `${place.bucket}/${place.prefix}`;
      case "uploads":
        return `Uploads to ${place.bucket}`;
      case "records":
        return place.zone;
      case "lookup":
        return place.name === "" ? "DNS lookup" : `${place.name} ${place.type}`.trim();
      case "difference":
        return `${place.from} and ${place.to || "now"}`;
      case "unknown":
        return "Not found";
      case "buckets":
      case "zones":
      case "live":
      case "faults":
      case "state":
        return place.view.charAt(0).toUpperCase() + place.view.slice(1);
    }
  })();
  return `${title} · Ledge explorer`;
}

function decode(segment: string): string | null {
  try {
    return decodeURIComponent(segment);
  } catch {
    return null;
  }
}
