/** `ledge init`: writes a new project into an empty folder. */
import { relative, resolve } from "node:path";
import type { LeafCommand } from "./command.ts";
import { textOption } from "./options.ts";

export const init: LeafCommand = {
  name: "init",
  summary: "Writes a new TypeScript project into an empty folder",
  details:
    "The project has a script with a bucket, a test, and the configuration of both. The command\n" +
    "installs and downloads nothing, and changes nothing in a folder that has files.",
  arguments: [
    { name: "DIR", summary: "The folder; by default the working folder", optional: true },
  ],
  options: {
    name: { summary: "The name of the project", value: "NAME", default: "the folder's name" },
  },
  examples: ["ledge init photos", "ledge init . --name photos"],

  async run(invocation) {
    const folder = resolve(invocation.arguments[0] ?? ".");
    const { projectName, writeProject } = await import("./init-project.ts");
    const name = textOption(invocation, "name") ?? projectName(folder);
    const paths = writeProject(folder, name);
    const step = relative(process.cwd(), folder);
    console.log(
      [
        `Made the project "${name}":`,
        ...paths.map((path) => `  ${path}`),
        "",
        "Next:",
        ...(step === "" ? [] : [`  cd ${step}`]),
        "  npm install",
        "  npm run dev",
      ].join("\n"),
    );
  },
};
