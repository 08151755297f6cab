/**
 * The header with the id of a request that writes. A client of another process repeats a request
 * whose answer was lost, with the same id, and the zone executes the request once. Only the endpoint
 * for other processes reads the header.
 */
export const requestIdHeader = "x-ledge-request-id";
