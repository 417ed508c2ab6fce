/** A record as it stands in the output: a part of the text of its page. */
export class RecordText {
  /** As the server sent it. */
  readonly id: unknown;
  /** Text in UTF-8 of all the lines of its page, one after another. */
  readonly page: Uint8Array;
  readonly start: number;
  readonly end: number;

  constructor(id: unknown, page: Uint8Array, start: number, end: number) {
    this.id = id;
    this.page = page;
    this.start = start;
    this.end = end;
  }
}

/** The text of lines; without a copy where they follow each other in a page, as they do. */
export function joined(lines: readonly RecordText[]): Uint8Array {
  const parts: Uint8Array[] = [];
  for (let first = 0, next = 1; first < lines.length; first = next++) {
    const { page, start, end } = lines[first] as RecordText;
    let last = end;
    for (; lines[next]?.page === page && lines[next]?.start === last; next++) last = (lines[next] as RecordText).end;
    parts.push(page.subarray(start, last));
  }
  const [only] = parts;
  return parts.length === 1 && only !== undefined ? only : Buffer.concat(parts);
}
