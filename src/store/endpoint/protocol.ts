/** The parts of the endpoint's protocol that the endpoint and its clients share. */

/** The header that describes the content of a request: JSON in base64. */
export const requestHeader = "x-ledge-request";
