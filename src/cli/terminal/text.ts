/** A text beside its label, indented to `column` and wrapped to `width` columns, if any; a wider word stands alone. */
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

/** Bytes in megabytes: `12.5 MB`. */
export function sizeText(bytes: number): string {
  return `${megabytes(bytes)} MB`;
}

/** Bytes as a number of megabytes: `12.5`. */
export function megabytes(bytes: number): string {
  return (bytes / 1_000_000).toFixed(1);
}

/** Seconds as people say them: `40 s`, `3 min 20 s`, `2 h 5 min`. */
export function durationText(seconds: number): string {
  const rounded = Math.round(seconds);
  if (rounded < 60) return `${rounded} s`;
  const minutes = Math.floor(rounded / 60);
  if (minutes < 60) return `${minutes} min${rounded % 60 === 0 ? '' : ` ${rounded % 60} s`}`;
  return `${Math.floor(minutes / 60)} h${minutes % 60 === 0 ? '' : ` ${minutes % 60} min`}`;
}

/** When a failed attempt is repeated, as a sentence; `wait` in milliseconds. */
export function nextTryText(wait: number): string {
  return `Next try in ${(wait / 1000).toFixed(1)} s.`;
}
