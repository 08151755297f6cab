/**
 * What credentials look like. The headers of a request are held against these, and so is the
 * configuration: a secret that no request can carry would lock its owner out.
 */
export const emailPattern = /^[^\s@]+@[^\s@]+$/;
export const keyPattern = /^[A-Za-z0-9_-]{16,128}$/;
export const tokenPattern = /^[\x21-\x7e]{8,512}$/;
