/**
 * Calls of the record API, checked against openapi.yaml: `checkedFetch()` throws if a call that succeeds has
 * a parameter, a body or an answer that is not described, or if an error has a code that is not.
 */
import { readFileSync } from "node:fs";
import { Ajv2020, type AnySchema, type ValidateFunction } from "ajv/dist/2020.js";
import { parse } from "yaml";

interface Reference {
  readonly $ref: string;
}
interface Parameter {
  readonly name: string;
  readonly schema: AnySchema;
}
type Content = Readonly<Record<string, { readonly schema: AnySchema }>>;
interface Operation {
  readonly operationId: string;
  readonly parameters?: readonly (Parameter | Reference)[];
  readonly requestBody?: { readonly content: Content };
  readonly responses: Readonly<Record<string, { readonly content?: Content } | Reference>>;
}
interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: {
    readonly schemas: Readonly<Record<string, { readonly enum?: readonly string[] }>>;
  };
  readonly "x-error-codes": readonly { readonly code: number; readonly status: number }[];
}

const file = new URL("../../../openapi.yaml", import.meta.url);
export const document = parse(readFileSync(file, "utf8")) as Document;

export const httpMethods = ["get", "post", "put", "patch", "delete"];
const pathParameters: Readonly<Record<string, string>> = { setting: "[a-z0-9_]+" };
const apiRoot = "/client/v4";

const options = { strict: false, validateFormats: false, allErrors: true };
const bodies = new Ajv2020(options).addSchema(document, "openapi");
/** The values of a query are texts. */
const queries = new Ajv2020({ ...options, coerceTypes: true }).addSchema(document, "openapi");

function resolve<Value extends object>(value: Value | Reference): Value {
  if (!("$ref" in value)) return value;
  const [, ...names] = value.$ref.split("/");
  return names.reduce((found, name) => (found as never)[name], document as object) as Value;
}

export function parameterNames({ parameters = [] }: Operation): string[] {
  return parameters.map((each) => resolve(each).name);
}

/** References of a schema are relative to the document. */
function absolute(schema: AnySchema): AnySchema {
  return JSON.parse(JSON.stringify(schema).replaceAll('"#/', '"openapi#/')) as AnySchema;
}

const described = Object.entries(document.paths).flatMap(([template, item]) => {
  const pattern = template.replaceAll(
    /\{(\w+)\}/g,
    (_, name: string) => `(?:${pathParameters[name] ?? "[0-9a-f]{32}"})`,
  );
  return httpMethods.flatMap((method) => {
    const operation = item[method];
    if (operation === undefined) return [];
    let compiled: ReturnType<typeof compile> | undefined;
    const rules = () => (compiled ??= compile(operation));
    return [{ method, pattern: new RegExp(`^${pattern}$`), rules }];
  });
});

function compile(operation: Operation) {
  const found = (operation.parameters ?? []).map(resolve<Parameter>);
  const parameters = queries.compile({
    type: "object",
    additionalProperties: false,
    properties: Object.fromEntries(found.map(({ name, schema }) => [name, absolute(schema)])),
  });
  const success = operation.responses["200"];
  return {
    parameters,
    request: compileContent(operation.requestBody?.content),
    response: compileContent(success === undefined ? undefined : resolve(success).content),
  };
}

function compileContent(content: Content = {}) {
  return Object.entries(content).map(([type, { schema }]) => ({
    type,
    validate: bodies.compile(absolute(schema)),
  }));
}

const validateFailure = bodies.compile({ $ref: "openapi#/components/schemas/Failure" });
const statuses = new Map(document["x-error-codes"].map(({ code, status }) => [code, status]));

interface Call {
  readonly method: string;
  readonly url: URL;
  readonly type: string;
  readonly body: RequestInit["body"];
}
interface Reply {
  readonly status: number;
  readonly type: string;
  readonly body: unknown;
}

/** What openapi.yaml does not describe of a call. */
function findMisfits(call: Call, reply: Reply): string[] {
  if (reply.status >= 400) return findFailureMisfits(reply);
  const path = call.url.pathname.slice(apiRoot.length).replace(/(?<=.)\/+$/, "");
  const found = described.find(
    ({ method, pattern }) => method === call.method.toLowerCase() && pattern.test(path),
  );
  if (found === undefined) return ["the operation is not described"];
  const { parameters, request, response } = found.rules();
  return [
    ...check("query", parameters, Object.fromEntries(call.url.searchParams)),
    ...findContentMisfits("request", request, { type: call.type, body: readRequest(call) }),
    ...findContentMisfits("response", response, reply),
  ];
}

function findContentMisfits(
  where: string,
  contents: ReturnType<typeof compileContent>,
  { type, body }: Omit<Reply, "status">,
): string[] {
  if (body === undefined || (contents.length === 0 && where === "request")) return [];
  const content = contents.find((each) => type.startsWith(each.type));
  if (content === undefined) return [`${where}: the type ${type} is not described`];
  return check(where, content.validate, body);
}

function findFailureMisfits({ status, body }: Reply): string[] {
  const misfits = check("failure", validateFailure, body);
  if (misfits.length > 0) return misfits;
  const { errors } = body as { errors: { code: number }[] };
  const first = statuses.get(errors[0]!.code);
  // A fault that a test injects has the status that the test names.
  const isFault = first === 500 && status > 500;
  if (first !== status && !isFault) {
    misfits.push(`failure: ${errors[0]!.code} has ${first}, not ${status}`);
  }
  for (const { code } of errors) {
    if (!statuses.has(code)) misfits.push(`failure: the code ${code} is not described`);
  }
  return misfits;
}

function check(where: string, validate: ValidateFunction, value: unknown): string[] {
  if (validate(value)) return [];
  return (validate.errors ?? []).map(
    ({ instancePath, message, params }) =>
      `${where}${instancePath}: ${message} ${JSON.stringify(params)}`,
  );
}

export async function checkedFetch(
  input: string | URL | Request,
  init: RequestInit = {},
): Promise<Response> {
  const url = new URL(input instanceof Request ? input.url : input);
  const response = await fetch(input, init);
  if (!url.pathname.startsWith(`${apiRoot}/`)) return response;
  const { method = "GET" } = init;
  const type = new Headers(init.headers).get("content-type") ?? "multipart/form-data";
  const call = { method, url, type, body: init.body };
  const text = await response.clone().text();
  const replyType = response.headers.get("content-type") ?? "";
  const body: unknown = replyType.includes("json") ? JSON.parse(text) : text;
  const misfits = findMisfits(call, { status: response.status, type: replyType, body });
  if (misfits.length === 0) return response;
  const details = misfits.map((each) => `  ${each}`).join("\n");
  const sent = typeof init.body === "string" ? init.body.slice(0, 1000) : "";
  throw new Error(
    `openapi.yaml does not describe ${method} ${url.pathname}${url.search} ${sent}\n${details}`,
  );
}

/** `undefined` for a body that is no text and no form. */
function readRequest({ body, type }: Call): unknown {
  if (body instanceof FormData) {
    const texts = [...body].map(([name, value]) => [name, typeof value === "string" ? value : ""]);
    return Object.fromEntries(texts);
  }
  return typeof body === "string" && type.includes("json") ? JSON.parse(body) : undefined;
}
