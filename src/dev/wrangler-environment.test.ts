import { expect, it, onTestFinished } from "vitest";
import { enterEnvironment } from "./wrangler-environment.ts";

it("sets variables until the last server has stopped, and leaves those of the user", () => {
  process.env["LEDGE_TEST_USER"] = "mine";
  onTestFinished(() => void delete process.env["LEDGE_TEST_USER"]);
  const leaveFirst = enterEnvironment({ LEDGE_TEST_OURS: "first", LEDGE_TEST_USER: "ours" });
  const leaveSecond = enterEnvironment({ LEDGE_TEST_OURS: "second" });
  expect(process.env["LEDGE_TEST_OURS"]).toBe("first");
  expect(process.env["LEDGE_TEST_USER"]).toBe("mine");
  leaveFirst();
  leaveFirst();
  expect(process.env["LEDGE_TEST_OURS"]).toBe("first");
  leaveSecond();
  expect(process.env["LEDGE_TEST_OURS"]).toBeUndefined();
  expect(process.env["LEDGE_TEST_USER"]).toBe("mine");
});
