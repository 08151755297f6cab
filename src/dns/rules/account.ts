/** The account of the emulated service, and the form of its credentials. */
export interface Account {
  readonly id: string;
  readonly name: string;
  readonly email: string;
}

/**
 * The forms apply to request headers and to the configuration: no request could send a configured
 * secret of another form.
 */
export const emailPattern = /^[^\s@]+@[^\s@]+$/;
export const keyPattern = /^[A-Za-z0-9_-]{16,128}$/;
export const tokenPattern = /^[\x21-\x7e]{8,512}$/;
