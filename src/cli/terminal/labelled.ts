/**
 * A text beside its label, in lines of at most `width` columns that begin where the first does; one line where there
 * is no width. A word that is wider stands alone, uncut.
 */
export function labelled(label: string, text: string, column: number, width: number | undefined): string {
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(' ')) {
    if (line !== '' && width !== undefined && column + line.length + 1 + word.length > width) {
      lines.push(line);
      line = word;
    } else {
      line = line === '' ? word : `${line} ${word}`;
    }
  }
  return [...lines, line]
    .map((each, at) => `${at === 0 ? label.padEnd(column) : ' '.repeat(column)}${each}\n`)
    .join('');
}
