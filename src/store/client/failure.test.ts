import { describe, expect, it } from "vitest";
import { hideOwnFrames } from "./failure.ts";

const own = "    at settle (ledge-internal:store-binding:1:10559)";
const ownAsync = "    at async #i (ledge-internal:store-binding:1:35592)";
const ownRemote = "    at RemoteCalls.call (ledge-internal:store-remote-binding:1:7)";
const user = "    at async save (file:///project/index.ts:2:3)";

function errorWith(...lines: string[]): Error {
  const error = new Error("no");
  error.stack = ["Error: no", ...lines].join("\n");
  return error;
}

describe("hideOwnFrames()", () => {
  it("leaves the frames of the user", () => {
    expect(hideOwnFrames(errorWith(own, ownRemote, ownAsync, user)).stack).toBe(
      `Error: no\n${user}`,
    );
  });

  it("keeps the stack of an error that has no other frames", () => {
    expect(hideOwnFrames(errorWith(own)).stack).toBe(`Error: no\n${own}`);
  });

  it("keeps a message of several lines", () => {
    const error = errorWith(own, user);
    error.stack = `Error: one\ntwo\n${own}\n${user}`;
    expect(hideOwnFrames(error).stack).toBe(`Error: one\ntwo\n${user}`);
  });

  it("returns what is not an error as it is", () => {
    expect(hideOwnFrames("text")).toBe("text");
  });
});
