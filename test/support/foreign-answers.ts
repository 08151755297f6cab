/**
 * Answers that no well service of S3 gives: of a page of maintenance, of the default host of a proxy, of a gateway
 * that is overloaded. A proxy sends them (`faulty-proxy.ts`).
 */
import type { ForeignAnswer } from "./faulty-proxy.ts";

const page = "<html><body>We will be back soon.</body></html>";
const pageHeaders = { "content-type": "text/html" };
const otherTag = { etag: '"0123456789abcdef0123456789abcdef"' };

/** Say success, and say nothing about the request. */
export const foreignSuccesses: Readonly<Record<string, ForeignAnswer>> = {
  "200 without an entity tag": { status: 200 },
  "200 with another entity tag": { status: 200, headers: otherTag },
  "200 with a page": { status: 200, headers: pageHeaders, text: page },
  "200 with a page of XML": { status: 200, text: '<?xml version="1.0"?><html/>' },
  "201 with an entity tag": { status: 201, headers: otherTag },
  "204": { status: 204 },
  "200, one octet a second": { status: 200, text: page, octetMilliseconds: 1000 },
};

export const foreignFailures: Readonly<Record<string, ForeignAnswer>> = {
  "404 without a text": { status: 404 },
  "404 with a page": { status: 404, headers: pageHeaders, text: page },
  "404 for the bucket": {
    status: 404,
    text: "<Error><Code>NoSuchBucket</Code><Message>No bucket.</Message></Error>",
  },
  "429 with a long pause": { status: 429, headers: { "retry-after": "86400" } },
  "501": {
    status: 501,
    text: "<Error><Code>NotImplemented</Code><Message>Not here.</Message></Error>",
  },
};
