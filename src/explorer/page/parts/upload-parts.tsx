/** The parts of an upload that the store has. */
import { counted, formatBytes } from "../../../base/format.ts";
import type { UploadedPart } from "../../api/buckets.ts";

/** An upload may have 10,000 parts: the page shows the first. */
const shownMax = 200;

export function UploadParts({ parts }: { readonly parts: readonly UploadedPart[] }) {
  if (parts.length === 0) return <p>No part has been uploaded yet.</p>;
  const bytes = parts.reduce((sum, { size }) => sum + size, 0);
  const more = parts.length - shownMax;
  return (
    <>
      <p>
        {counted(parts.length, "part")}, {formatBytes(bytes)} in all
        {more > 0 && `; the first ${shownMax} are shown`}
      </p>
      {/* A region that scrolls can have the focus, so that the keyboard scrolls it. */}
      <div class="uploads-parts" role="region" aria-label="Parts" tabIndex={0}>
        <table class="table">
          <thead>
            <tr>
              <th scope="col" class="number">
                Part
              </th>
              <th scope="col" class="number">
                Size
              </th>
              <th scope="col">Etag</th>
            </tr>
          </thead>
          <tbody>
            {parts.slice(0, shownMax).map(({ partNumber, size, etag }) => (
              <tr key={partNumber}>
                <td class="number">{partNumber}</td>
                <td class="number">{formatBytes(size)}</td>
                <td>
                  <span class="code">{etag}</span>
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </>
  );
}
