/**
 * Reads JSON text into nodes that keep what `JSON.parse()` loses: the digits of numbers, the order of
 * members, and names that occur twice. The reader has a stack of its own, so no depth is too deep. The
 * beginning of a longer text is read as far as the text goes: containers that are not closed are cut.
 */
export type JsonNode =
  | JsonObject
  | JsonArray
  | { readonly kind: "string"; readonly text: string }
  /** The number as the text has it. */
  | { readonly kind: "number"; readonly literal: string }
  | { readonly kind: "word"; readonly word: "true" | "false" | "null" };

interface JsonObject {
  readonly kind: "object";
  readonly members: JsonMember[];
  /** Whether the text ends before the container does. */
  isCut: boolean;
}

interface JsonArray {
  readonly kind: "array";
  readonly items: JsonNode[];
  isCut: boolean;
}

interface JsonMember {
  readonly name: string;
  readonly value: JsonNode;
}

interface JsonProblem {
  readonly message: string;
  /** From 1. */
  readonly line: number;
  /** From 1, in UTF-16 code units. */
  readonly column: number;
}

export type JsonReading =
  | { readonly root: JsonNode; readonly problem: null }
  | { readonly root: null; readonly problem: JsonProblem };

/** @param isCut whether the text is the beginning of a longer text */
export function readJson(text: string, { isCut }: { readonly isCut: boolean }): JsonReading {
  try {
    return { root: new JsonReader(text, isCut).read(), problem: null };
  } catch (error) {
    if (!(error instanceof JsonSyntaxError)) throw error;
    const before = text.slice(0, error.at).split("\n");
    const column = (before.at(-1) as string).length + 1;
    return { root: null, problem: { message: error.message, line: before.length, column } };
  }
}

class JsonSyntaxError extends Error {
  override readonly name = "JsonSyntaxError";
  readonly at: number;

  constructor(message: string, at: number) {
    super(message);
    this.at = at;
  }
}

/** The text ends where it was cut. */
const cut = Symbol("cut");

type Container = JsonObject | JsonArray;

class JsonReader {
  readonly #text: string;
  readonly #isCut: boolean;
  /** The containers that are open, with the name of the member that is read. */
  readonly #open: { readonly container: Container; name: string }[] = [];
  #at: number;

  constructor(text: string, isCut: boolean) {
    this.#text = text;
    this.#isCut = isCut;
    // A byte order mark is not JSON, and other readers accept it.
    this.#at = text.startsWith("\uFEFF") ? 1 : 0;
  }

  read(): JsonNode {
    let root: JsonNode | null = null;
    for (;;) {
      const value = this.#readValue();
      if (value === cut) return this.#endCut(root);
      root ??= value;
      const top = this.#open.at(-1);
      if (top?.container.kind === "object") {
        top.container.members.push({ name: top.name, value });
      } else if (top !== undefined) top.container.items.push(value);
      const isOpened = value.kind === "object" || value.kind === "array";
      if (isOpened) this.#open.push({ container: value, name: "" });
      const next = this.#readSeparator(isOpened);
      if (next === cut) return this.#endCut(root);
      if (next === "end") return root;
    }
  }

  #endCut(root: JsonNode | null): JsonNode {
    if (root === null) throw this.#failed("The value is longer than the part that is loaded.");
    for (const { container } of this.#open) container.isCut = true;
    return root;
  }

  /** Reads up to the next value: a comma, the end of containers, the name of a member. */
  #readSeparator(isOpened: boolean): "value" | "end" | typeof cut {
    let isFirst = isOpened;
    for (;;) {
      const character = this.#nextCharacter();
      const top = this.#open.at(-1);
      if (top === undefined) {
        if (character === undefined) return "end";
        throw this.#unexpected("the end of the text");
      }
      if (character === undefined) return this.#ended(closing(top.container));
      if (character === closing(top.container)) {
        this.#at++;
        this.#open.pop();
        isFirst = false;
        continue;
      }
      if (!isFirst) {
        if (character !== ",") throw this.#unexpected(`"," or "${closing(top.container)}"`);
        this.#at++;
      }
      return top.container.kind === "array" ? "value" : this.#readName(top);
    }
  }

  #readName(top: { name: string }): "value" | typeof cut {
    const character = this.#nextCharacter();
    if (character === undefined) return this.#ended("a name in quotation marks");
    if (character !== '"') throw this.#unexpected("a name in quotation marks");
    const name = this.#readString();
    if (name === cut) return cut;
    const colon = this.#nextCharacter();
    if (colon === undefined) return this.#ended('":"');
    if (colon !== ":") throw this.#unexpected('":"');
    this.#at++;
    top.name = name;
    return "value";
  }

  #readValue(): JsonNode | typeof cut {
    const character = this.#nextCharacter();
    if (character === undefined) return this.#ended("a value");
    if (character === "{") {
      this.#at++;
      return { kind: "object", members: [], isCut: false };
    }
    if (character === "[") {
      this.#at++;
      return { kind: "array", items: [], isCut: false };
    }
    if (character === '"') {
      const text = this.#readString();
      return text === cut ? cut : { kind: "string", text };
    }
    return this.#readNumberOrWord();
  }

  #readNumberOrWord(): JsonNode | typeof cut {
    const pattern = /[-+.\w]+/y;
    pattern.lastIndex = this.#at;
    const literal = pattern.exec(this.#text)?.[0] ?? "";
    const end = this.#at + literal.length;
    // What follows the part that is loaded may belong to the literal.
    if (literal !== "" && end === this.#text.length && this.#isCut) return cut;
    if (literal === "true" || literal === "false" || literal === "null") {
      this.#at = end;
      return { kind: "word", word: literal };
    }
    if (!/^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][-+]?\d+)?$/.test(literal)) {
      throw this.#unexpected("a value");
    }
    this.#at = end;
    return { kind: "number", literal };
  }

  #readString(): string | typeof cut {
    const start = this.#at;
    let end = start + 1;
    for (; this.#text[end] !== '"'; end++) {
      if (end >= this.#text.length) return this.#ended("the end of a string");
      if (this.#text[end] === "\\") end++;
    }
    try {
      const value = JSON.parse(this.#text.slice(start, end + 1)) as string;
      this.#at = end + 1;
      return value;
    } catch {
      throw this.#failed("A string has a line break, a control character or an unknown escape.");
    }
  }

  /** The next character that is not white space; `undefined` at the end. */
  #nextCharacter(): string | undefined {
    for (;;) {
      const character = this.#text[this.#at];
      if (character === " " || character === "\n" || character === "\r" || character === "\t") {
        this.#at++;
      } else return character;
    }
  }

  #ended(expected: string): typeof cut {
    if (this.#isCut) return cut;
    this.#at = this.#text.length;
    throw this.#failed(`The text ends where ${expected} is expected.`);
  }

  #unexpected(expected: string): JsonSyntaxError {
    const found = String.fromCodePoint(this.#text.codePointAt(this.#at) as number);
    return this.#failed(`Found ${JSON.stringify(found)} where ${expected} is expected.`);
  }

  #failed(message: string): JsonSyntaxError {
    return new JsonSyntaxError(message, this.#at);
  }
}

function closing(container: Container): "}" | "]" {
  return container.kind === "object" ? "}" : "]";
}
