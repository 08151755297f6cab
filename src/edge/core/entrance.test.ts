import { expect, it } from "vitest";
import { entranceHeader, entranceHeaders, parseEntrance } from "./entrance.ts";

const token = "0123abcd";

it.each([
  ["https://photos.example.com", 0],
  ["http://photos.example.com:8080", 3],
])("parseEntrance() reads %s after %i hops", (origin, hops) => {
  const value = entranceHeaders({ token }, origin, hops)[entranceHeader] as string;
  expect(parseEntrance(value, token)).toEqual({ origin, hops });
});

it.each([
  "",
  token,
  "other https://photos.example.com 0",
  `${token} photos.example.com 0`,
  `${token} https://user@photos.example.com 0`,
  `${token} https://photos.example.com/path 0`,
])("parseEntrance() believes no %j", (value) => {
  expect(parseEntrance(value, token)).toBeNull();
});
