/**
 * The errors of the specification, for the model and for the conformance suite.
 *
 * The texts are copied here on purpose. Scripts see these texts, and a suite that imported them
 * from the implementation would accept any spelling mistake.
 */

const texts = {
  10011: "Your proposed upload is smaller than the minimum allowed object size.",
  10012: "Your metadata headers exceed the maximum allowed metadata size.",
  10020: "The specified object name is not valid.",
  10022: "MaxKeys params must be positive integer <= 1000.",
  10024: "The specified multipart upload does not exist.",
  10025: "One or more of the specified parts could not be found.",
  10027: "The number of keys in the request must be between 1 and 1000 inclusive.",
  10039: "The requested range is not satisfiable",
  10048: "There was a problem with the multipart upload.",
  100100: "Your proposed upload exceeds the maximum allowed object size.",
} as const;

export type ErrorCode = keyof typeof texts;

export type Action =
  | "head"
  | "get"
  | "put"
  | "delete"
  | "list"
  | "createMultipartUpload"
  | "uploadPart"
  | "completeMultipartUpload"
  | "abortMultipartUpload";

/** An `Error` with the message `<action>: <text> (<code>)`. */
export function storeError(action: Action, code: ErrorCode): Error {
  return new Error(`${action}: ${texts[code]} (${code})`);
}

/** Error 10037, whose message contains the given and the actual hash. */
export function digestError({
  name,
  given,
  actual,
}: {
  name: string;
  given: string;
  actual: string;
}): Error {
  const lines = [
    `put: The ${name} checksum you specified did not match what we received.`,
    `You provided a ${name} checksum with value: ${given}`,
    `Actual ${name} was: ${actual} (10037)`,
  ];
  return new Error(lines.join("\n"));
}

/** The platform's text for a parameter of the wrong type. `position` counts from 1. */
export function parameterError(
  method: string,
  { position, type }: { position: number; type: string },
): TypeError {
  const owner = ["uploadPart", "complete", "abort"].includes(method)
    ? "StoreMultipartUpload"
    : method === "writeHttpMetadata"
      ? "StoreObject"
      : "StoreBucket";
  return new TypeError(
    `Failed to execute '${method}' on '${owner}': parameter ${position} is not of type '${type}'.`,
  );
}

/** The platform's text for a field of the wrong type. */
export function fieldError(field: string, { on, type }: { on: string; type: string }): TypeError {
  return new TypeError(
    `Incorrect type for the '${field}' field on '${on}': the provided value is not of type '${type}'.`,
  );
}
