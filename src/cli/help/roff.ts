import type { Block } from './pages.ts';

const WIDTH = 78;

/** Text of man(7) that shows as it is: in examples and names, hyphens and quotes must survive a copy. */
export function escaped(text: string): string {
  const signs: Readonly<Record<string, string>> = {
    '\\': '\\e',
    '-': '\\-',
    "'": '\\(aq',
    '"': '\\(dq',
    '`': '\\(ga',
    '^': '\\(ha',
    '~': '\\(ti',
  };
  return text
    .replace(/[\\\-'"`^~]/g, (sign) => signs[sign] ?? sign)
    .replace(
      /[^\n\x20-\x7e]/gu,
      (sign) => `\\[u${(sign.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}]`,
    );
}

/** A macro line whose arguments may hold spaces. */
export function macro(name: string, ...args: readonly string[]): string {
  return [`.${name}`, ...args.map((arg) => (/ |^$/.test(arg) ? `"${arg}"` : arg))].join(' ');
}

/** Running text, in lines that are short and that no formatter takes for a request. */
export function running(text: string): string {
  return text
    .split('\n')
    .map((line) => filled(escaped(line.trim())))
    .filter((line) => line !== '')
    .join('\n.br\n');
}

/** Escaped text in short lines. */
function filled(text: string): string {
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(/ +/)) {
    if (line !== '' && line.length + 1 + word.length > WIDTH) {
      lines.push(line);
      line = word;
    } else {
      line = line === '' ? word : `${line} ${word}`;
    }
  }
  return [...lines, line].map(guarded).join('\n');
}

function guarded(line: string): string {
  return /^[.']/.test(line) ? `\\&${line}` : line;
}

/** Terms in bold, each with its meaning indented below. */
export function terms(rows: readonly (readonly [term: string, meaning: string])[]): string {
  return rows.map(([term, meaning]) => `.TP\n${macro('B', escaped(term))}\n${running(meaning) || '\\&'}`).join('\n');
}

/** Lines that stand as they are. */
export function literal(lines: readonly string[]): string {
  return ['.RS 4', '.nf', ...lines.map((line) => guarded(broken(escaped(line)))), '.fi', '.RE'].join('\n');
}

/** A long line continues in the source after a `\c`-like join that the reader does not see. */
function broken(line: string): string {
  if (line.length <= WIDTH) return line;
  const at = line.lastIndexOf(' ', WIDTH - 1);
  return at <= 0 ? line : `${line.slice(0, at)}\\ \\c\n${guarded(broken(line.slice(at + 1)))}`;
}

export function blocks(parts: readonly Block[]): string {
  return parts
    .map((block, at) => {
      if (typeof block === 'string') return at === 0 ? running(block) : `.PP\n${running(block)}`;
      if ('rows' in block) return terms(block.rows);
      return `${at === 0 ? '' : '.PP\n'}${literal(block.code)}`;
    })
    .join('\n');
}

/** The date that pages bear; set by hand at a release, so that the same sources give the same pages. */
const DATE = '2026-11-21';

/** The first lines of a page. */
export function head(name: string, section: number, about: string): string {
  return [
    macro('TH', escaped(name.toUpperCase()), String(section), DATE, 'molar', 'molar manual'),
    // Names of flags and fields are not to be hyphenated, nor lines spread.
    '.nh',
    '.ad l',
    '.SH NAME',
    filled(`${escaped(name)} \\- ${escaped(about)}`),
  ].join('\n');
}

/** References to other pages, sorted as given. */
export function seeAlso(references: readonly string[]): string {
  const lines = references.map((reference, at) => {
    const [, name = '', rest = ''] = /^(.*)(\(\d\))$/.exec(reference) ?? [];
    return macro('BR', escaped(name), `${rest}${at === references.length - 1 ? '' : ','}`);
  });
  return ['.SH SEE ALSO', ...lines].join('\n');
}
