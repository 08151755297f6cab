/** Finds the route of a request by its method and path. */
import type { Route } from "./context.ts";

export type Found =
  | { readonly route: Route; readonly parameters: Readonly<Record<string, string>> }
  /** No route has the path; or one has it with other methods. */
  | { readonly route: null; readonly methods: readonly string[] };

export function findRoute(routes: readonly Route[], method: string, path: string): Found {
  const methods: string[] = [];
  for (const route of routes) {
    const parameters = matchPath(route.path, path);
    if (parameters === null) continue;
    if (route.method === method || (route.method === "GET" && method === "HEAD")) {
      return { route, parameters };
    }
    methods.push(route.method);
  }
  return { route: null, methods };
}

/** @returns `null` for another path, and for a segment that is not valid percent-encoding */
function matchPath(pattern: string, path: string): Record<string, string> | null {
  const expected = pattern.split("/");
  const given = path.split("/");
  // `*` stands for the rest of the path, as it is.
  const isOpen = expected.at(-1) === "*";
  if (isOpen ? given.length < expected.length : given.length !== expected.length) return null;
  const parameters: Record<string, string> = {};
  for (const [index, segment] of expected.entries()) {
    if (segment === "*") parameters["rest"] = given.slice(index).join("/");
    else if (segment.startsWith(":")) {
      const value = decode(given[index] as string);
      if (value === null || value === "") return null;
      parameters[segment.slice(1)] = value;
    } else if (segment !== given[index]) return null;
  }
  return parameters;
}

function decode(segment: string): string | null {
  try {
    return decodeURIComponent(segment);
  } catch {
    return null;
  }
}
