/** Arguments and options that several commands of `ledge dns` share. */
import type { Argument, Option } from "../command.ts";
import { projectOptions } from "../options.ts";

export const zoneArgument: Argument = { name: "ZONE", summary: "The name or the id of a zone" };
export const nameArgument: Argument = {
  name: "NAME",
  summary: 'A name in the zone, relative or full; "@" is the zone itself',
};
export const typeArgument: Argument = {
  name: "TYPE",
  summary: "The type of the record, such as A or TXT",
};
export const contentArgument: Argument = {
  name: "CONTENT",
  summary: "The data of the record, as in a zone file",
  repeated: true,
};

/** The arguments that describe one record. */
export const recordArguments = [zoneArgument, nameArgument, typeArgument, contentArgument];

/** Which server, and its credentials. */
export const serverOptions: Record<string, Option> = {
  ...projectOptions,
  url: {
    summary: "The API of another server",
    value: "URL",
    default: "the running server of the project, or a server for this command",
  },
  email: { summary: "The e-mail address that belongs to --key", value: "EMAIL" },
  key: { summary: "The account's key", value: "KEY", default: "the server's" },
  token: { summary: "A token, instead of --email and --key", value: "TOKEN" },
};

export const recordOptions: Record<string, Option> = {
  ttl: { summary: "Seconds, 60 to 86400; 1 stands for automatic", value: "SECONDS" },
  proxied: { summary: "Answers with the addresses of the platform" },
  "dns-only": { summary: "Answers with the record itself" },
  priority: { summary: "The priority of MX, SRV or URI, if CONTENT has none", value: "NUMBER" },
  comment: { summary: "A comment; empty text removes it", value: "TEXT" },
  tag: { summary: "A tag of the record", value: "NAME:VALUE", repeated: true },
};
