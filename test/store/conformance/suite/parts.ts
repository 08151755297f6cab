/** Parts of multipart uploads, created once because creating 5 MiB is slow. */

export const partBytesMin = 5 * 1024 * 1024;

/** The MD5s are computed by `head -c 5242880 /dev/zero | tr '\0' a | md5sum` and so on. */
export const parts = {
  a: { content: filled("a"), md5: "79b281060d337b9b2b84ccf390adcf74" },
  b: { content: filled("b"), md5: "74843a3ab193a389bced899402d99d5f" },
  tail: { content: "tail", md5: "7aea2552dfe7eb84b9443b6fc9ba6e01" },
  abc: { content: "abc", md5: "900150983cd24fb0d6963f7d28e17f72" },
};

/** The MD5 of the concatenated binary MD5s of the parts, and the number of parts. */
export const etags = {
  aThenTail: "30dcfd3901d1c613b7fb532281748544-2",
  aThenBThenTail: "1af560d38fa58b7629ca9d6c912c720b-3",
  abc: "af5da9f45af7a300e3aded972f8ff687-1",
};

function filled(letter: string): Uint8Array<ArrayBuffer> {
  return new Uint8Array(partBytesMin).fill(letter.charCodeAt(0));
}
