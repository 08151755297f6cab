/**
 * The conformance suite of the StoreBucket binding: one test for each sentence of the
 * specification, and bad input for every argument of every method.
 *
 * The suite runs on every implementation of the interface: in workerd through a script's `env`, and
 * in Node.
 */
import { describe } from "vitest";
import { abortSuite } from "./abort.ts";
import { checksumsSuite } from "./checksums.ts";
import { completeSuite } from "./complete.ts";
import { conditionalSuite } from "./conditional.ts";
import { consistencySuite } from "./consistency.ts";
import { createMultipartUploadSuite } from "./create-multipart-upload.ts";
import { deleteSuite } from "./delete.ts";
import { expectDeviations } from "./deviations.ts";
import { expirySuite } from "./expiry.ts";
import { getArgumentsSuite } from "./get-arguments.ts";
import { getSuite } from "./get.ts";
import { headSuite } from "./head.ts";
import { invocationSuite } from "./invocation.ts";
import { listArgumentsSuite } from "./list-arguments.ts";
import { listDelimiterSuite } from "./list-delimiter.ts";
import { listIncludeSuite } from "./list-include.ts";
import { listSuite } from "./list.ts";
import { metadataSuite } from "./metadata.ts";
import { objectSuite } from "./object.ts";
import { putArgumentsSuite } from "./put-arguments.ts";
import { putSuite } from "./put.ts";
import { rangeSuite } from "./range.ts";
import { resumeMultipartUploadSuite } from "./resume-multipart-upload.ts";
import { storageClassSuite } from "./storage-class.ts";
import type { Subject } from "./subject.ts";
import { uploadPartSuite } from "./upload-part.ts";

export type { Subject } from "./subject.ts";

export function storeBucketSuite(subject: Subject): void {
  describe(`StoreBucket, ${subject.name}`, () => {
    expectDeviations(subject.deviations ?? {});
    invocationSuite(subject);
    objectSuite(subject);
    headSuite(subject);
    getSuite(subject);
    getArgumentsSuite(subject);
    rangeSuite(subject);
    conditionalSuite(subject);
    putSuite(subject);
    putArgumentsSuite(subject);
    checksumsSuite(subject);
    metadataSuite(subject);
    storageClassSuite(subject);
    deleteSuite(subject);
    listSuite(subject);
    listArgumentsSuite(subject);
    listDelimiterSuite(subject);
    listIncludeSuite(subject);
    createMultipartUploadSuite(subject);
    resumeMultipartUploadSuite(subject);
    uploadPartSuite(subject);
    completeSuite(subject);
    abortSuite(subject);
    expirySuite(subject);
    consistencySuite(subject);
  });
}
