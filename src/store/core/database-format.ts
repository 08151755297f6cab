/** The format of a bucket's database (`bucket/schema.ts`), and what to say of a newer one. */

/** Increases with every change of a table; `bucket/migration.ts` migrates from older formats. */
export const formatVersion = 6;

export function newerFormatText(bucketName: string, version: number): string {
  return (
    `Cannot open bucket "${bucketName}": its database has format ${version}, and this version of ` +
    `Ledge knows formats up to ${formatVersion}. Use the version of Ledge that wrote the database, ` +
    "or another state folder."
  );
}
