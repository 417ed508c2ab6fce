import type { Candidate, Completion, ValueGroup } from './model.ts';
import type { Values } from './values.ts';

/** Names that only the machine has. */
export interface OwnNames {
  readonly profiles: readonly string[];
  /** Of saved statements. */
  readonly queries: readonly string[];
  readonly locations: readonly string[];
  readonly providers: readonly string[];
  readonly operatories: readonly string[];
}

/** Words before the cursor, without the program's own name, and the part of a word that is typed at it. */
export interface Typed {
  readonly before: readonly string[];
  readonly current: string;
}

/** What may stand at the cursor, whole words that begin with what is typed; files are left to the shell. */
export function suggestions(completion: Completion, typed: Typed, own: OwnNames): Candidate[] {
  const { before, current } = typed;
  const { path, count } = commandPath(completion, before);
  const { flag, given } = flagAt(before, current);
  const values = flag === undefined ? undefined : valuesAt(completion.flagValues, [`${path} ${flag}`, `* ${flag}`]);
  const fitting = (candidates: readonly Candidate[]) => candidates.filter(({ word }) => word.startsWith(current));
  if (values !== undefined) return fitting(valueWords(values, current.slice(given.length), own, given));
  if (current.startsWith('-')) return fitting(flagsOf(completion, path));
  // A command may have commands below it and take arguments too.
  const next = count === before.length ? completion.next.find((each) => each.path === path)?.words : undefined;
  const args = valuesAt(completion.arguments, [path]);
  return fitting([...(next ?? []), ...(args === undefined ? [] : valueWords(args, current, own, ''))]);
}

/** The command that the first words name, and how many of them do. */
function commandPath({ next }: Completion, words: readonly string[]): { path: string; count: number } {
  let path = '';
  for (const [count, word] of words.entries()) {
    const known = next.find((each) => each.path === path)?.words.some((each) => each.word === word);
    if (!known) return { path, count };
    path = path === '' ? word : `${path} ${word}`;
  }
  return { path, count: words.length };
}

/** The flag whose value is typed, and what of the word belongs to the flag: `--format=`. */
function flagAt(before: readonly string[], current: string): { flag?: string; given: string } {
  const [given, flag] = /^(--[^=]+)=/.exec(current) ?? [];
  if (given !== undefined && flag !== undefined) return { flag, given };
  const last = before.at(-1);
  return last?.startsWith('-') ? { flag: last, given: '' } : { given: '' };
}

function valuesAt(groups: readonly ValueGroup[], keys: readonly string[]): Values | undefined {
  return keys.map((key) => groups.find((group) => group.keys.includes(key))?.values).find((values) => values);
}

function flagsOf({ flags }: Completion, path: string): Candidate[] {
  return flags.flatMap((group) => (group.paths.includes(path) ? group.flags : []));
}

/** The values as whole words: after `given`, and in a list after the entries that are typed already. */
function valueWords(values: Values, text: string, own: OwnNames, given: string): Candidate[] {
  const head = HEADS[values.kind]?.exec(text);
  const words = 'words' in values ? values.words : values.kind in own ? own[values.kind as keyof OwnNames] : [];
  return words.map((word) => ({ word: `${given}${head?.[0] ?? ''}${word}`, about: '' }));
}

/** What stands before the name that is typed, where a word holds several. */
const HEADS: Partial<Readonly<Record<Values['kind'], RegExp>>> = {
  list: /^.*,/,
  locations: /^.*,/,
  providers: /^.*,/,
  operatories: /^.*,/,
  sort: /^(?:.*,)?-?/,
  sql: /^[\s\S]*[^A-Za-z0-9_]/,
};
