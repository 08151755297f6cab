/**
 * DuckDB writes tables to a bucket and reads them back: a small file in one request, and a large file in
 * parts that are sent at once. Content is compared with that of a file on the disk.
 */
import { HeadObjectCommand, S3Client } from "@aws-sdk/client-s3";
import { join } from "node:path";
import { expect, it } from "vitest";
import { didNotRun } from "./client-programs.ts";
import { duckDbNeeds, hasDuckDb, openDuckDb } from "./duckdb.ts";
import { useServedProject } from "./served-project.ts";

const project = useServedProject();

/** Random bytes, which no format compresses: 40 bytes and more a row. */
const table = (rows: number) =>
  `(SELECT range AS id, md5(range::VARCHAR) AS text FROM range(${rows}))`;

const sums = (source: string) =>
  `SELECT count(*)::VARCHAR, sum(hash(id, text))::VARCHAR FROM ${source}`;

it.for([
  { format: "parquet", rows: 1000, read: "read_parquet" },
  { format: "csv", rows: 1000, read: "read_csv" },
  { format: "json", rows: 1000, read: "read_json" },
  // Three parts and more of 5 MiB.
  { format: "parquet", rows: 600_000, read: "read_parquet" },
  { format: "csv", rows: 600_000, read: "read_csv" },
])("DuckDB reads the $format with $rows rows that it has written", async (of, context) => {
  if (!hasDuckDb) didNotRun(context, duckDbNeeds);
  const run = await openDuckDb();
  const { AWS_ACCESS_KEY_ID: id, AWS_SECRET_ACCESS_KEY: secret } = project.environment;
  const { host } = new URL(project.url);
  await run(`CREATE SECRET (TYPE s3, KEY_ID '${id}', SECRET '${secret}', ENDPOINT '${host}',
    REGION 'auto', URL_STYLE 'path', USE_SSL false)`);
  // The smallest parts: the limit of a file is that of its parts, of which there are 10,000.
  await run("SET s3_uploader_max_filesize = '50GB'");

  const name = `${of.rows}.${of.format}`;
  const url = `s3://photos/tables/${name}`;
  await run(`COPY ${table(of.rows)} TO '${url}' (FORMAT ${of.format})`);
  const expected = await run(sums(table(of.rows)));
  expect(expected[0]![0]).toBe(String(of.rows));
  expect(await run(sums(`${of.read}('${url}')`))).toEqual(expected);
  expect(
    await run(`SELECT file FROM glob('s3://photos/tables/${of.rows}.*') WHERE file = '${url}'`),
  ).toEqual([[url]]);
  // A large file has the entity tag of an upload in parts.
  const client = new S3Client({
    endpoint: project.url,
    region: "auto",
    forcePathStyle: true,
    credentials: { accessKeyId: id!, secretAccessKey: secret! },
  });
  const { ETag } = await client.send(
    new HeadObjectCommand({ Bucket: "photos", Key: `tables/${name}` }),
  );
  expect(/-\d+"$/.test(ETag!)).toBe(of.rows > 1000);
  const exported = join(await project.export("photos"), "tables", name);
  expect(await run(sums(`${of.read}('${exported}')`))).toEqual(expected);
});
