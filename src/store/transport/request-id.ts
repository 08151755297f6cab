/**
 * The header with the id of a request to the owner's endpoint. A client whose answer was lost sends
 * the request again with the same id, and the bucket executes the writes of the request once.
 */
export const requestIdHeader = "x-ledge-request-id";
