import { expect, it } from "vitest";
import { readWay, renderWay, wayMark } from "./way.ts";

const way = {
  method: "GET",
  url: "http://app.example.com/a",
  name: "app.example.com",
  record: "A app.example.com 127.0.0.1",
  route: null,
  to: "origin 127.0.0.1:3000",
  status: 200,
  at: 1000,
  milliseconds: 3,
};

it("readWay() reads the line of the edge worker, and no other line", () => {
  expect(readWay(wayMark + JSON.stringify(way))).toEqual(way);
  expect(readWay(JSON.stringify(way))).toBeNull();
});

it("renderWay() names each step", () => {
  expect(renderWay(way)).toBe(
    "GET http://app.example.com/a → A app.example.com 127.0.0.1 → origin 127.0.0.1:3000  200 (3 ms)",
  );
});
