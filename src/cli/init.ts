/** `ledge init` */
import { relative } from "node:path";
import type { LeafCommand } from "./command.ts";

export const init: LeafCommand = {
  name: "init",
  summary: "Makes a new TypeScript project in an empty folder.",
  details:
    "It has a script with a bucket, a test, and the configuration for both. Nothing is installed or\nfetched, and a folder that has files is left as it is.",
  arguments: [
    { name: "DIR", summary: "The folder; the working folder without it", optional: true },
  ],
  options: {
    name: { summary: "The name of the project", value: "NAME", otherwise: "that of the folder" },
  },
  examples: ["ledge init photos", "ledge init . --name photos"],

  async run({ arguments: [folder], options: { name } }) {
    const { initProject } = await import("./project/init-project.ts");
    const project = initProject({
      ...(folder !== undefined && { folder }),
      ...(typeof name === "string" && { name }),
    });
    const step = relative(process.cwd(), project.folder);
    console.log(
      [
        `Made the project "${project.name}":`,
        ...project.files.map((path) => `  ${path}`),
        "",
        "Next:",
        ...(step === "" ? [] : [`  cd ${step}`]),
        "  npm install",
        "  npm run dev",
      ].join("\n"),
    );
  },
};
