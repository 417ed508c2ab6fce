// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for.
const UNSAFE = /[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]/g;

/** Text of the server that is safe for a terminal: on one line, without control, escape or direction characters. */
export function terminalText(text: string): string {
  return text.replace(/\r\n|[\n\r\t\u2028\u2029]/g, ' ').replace(UNSAFE, '\ufffd');
}

/** Maximum characters of a message: a longer one pushes the rest out of sight. */
const MAX_MESSAGE = 2000;

/** A message on one line that is safe for a terminal, truncated where it is too long. */
export function terminalMessage(text: string): string {
  return terminalText(text.length > MAX_MESSAGE ? `${text.slice(0, MAX_MESSAGE - 1)}…` : text);
}

/** Lines that are safe for a terminal: control characters are replaced, line ends and tabs stay. */
export function terminalLines(text: string): string {
  return text.replace(UNSAFE, (sign, at: number) =>
    sign === '\n' || sign === '\t' || (sign === '\r' && text[at + 1] === '\n') ? sign : '\ufffd',
  );
}

/** A table or page that is safe for a terminal: molar's own colours (`style.ts`) stay, other control characters are replaced. */
export function terminalDrawing(text: string): string {
  return text.replace(UNSAFE, (sign, at: number) =>
    sign === '\n' || (sign === '\u001b' && /^\[\d{1,2}m/.test(text.slice(at + 1, at + 5))) ? sign : '\ufffd',
  );
}

/** JSON that is safe for a terminal: the same values, with control characters as escapes of JSON. */
export function terminalJson(text: string): string {
  return text.replace(UNSAFE, (sign) =>
    sign === '\n' ? sign : `\\u${(sign.codePointAt(0) ?? 0).toString(16).padStart(4, '0')}`,
  );
}

/** Columns of a terminal that a text takes: wide characters and emoji take two, combining marks none. */
export function displayWidth(text: string): number {
  if (/^[\x20-\x7e]*$/.test(text)) return text.length;
  let width = 0;
  for (const { segment } of segmenter().segment(text)) width += graphemeWidth(segment);
  return width;
}

/** The text in at most `width` columns: truncated between characters, with … in place of the rest. */
export function fitText(text: string, width: number): string {
  if (displayWidth(text) <= width) return text;
  let fitting = '';
  let used = 0;
  for (const { segment } of segmenter().segment(text)) {
    const next = graphemeWidth(segment);
    if (used + next > width - 1) break;
    fitting += segment;
    used += next;
  }
  return `${fitting.trimEnd()}…`;
}

/** The text in lines of at most `width` columns, broken at spaces; a word that is wider is broken between characters. */
export function wrapText(text: string, width: number): string[] {
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(' ')) {
    const joined = line === '' ? word : `${line} ${word}`;
    if (displayWidth(joined) <= width) {
      line = joined;
      continue;
    }
    if (line !== '') lines.push(line);
    const pieces = piecesOf(word, width);
    line = pieces.pop() ?? '';
    lines.push(...pieces);
  }
  return [...lines, line];
}

function piecesOf(word: string, width: number): string[] {
  if (displayWidth(word) <= width) return [word];
  const pieces = [''];
  let used = 0;
  for (const { segment } of segmenter().segment(word)) {
    const next = graphemeWidth(segment);
    if (used + next > width && used > 0) {
      pieces.push('');
      used = 0;
    }
    pieces[pieces.length - 1] += segment;
    used += next;
  }
  return pieces;
}

let cached: Intl.Segmenter | undefined;

function segmenter(): Intl.Segmenter {
  cached ??= new Intl.Segmenter('en', { granularity: 'grapheme' });
  return cached;
}

/** First and last code points of the ranges that terminals show two columns wide (Unicode East Asian Width W and F). */
const WIDE: readonly (readonly [number, number])[] = [
  [0x1100, 0x115f],
  [0x2e80, 0x303e],
  [0x3041, 0xa4cf],
  [0xa960, 0xa97c],
  [0xac00, 0xd7a3],
  [0xf900, 0xfaff],
  [0xfe30, 0xfe6f],
  [0xff00, 0xff60],
  [0xffe0, 0xffe6],
  [0x1f300, 0x1faff],
  [0x20000, 0x3fffd],
];

function graphemeWidth(grapheme: string): number {
  const point = grapheme.codePointAt(0) ?? 0;
  if (/^[\p{Mn}\p{Me}\u200b-\u200d]/u.test(grapheme)) return 0;
  if (/\ufe0f/.test(grapheme) || /^\p{Emoji_Presentation}/u.test(grapheme)) return 2;
  return WIDE.some(([first, last]) => point >= first && point <= last) ? 2 : 1;
}
