/** To be written. */
export function UploadsView({ bucket }: { readonly bucket: string }) {
  return <h1>Uploads to {bucket}</h1>;
}
