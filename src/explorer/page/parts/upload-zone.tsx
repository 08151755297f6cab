/** To be written. */
import type { ComponentChildren } from "preact";

interface UploadProps {
  readonly bucket: string;
  readonly prefix: string;
  readonly onUploaded: () => void;
}

export function UploadZone({ children }: UploadProps & { readonly children: ComponentChildren }) {
  return <div class="upload-zone">{children}</div>;
}

export function UploadButton({ bucket }: UploadProps) {
  return (
    <button type="button" class="button primary" title={`Upload to ${bucket}`}>
      Upload
    </button>
  );
}
