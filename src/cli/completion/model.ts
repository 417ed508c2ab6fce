import type { Config } from '@oclif/core/interfaces';
import { type Values, valuesOfArgument, valuesOfFlag } from './values.ts';

/** A word that can be typed next, and what it is for. */
export interface Candidate {
  readonly word: string;
  readonly about: string;
}

/** Words that may follow a path of command words; the first path is empty. */
interface NextWords {
  readonly path: string;
  readonly words: readonly Candidate[];
}

/** Flags (with their hyphens) that the same commands have. */
interface FlagGroup {
  readonly paths: readonly string[];
  readonly flags: readonly Candidate[];
}

/** What is typed after a flag, as `path flag`, or `* flag` where that is so on every command that has it. */
export interface ValueGroup {
  readonly keys: readonly string[];
  readonly values: Values;
}

/** Everything that a completion script knows, in a form that each shell writes in its own way. */
export interface Completion {
  readonly next: readonly NextWords[];
  readonly flags: readonly FlagGroup[];
  readonly flagValues: readonly ValueGroup[];
  /** Keys are paths of commands. */
  readonly arguments: readonly ValueGroup[];
}

interface KnownCommand {
  readonly path: string;
  readonly id: string;
  readonly command: Config['commands'][number];
}

/** What there is to complete, from the manifest and the catalog. */
export function completionOf(config: Config): Completion {
  const shown = config.commands.filter((command) => !command.hidden);
  const known: KnownCommand[] = shown.flatMap((command) =>
    [command.id, ...command.aliases].map((id) => ({ path: id.replaceAll(':', ' '), id: command.id, command })),
  );
  return {
    next: nextWords(known, config),
    flags: flagGroups(known),
    flagValues: flagValues(known),
    arguments: grouped(
      known.flatMap(({ path, command, id }) =>
        Object.keys(command.args).length === 0 && command.strict !== false
          ? []
          : [[path, valuesOfArgument(id, command.args, config)] as const],
      ),
    ),
  };
}

function nextWords(known: readonly KnownCommand[], config: Config): NextWords[] {
  const next = new Map<string, Map<string, string>>();
  for (const { path, command } of known) {
    const words = path.split(' ');
    words.forEach((word, at) => {
      const before = words.slice(0, at).join(' ');
      const topic = config.topics.find(({ name }) => name === words.slice(0, at + 1).join(':'));
      const about = at === words.length - 1 ? command.summary : topic?.description;
      const list = next.get(before) ?? new Map<string, string>();
      list.set(word, about ?? list.get(word) ?? '');
      next.set(before, list);
    });
  }
  return [...next]
    .map(([path, words]) => ({ path, words: byWord([...words].map(([word, about]) => ({ word, about }))) }))
    .sort((a, b) => (a.path < b.path ? -1 : 1));
}

function byWord(candidates: readonly Candidate[]): Candidate[] {
  return [...candidates].sort((a, b) => (a.word < b.word ? -1 : 1));
}

interface FlagUse {
  readonly path: string;
  readonly id: string;
  readonly flag: Config['commands'][number]['flags'][string];
}

function usesOf(known: readonly KnownCommand[]): FlagUse[] {
  return known.flatMap(({ path, id, command }) =>
    Object.values(command.flags)
      .filter((flag) => !flag.hidden)
      .map((flag) => ({ path, id, flag })),
  );
}

/** Flags in groups of those that the same commands have with the same meaning, so that the script stays short. */
function flagGroups(known: readonly KnownCommand[]): FlagGroup[] {
  const pathsOf = new Map<string, string[]>();
  const all = [
    ...usesOf(known).map(({ path, flag }) => [`--${flag.name}\0${flag.summary ?? ''}`, path] as const),
    ...usesOf(known).flatMap(({ path, flag }) =>
      flag.char === undefined ? [] : [[`-${flag.char}\0${flag.summary ?? ''}`, path] as const],
    ),
    ...known.map(({ path }) => ['--help\0Show what the command does and takes', path] as const),
  ];
  for (const [key, path] of all) pathsOf.set(key, [...(pathsOf.get(key) ?? []), path]);
  const groups = new Map<string, { paths: string[]; flags: Candidate[] }>();
  for (const [key, paths] of pathsOf) {
    const [word = '', about = ''] = key.split('\0');
    const group = groups.get(paths.join('\0')) ?? { paths, flags: [] };
    group.flags.push({ word, about });
    groups.set(paths.join('\0'), group);
  }
  return [...groups.values()].map(({ paths, flags }) => ({ paths, flags: byWord(flags) }));
}

function flagValues(known: readonly KnownCommand[]): ValueGroup[] {
  const byFlag = new Map<string, [string, Values][]>();
  for (const { path, id, flag } of usesOf(known)) {
    if (flag.type === 'boolean') continue;
    const values = valuesOfFlag(id, flag);
    for (const name of [`--${flag.name}`, ...(flag.char === undefined ? [] : [`-${flag.char}`])]) {
      byFlag.set(name, [...(byFlag.get(name) ?? []), [path, values]]);
    }
  }
  // A flag that is a switch on one command may take a value on another, so only named paths say so of those.
  const switches = new Set(usesOf(known).flatMap(({ flag }) => (flag.type === 'boolean' ? [`--${flag.name}`] : [])));
  return grouped(
    [...byFlag].flatMap(([name, uses]) => {
      const [first] = uses;
      const same = uses.every(([, values]) => JSON.stringify(values) === JSON.stringify(first?.[1]));
      if (first !== undefined && same && !switches.has(name)) return [[`* ${name}`, first[1]] as const];
      return uses.map(([path, values]) => [`${path} ${name}`, values] as const);
    }),
  );
}

function grouped(entries: readonly (readonly [string, Values])[]): ValueGroup[] {
  const groups = new Map<string, { keys: string[]; values: Values }>();
  for (const [key, values] of entries) {
    const text = JSON.stringify(values);
    const group = groups.get(text) ?? { keys: [], values };
    group.keys.push(key);
    groups.set(text, group);
  }
  return [...groups.values()];
}
