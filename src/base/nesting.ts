/**
 * How deep objects and lists are nested. Serializers and checks call themselves for each level, and
 * run out of stack somewhere above a thousand levels, each at another number. So input has a limit.
 */

/** Far more than any request or configuration needs, and far less than any parser survives. */
export const nestingLevelsMax = 100;

export function isNestedTooDeep(value: unknown): boolean {
  let level = [value].filter(isContainer);
  for (let count = 0; count < nestingLevelsMax && level.length > 0; count++) {
    level = level.flatMap((container) => Object.values(container).filter(isContainer));
  }
  return level.length > 0;
}

function isContainer(value: unknown): value is object {
  return typeof value === "object" && value !== null;
}
