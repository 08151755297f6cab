/**
 * The conformance suite of the StoreBucket binding: one test for each sentence of the
 * specification, and bad input for every argument of every method.
 *
 * The suite runs on every implementation of the interface: in workerd through a script's `env`, and
 * in Node; on buckets of a state folder, and on buckets of an S3 service.
 */
import { invocationSuite, keySuite, optionSuite, valueSuite } from "./arguments.ts";
import { conditionSuite } from "./conditions.ts";
import { consistencySuite, deleteSuite } from "./consistency.ts";
import { listArgumentSuite } from "./list-arguments.ts";
import { listDelimiterSuite, listIncludeSuite, listSuite } from "./lists.ts";
import { checksumSuite, metadataSuite, putSuite } from "./puts.ts";
import { rangeSuite } from "./ranges.ts";
import { getSuite, objectSuite } from "./reads.ts";
import { defineSuite, type Subject } from "./subject.ts";
import {
  abortSuite,
  completeSuite,
  createUploadSuite,
  expirySuite,
  uploadPartSuite,
} from "./uploads.ts";

/** Blocks whose values and answers cross the way between the class of the binding and the bucket. */
const transferBlocks = [objectSuite, getSuite, putSuite, uploadPartSuite];

/** Blocks of what a bucket does. */
const bucketBlocks = [
  ...transferBlocks,
  rangeSuite,
  metadataSuite,
  deleteSuite,
  listSuite,
  listDelimiterSuite,
  listIncludeSuite,
  createUploadSuite,
  completeSuite,
  abortSuite,
  expirySuite,
  consistencySuite,
];

const allBlocks = [
  ...bucketBlocks,
  invocationSuite,
  keySuite,
  optionSuite,
  valueSuite,
  conditionSuite,
  checksumSuite,
  listArgumentSuite,
];

export function storeBucketSuite(subject: Subject): void {
  defineSuite(subject, allBlocks);
}

/** Without what the class of the binding decides, for a class that another run covers. */
export function bucketSuite(subject: Subject): void {
  defineSuite(subject, bucketBlocks);
}

/** For another way to a bucket that another run covers. */
export function transferSuite(subject: Subject): void {
  defineSuite(subject, transferBlocks);
}
