import { Code } from '../jsonscan/tokens.ts';

/** Depth of what is directly within an array of the page's object. */
const ENTRY = 2;

/**
 * The records in the `data` of a page, each as it is written there; undefined where the page has blanks between its values.
 * The page must be valid JSON.
 */
export function recordTexts(page: string): readonly string[] | undefined {
  let found: string[] = [];
  let [depth, start, isData] = [0, 0, false];
  for (let at = 0; at < page.length; at++) {
    const code = page.charCodeAt(at);
    if (code === Code.quote) {
      const opening = at;
      at = endOfString(page, at);
      const isName = depth === 1 && page.charCodeAt(at + 1) === Code.colon;
      if (isName) isData = page.slice(opening, at + 1) === '"data"';
    } else if (code === Code.openObject) {
      if (depth++ === ENTRY) start = at;
    } else if (code === Code.closeObject) {
      if (--depth === 0) break;
      if (depth === ENTRY && isData) found.push(page.slice(start, at + 1));
    } else if (code === Code.openArray) {
      // Of members with the same name the last one counts.
      if (depth++ === 1 && isData) found = [];
    } else if (code === Code.closeArray) depth--;
    else if (code <= SPACE) return undefined;
  }
  return found;
}

const SPACE = 0x20;

/** Where the string ends that begins at a place. */
function endOfString(text: string, start: number): number {
  let at = start + 1;
  for (let code = text.charCodeAt(at); code !== Code.quote; code = text.charCodeAt(++at)) {
    if (code === Code.backslash) at++;
  }
  return at;
}
