/** A command's access to DNS: the API of a server, for as long as the command runs. */
import { readConfig, type ProjectConfig } from "../../config/read-config.ts";
import { ApiClient } from "../../dns/client/api-client.ts";
import { withCleanup } from "../cleanup.ts";
import type { Invocation } from "../command.ts";
import { configSelection, defined, textOption } from "../options.ts";
import { findServer, type DnsServer } from "./find-server.ts";

export interface DnsSession {
  readonly api: ApiClient;
  readonly project: ProjectConfig;
  /** Where the server answers over UDP and TCP; `null` when that is not known. */
  readonly dns: DnsServer["dns"];
}

/** @param options.listen whether `work` needs UDP and TCP */
export async function withDns<Result>(
  invocation: Invocation,
  work: (session: DnsSession) => Promise<Result>,
  { listen = false }: { listen?: boolean } = {},
): Promise<Result> {
  const project = readConfig(configSelection(invocation));
  const server = await findServer(invocation, project, listen);
  const { url, dns, email, key } = server;
  return withCleanup(
    async () => {
      const credentials = defined({
        email: textOption(invocation, "email") ?? email,
        key: textOption(invocation, "key") ?? key,
        token: textOption(invocation, "token"),
      });
      return work({ api: new ApiClient(url, credentials), project, dns });
    },
    async () => server.stop?.(),
  );
}
