import type { TreeFile } from './tree.ts';

export const LINES = 300;
/** Folders below src: `src/server/store/sqlite/` is three deep. */
export const DEPTH = 3;

// Split, so that this file passes its own rule.
const UNFINISHED = new RegExp(
  `\\b(?:${['TO' + 'DO', 'FIX' + 'ME', 'XX' + 'X', 'HA' + 'CK'].join('|')})\\b|[Nn]ot impl${'emented'}`,
);

/** Marks of unfinished work in a file, each with its line. */
export function unfinished({ path, text }: TreeFile): string[] {
  const lines = text.split('\n');
  return lines.flatMap((line, at) =>
    UNFINISHED.test(line) ? [`${path}:${at + 1} is unfinished: ${line.trim()}`] : [],
  );
}

/** What is wrong with a source file's size and place, or undefined. */
export function misplaced({ path, text }: TreeFile): string | undefined {
  const lines = text.split('\n').length - 1;
  if (lines > LINES) return `${path} has ${lines} lines; the limit is ${LINES}`;
  const depth = path.split('/').length - 2;
  return path.startsWith('src/') && depth > DEPTH
    ? `${path} is ${depth} folders deep; the limit is ${DEPTH}`
    : undefined;
}
