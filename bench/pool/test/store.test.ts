import { env } from "cloudflare:workers";
import { putAndRead } from "./put-and-read.ts";

putAndRead((env as never)["STORE"]);
