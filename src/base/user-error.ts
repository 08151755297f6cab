/** An error that the user can correct. The message says what is wrong and what to do. */
export class UserError extends Error {
  override readonly name = "UserError";
}

/** A thing that the user named does not exist. */
export class NotFoundError extends UserError {}
