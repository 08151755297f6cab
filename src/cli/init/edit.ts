/** The change of one file, and what a user has to do by hand. */

export interface FileEdit {
  /** Relative to the folder of the command, with slashes. */
  readonly path: string;
  /** `null` for a new file. */
  readonly before: string | null;
  readonly after: string;
}

/** The text of a file after an edit. */
export interface EditedText {
  readonly text: string;
  /** Sentences about what the edit leaves to the user. */
  readonly notes: readonly string[];
}
