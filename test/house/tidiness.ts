import { codeOf } from './code.ts';
import type { TreeFile } from './tree.ts';

export const LINES = 250;
/** Tables of cases make tests longer. */
export const TEST_LINES = 300;
/** Folders below src: `src/server/store/sqlite/` is three deep. */
export const DEPTH = 3;

/** What one file does that the house forbids, each with its line. */
export function untidy(file: TreeFile): string[] {
  const code = codeOf(file.text);
  return [...RULES]
    .filter((rule) => rule.where.test(file.path) && rule.except !== file.path)
    .flatMap((rule) => matches(file, rule.in === 'text' ? file.text : code, rule));
}

interface Rule {
  readonly what: string;
  readonly where: RegExp;
  readonly except?: string;
  /** `code` is searched without comments and strings. */
  readonly in: 'code' | 'text';
  readonly pattern: RegExp;
}

const EVERYWHERE = /\.[jt]s$/;
const SOURCE = /^src\/.*\.ts$/;

const RULES: readonly Rule[] = [
  {
    what: 'an unfinished mark',
    where: EVERYWHERE,
    in: 'text',
    // Split, so that this file passes its own rule.
    pattern: new RegExp(
      `\\b(?:${['TO' + 'DO', 'FIX' + 'ME', 'XX' + 'X', 'HA' + 'CK'].join('|')})\\b|[Nn]ot impl${'emented'}`,
    ),
  },
  {
    what: 'any',
    where: EVERYWHERE,
    in: 'code',
    pattern: /(?:[:<|&,=(]|\bas|\bextends)\s*any\b(?!\s*[\w:(.])|\bany\[\]/,
  },
  {
    what: 'a test that does not run, or runs alone',
    where: /^test\//,
    in: 'code',
    pattern: /\b(?:it|test|describe|suite|bench)(?:\.\w+)*\.(?:only|skip|skipIf|runIf|todo|fails)\b/,
  },
  {
    what: 'the process streams',
    where: SOURCE,
    except: 'src/cli/terminal/streams.ts',
    in: 'code',
    pattern: /\bprocess\s*(?:\?\.|\.)\s*(?:stdout|stderr|stdin)\b|\bconsole\s*\./,
  },
  {
    what: 'the process streams, by import or by name',
    where: SOURCE,
    except: 'src/cli/terminal/streams.ts',
    in: 'text',
    pattern: /^import\b.*\b(?:stdout|stderr|stdin)\b.*'node:process'|\bprocess\s*\[|=\s*process\s*;/m,
  },
  { what: 'process', where: /^src\/(?:catalog|core)\//, in: 'code', pattern: /\bprocess\s*(?:\.|\?\.|\[)/ },
];

function matches({ path, text }: TreeFile, searched: string, { pattern, what }: Rule): string[] {
  const shown = text.split('\n');
  return searched
    .split('\n')
    .flatMap((line, at) => (pattern.test(line) ? [`${path}:${at + 1} has ${what}: ${shown[at]?.trim()}`] : []));
}

/** What is wrong with a source file's size and place, or undefined. */
export function misplaced({ path, text }: TreeFile): string | undefined {
  const lines = text.split('\n').length - 1;
  const most = path.startsWith('test/') ? TEST_LINES : LINES;
  if (lines > most) return `${path} has ${lines} lines; ${most} are the most`;
  const depth = path.split('/').length - 2;
  return path.startsWith('src/') && depth > DEPTH
    ? `${path} is ${depth} folders deep; ${DEPTH} are the most`
    : undefined;
}
