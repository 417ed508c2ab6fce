import { inShell } from '../../shells/line.ts';
import { PROMPTS, type Shell } from '../../shells/shell.ts';
import { type Block, PAGES, type Page } from './pages.ts';

const INDENT = '  ';
const WIDEST_TERM = 28;

/** A page as plain text, no line wider than `width` but lines to be typed, which are for the shell where it has them. */
export function pageText(page: Page, width: number, shell: Shell): string {
  const sections = page.sections.map(
    ({ heading, blocks }) =>
      `${heading.toUpperCase()}\n${blocks.map((block) => blockText(block, width, shell)).join('\n\n')}\n`,
  );
  return `${wrapped(`molar help ${page.name}: ${page.about}`, '', width)}\n\n${sections.join('\n')}`;
}

const FIRST_STEPS: Block = {
  rows: [
    ['molar demo', 'a working day, shown on synthetic data'],
    ['molar login', 'save a connection to a practice'],
    ['molar doctor', 'check the connection, step by step'],
    ['molar patients list', 'the first patients; --csv writes all of them'],
    ['molar patients list --help', 'what a command does and takes, with examples'],
  ],
};

/** Where to begin, for the help on everything. */
export function firstStepsText(width: number): string {
  return `FIRST STEPS\n${blockText(FIRST_STEPS, width, 'sh')}\n`;
}

/** The list of pages, for the end of the help on everything. */
export function pagesText(width: number): string {
  const rows = PAGES.map(({ name, about }): readonly [string, string] => [`molar help ${name}`, about]);
  return `MORE HELP\n${blockText({ rows }, width, 'sh')}\n`;
}

function blockText(block: Block, width: number, shell: Shell): string {
  if (typeof block === 'string') return wrapped(block, INDENT, width);
  if ('code' in block) return codeText(block, shell).join('\n');
  const widest = Math.max(...block.rows.map(([term]) => term.length));
  const column = Math.min(widest, WIDEST_TERM) + 2;
  return block.rows.map(([term, meaning]) => rowText(term, meaning, column, width)).join('\n');
}

/** The lines; all of them as they are, with the prompt of a POSIX shell, where another has no such line as one of them. */
function codeText({ code, isFile }: { readonly code: readonly string[]; readonly isFile?: true }, shell: Shell) {
  if (isFile) return code.map((line) => INDENT + line);
  const typed = code.flatMap((line) => inShell(line, shell) ?? []);
  const [lines, prompt] = typed.length === code.length ? [typed, PROMPTS[shell]] : [code, PROMPTS.sh];
  return lines.map((line) => INDENT + prompt + line);
}

function rowText(term: string, meaning: string, column: number, width: number): string {
  const indent = INDENT + ' '.repeat(column);
  const text = wrapped(meaning, indent, width);
  return term.length + 2 > column
    ? `${INDENT}${term}\n${text}`
    : `${INDENT}${term.padEnd(column)}${text.slice(indent.length)}`;
}

/** Text in lines that begin with the indent; a word that is wider stands alone. */
function wrapped(text: string, indent: string, width: number): string {
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(' ')) {
    if (line !== '' && indent.length + line.length + 1 + word.length > width) {
      lines.push(line);
      line = word;
    } else {
      line = line === '' ? word : `${line} ${word}`;
    }
  }
  return [...lines, line].map((each) => indent + each).join('\n');
}
