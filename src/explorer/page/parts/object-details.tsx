/** To be written. */
interface ObjectDetailsProps {
  readonly bucket: string;
  readonly objectKey: string;
  readonly onClose: () => void;
  readonly onChanged: () => void;
}

export function ObjectDetailsPanel({ objectKey, onClose }: ObjectDetailsProps) {
  return (
    <section class="panel" aria-label="Details">
      <p class="code">{objectKey}</p>
      <button type="button" class="button" onClick={onClose}>
        Close
      </button>
    </section>
  );
}
