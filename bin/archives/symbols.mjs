// What a Linux program carries for debuggers alone: a seventh of Node, which nobody who runs molar has a use for.

/** Where the header of an ELF file of 64 bits has the place, the number and the names of its sections. */
const [SECTIONS, COUNT, NAMES] = [0x28, 0x3c, 0x3e];

/** The size of a section's header, and where its flags, place and size are in it. */
const HEADER = 64;
const [TYPE, FLAGS, PLACE, SIZE] = [4, 8, 24, 32];

/** The type of sections without bytes in the file, and the flag of those that are loaded. */
const NOBITS = 8;
const LOADED = 2n;

/**
 * A Linux program without the sections that are not loaded when it runs, as `strip` makes it, but for any processor and
 * with the same bytes on every machine. Throws where they do not follow those that are.
 */
export function withoutSymbols(program) {
  const [at, count] = [Number(program.readBigUInt64LE(SECTIONS)), program.readUInt16LE(COUNT)];
  const headers = Array.from({ length: count }, (_, index) =>
    program.subarray(at + index * HEADER).subarray(0, HEADER),
  );
  const numberAt = (header, offset) => Number(header.readBigUInt64LE(offset));
  const isLoaded = (header) => (header.readBigUInt64LE(FLAGS) & LOADED) !== 0n;
  const endOf = (header) =>
    numberAt(header, PLACE) + (header.readUInt32LE(TYPE) === NOBITS ? 0 : numberAt(header, SIZE));
  const last = headers.findLastIndex(isLoaded);
  const [kept, dropped] = [headers.slice(0, last + 1), headers.slice(last + 1)];
  const end = Math.max(...kept.map(endOf));
  if (kept.slice(1).some((each) => !isLoaded(each)) || dropped.some((each) => numberAt(each, PLACE) < end)) {
    throw new Error('The symbols of Node are not at its end.');
  }
  const names = Buffer.from(headers[program.readUInt16LE(NAMES)]);
  const text = program.subarray(numberAt(names, PLACE), endOf(names));
  const table = Math.ceil((end + text.length) / 8) * 8;
  names.writeBigUInt64LE(BigInt(end), PLACE);
  const result = Buffer.alloc(table + (kept.length + 1) * HEADER);
  program.copy(result, 0, 0, end);
  text.copy(result, end);
  for (const [index, header] of [...kept, names].entries()) header.copy(result, table + index * HEADER);
  result.writeBigUInt64LE(BigInt(table), SECTIONS);
  result.writeUInt16LE(kept.length + 1, COUNT);
  result.writeUInt16LE(kept.length, NAMES);
  return result;
}
