import { describe, expect, it } from "vitest";
import { recordTypes } from "../../../dns/record/types.ts";
import { acceptRecord, type RecordRules } from "../../../dns/rules/accept-record.ts";
import { describeRecord } from "../../../dns/rules/record-json.ts";
import type { DnsRecord } from "../../api/zones-api.ts";
import { recordForm, recordForms } from "./record-forms.ts";
import { newValues, problemField, recordRequest, valuesOf } from "./record-values.ts";

const rules: RecordRules = {
  zoneName: "example.org",
  nameRules: "strict",
  platformAddresses: ["198.18.0.1"],
  commentCharactersMax: 100,
  tagsMax: 20,
};
const creatable = Array.from(recordTypes.values()).filter(({ managedBy }) => managedBy === null);

describe("recordForms", () => {
  it("has a form for each type that the record API creates, and no other", () => {
    expect(recordForms.map(({ type }) => type).toSorted()).toEqual(
      creatable.map(({ type }) => type).toSorted(),
    );
  });

  it.each(creatable)("has all fields of $type, where the record API expects them", (type) => {
    const form = recordForm(type.type)!;
    expect(form.fields.map(({ name }) => name)).toEqual(type.fieldNames);
    expect(form.isProxiable ?? false).toBe(type.proxiable);
    for (const { name, place } of form.fields) {
      const expected = type.shape === "data" ? "data" : name;
      expect(type.type === "URI" && name === "priority" ? "priority" : expected).toBe(place);
    }
  });
});

describe("recordRequest()", () => {
  it.each(recordForms)(
    "makes a $type record of the form's examples, and the form of the record",
    (form) => {
      const values = {
        ...newValues(form),
        name: form.nameExample ?? "www",
        comment: "<b>note</b>",
        tags: "a:1, b:2",
        ttl: "300",
        fields: Object.fromEntries(form.fields.map(({ name, example }) => [name, example])),
      };
      const problems: string[] = [];
      const request = recordRequest(form, values);
      const draft = acceptRecord(request, rules, ({ message }) => problems.push(message));
      expect(problems).toEqual([]);
      const record = describeRecord(
        {
          ...draft!,
          id: "1",
          createdOn: "",
          modifiedOn: "",
          commentModifiedOn: null,
          tagsModifiedOn: null,
        },
        { id: "2", name: "example.org" },
      ) as unknown as DnsRecord;
      const again = acceptRecord(recordRequest(form, valuesOf(record)), rules, ({ message }) =>
        problems.push(message),
      );
      expect(problems).toEqual([]);
      expect(again).toEqual(draft);
    },
  );

  it("takes the apex for an empty name, and sends what is no number as it is", () => {
    const form = recordForm("MX")!;
    const values = {
      ...newValues(form),
      ttl: "an hour",
      fields: { priority: "first", content: "" },
    };
    expect(recordRequest(form, values)).toMatchObject({
      name: "@",
      ttl: "an hour",
      priority: "first",
    });
    expect(recordRequest(form, values)).not.toHaveProperty("content");
  });
});

describe("problemField()", () => {
  it.each([
    ["SRV", { weight: "x", port: "" }, ["weight", "port", "target"]],
    ["A", { content: "x" }, ["content"]],
    ["MX", { priority: "70000", content: "not a host" }, ["priority", "content"]],
    ["CAA", { flags: "0", tag: "issue", value: "not a host" }, ["value"]],
  ])("finds the fields of %s that the rules refuse", (type, fields, expected) => {
    const form = recordForm(type)!;
    const found: (string | null)[] = [];
    const values = {
      ...newValues(form),
      name: "www",
      fields: { ...newValues(form).fields, ...fields },
    };
    acceptRecord(recordRequest(form, values), rules, (problem) =>
      found.push(problemField(problem, form)),
    );
    expect(found).toEqual(expected);
  });

  it("finds name, TTL, comment and tags", () => {
    const form = recordForm("A")!;
    const found: (string | null)[] = [];
    const values = {
      ...newValues(form),
      name: "-x-",
      ttl: "5",
      comment: "x".repeat(101),
      tags: "no tag",
      fields: { content: "192.0.2.1" },
    };
    acceptRecord(recordRequest(form, values), rules, (problem) =>
      found.push(problemField(problem, form)),
    );
    expect(new Set(found)).toEqual(new Set(["comment", "name", "tags", "ttl"]));
  });

  it("finds no field for a problem of the whole record", () => {
    const problem = { code: 81058, message: "An identical record already exists." };
    expect(problemField(problem, recordForm("A")!)).toBeNull();
  });
});
