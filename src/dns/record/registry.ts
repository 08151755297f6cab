/** All record types. A new type needs a file and an entry here. */
import { a } from "./a.ts";
import { aaaa } from "./aaaa.ts";
import { caa } from "./caa.ts";
import { cert } from "./cert.ts";
import { cname } from "./cname.ts";
import { dnskey } from "./dnskey.ts";
import { ds } from "./ds.ts";
import { https } from "./https.ts";
import { loc } from "./loc.ts";
import { mx } from "./mx.ts";
import { naptr } from "./naptr.ts";
import { ns } from "./ns.ts";
import { openpgpkey } from "./openpgpkey.ts";
import { ptr } from "./ptr.ts";
import type { RecordType } from "./record-type.ts";
import { soa } from "./soa.ts";
import { smimea } from "./smimea.ts";
import { srv } from "./srv.ts";
import { sshfp } from "./sshfp.ts";
import { svcb } from "./svcb.ts";
import { tlsa } from "./tlsa.ts";
import { txt } from "./txt.ts";
import { uri } from "./uri.ts";

const types = [
  a,
  aaaa,
  caa,
  cert,
  cname,
  dnskey,
  ds,
  https,
  loc,
  mx,
  naptr,
  ns,
  openpgpkey,
  ptr,
  smimea,
  soa,
  srv,
  sshfp,
  svcb,
  tlsa,
  txt,
  uri,
];

export const recordTypes: ReadonlyMap<string, RecordType> = new Map(
  types.map((type) => [type.type, type]),
);

const typesByCode = new Map(types.map((type) => [type.code, type]));

/** `undefined` for a type that the API does not support. */
export function recordTypeByCode(code: number): RecordType | undefined {
  return typesByCode.get(code);
}

/** For types of stored records: an unknown type is a broken invariant. */
export function recordType(name: string): RecordType {
  const type = recordTypes.get(name);
  if (type === undefined) throw new Error(`Record type ${name} is not registered`);
  return type;
}
