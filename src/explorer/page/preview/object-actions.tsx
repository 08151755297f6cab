/** What can be done with an object: download, a presigned link, deletion. */
import { useId, useRef, useState } from "preact/hooks";
import type { Link as ObjectLink, LinkRequest, ObjectDetails } from "../../api/buckets.ts";
import { apiUrl, bucketPath, callApi, type ApiCallError } from "../api-client.ts";
import { useNotices } from "../state/notices.ts";
import { copyText } from "./copy-text.ts";
import { linkDurationOf, linkDurations } from "./link-duration.ts";
import { TimeText } from "./time-text.tsx";

interface ObjectActionsProps {
  readonly bucket: string;
  readonly details: ObjectDetails;
  /** Resolves when the server has accepted or refused the deletion. */
  readonly onDelete: () => Promise<void>;
}

export function ObjectActions({ bucket, details, onDelete }: ObjectActionsProps) {
  const { key } = details;
  const [isLinkOpen, setLinkOpen] = useState(false);
  const [isDeleting, setDeleting] = useState(false);
  const linkId = useId();
  return (
    <div class="details-actions">
      <div class="toolbar">
        {!details.hasCustomerKey && (
          <a
            class="button"
            href={apiUrl(bucketPath(bucket, "/content"), { key, download: 1 })}
            download
          >
            Download
          </a>
        )}
        <CopyKeyButton objectKey={key} />
        <button
          type="button"
          class="button"
          aria-expanded={isLinkOpen}
          {...(isLinkOpen && { "aria-controls": linkId })}
          onClick={() => setLinkOpen(!isLinkOpen)}
        >
          Copy link…
        </button>
        <button
          type="button"
          class="button danger"
          disabled={isDeleting}
          onClick={() => {
            setDeleting(true);
            void onDelete().finally(() => setDeleting(false));
          }}
        >
          Delete
        </button>
      </div>
      {isLinkOpen && <LinkForm id={linkId} bucket={bucket} objectKey={key} />}
    </div>
  );
}

function CopyKeyButton({ objectKey }: { readonly objectKey: string }) {
  const notices = useNotices();
  return (
    <button
      type="button"
      class="button"
      onClick={() =>
        void copyText(objectKey).then((isCopied) =>
          isCopied
            ? notices.show("The key is on the clipboard.")
            : notices.show("The browser does not allow the page to copy. Select the key instead.", {
                tone: "problem",
              }),
        )
      }
    >
      Copy key
    </button>
  );
}

interface LinkFormProps {
  readonly id: string;
  readonly bucket: string;
  readonly objectKey: string;
}

type LinkState =
  | { readonly state: "none" | "asking" }
  | { readonly state: "failed"; readonly message: string }
  | { readonly state: "made"; readonly link: ObjectLink; readonly isCopied: boolean };

function LinkForm({ id, bucket, objectKey }: LinkFormProps) {
  const [seconds, setSeconds] = useState(String(linkDurations[0].seconds));
  const [made, setMade] = useState<LinkState>({ state: "none" });
  const field = useRef<HTMLInputElement>(null);
  const makeLink = async (): Promise<void> => {
    setMade({ state: "asking" });
    const json: LinkRequest = {
      key: objectKey,
      expiresSeconds: linkDurationOf(seconds).seconds,
    };
    try {
      const path = bucketPath(bucket, "/links");
      const link = await callApi<ObjectLink>(path, { method: "POST", json });
      setMade({ state: "made", link, isCopied: await copyText(link.url) });
      field.current?.select();
    } catch (error) {
      setMade({ state: "failed", message: (error as ApiCallError).message });
    }
  };
  return (
    <form
      id={id}
      class="details-link"
      onSubmit={(event) => {
        event.preventDefault();
        void makeLink();
      }}
    >
      <div class="toolbar">
        <label for={`${id}-duration`}>The link works for</label>
        <select
          id={`${id}-duration`}
          class="input"
          value={seconds}
          onChange={(event) => setSeconds(event.currentTarget.value)}
        >
          {linkDurations.map(({ label, seconds: value }) => (
            <option key={value} value={value}>
              {label}
            </option>
          ))}
        </select>
        <button type="submit" class="button primary" disabled={made.state === "asking"}>
          {made.state === "asking" ? "Signing…" : "Copy link"}
        </button>
      </div>
      {made.state === "failed" && (
        <p class="field-problem" role="alert">
          {made.message}
        </p>
      )}
      {made.state === "made" && (
        <>
          <p role="status">
            {made.isCopied
              ? "The link is on the clipboard. It works until "
              : "The browser does not allow the page to copy: copy the link from the field. " +
                "It works until "}
            <TimeText milliseconds={made.link.expires} />.
          </p>
          <input
            ref={field}
            class="input code"
            aria-label="Link to the object"
            readOnly
            value={made.link.url}
            onFocus={(event) => event.currentTarget.select()}
          />
        </>
      )}
    </form>
  );
}
