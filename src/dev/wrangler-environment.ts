/**
 * Variables of the environment that wrangler reads while a dev server runs. They are gone when the
 * last dev server of the process has stopped: other programs that the process starts inherit them.
 */
const added = new Set<string>();
let serverCount = 0;

/**
 * Sets the variables that are not set. Returns a function that a server calls when it has stopped,
 * once or several times.
 */
export function enterEnvironment(variables: Readonly<Record<string, string>>): () => void {
  serverCount++;
  for (const [name, value] of Object.entries(variables)) {
    if (process.env[name] !== undefined) continue;
    process.env[name] = value;
    added.add(name);
  }
  let isLeft = false;
  return () => {
    if (isLeft) return;
    isLeft = true;
    serverCount--;
    if (serverCount > 0) return;
    for (const name of added) delete process.env[name];
    added.clear();
  };
}
