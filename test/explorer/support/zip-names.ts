/** The names of a zip file, by the directory at its end. The file has no ZIP64 records. */
export function zipNames(file: Buffer): string[] {
  const end = file.length - 22;
  if (file.readUInt32LE(end) !== 0x06054b50) throw new Error("The file is no whole zip file.");
  const count = file.readUInt16LE(end + 10);
  const names: string[] = [];
  let position = file.readUInt32LE(end + 16);
  while (names.length < count) {
    if (file.readUInt32LE(position) !== 0x02014b50) throw new Error("An entry is missing.");
    const nameLength = file.readUInt16LE(position + 28);
    const nameStart = position + 46;
    names.push(file.toString("utf8", nameStart, nameStart + nameLength));
    position = nameStart + nameLength + file.readUInt16LE(position + 30);
  }
  return names;
}
