import type { Config } from '@oclif/core/interfaces';
import { contextOf } from '../context.ts';
import { noCommand } from '../errors/usage.ts';
import { writePaged } from '../terminal/pager.ts';
import { hasColours } from '../terminal/streams.ts';
import { ManifestConfig } from './manifestconfig.ts';

/** Columns of help where there is no terminal, and the most that it takes of one. */
export const WIDTH = 80;
export const WIDEST = 120;

/** The words before the first flag. */
export function leadingWords(argv: readonly string[]): readonly string[] {
  const end = argv.findIndex((token) => token.startsWith('-'));
  return end < 0 ? argv : argv.slice(0, end);
}

/** The longest command that the words begin with, typed with spaces or with colons, and the words after it. */
export function resolveCommand(
  words: readonly string[],
  config: Config,
): { readonly id?: string; readonly rest: readonly string[] } {
  for (let count = words.length; count > 0; count--) {
    const id = words.slice(0, count).join(':');
    if (config.findCommand(id)) return { id, rest: words.slice(count) };
    // `export bookmarks` is a topic, not what the command `export` is to export.
    if (config.findTopic(id)) break;
  }
  return { rest: words };
}

/** The commands that are shown, as they are typed: `patients list`. */
export function commandNames({ commands }: Config): readonly string[] {
  return commands.filter(({ hidden }) => !hidden).map(({ id }) => id.replaceAll(':', ' '));
}

/** The words to show help on: `aging`, which begins another name of one command only, means that. */
export function helpWords(words: readonly string[], config: Config): readonly string[] {
  if (words.length === 0 || config.findTopic(words.join(':'))) return words;
  const [only, ...others] = commandNames(config).filter((name) => name.startsWith(`${words.join(' ')} `));
  return only === undefined || others.length > 0 ? words : only.split(' ');
}

/** Shows the help of a command, of a topic, or of everything for no words. Throws a Failure (exit 2) for unknown words. */
export async function showHelp(words: readonly string[], config: Config): Promise<void> {
  const { id } = resolveCommand(words, config);
  const subject = id ?? words.join(':');
  if (id === undefined && subject !== '' && !config.findTopic(subject)) {
    throw noCommand(words, commandNames(config));
  }
  const { helpText } = await import('../help/commandhelp.ts');
  const { streams, env, shell } = contextOf(config);
  const { stdout } = streams;
  const width = Math.min(stdout.columns ?? WIDTH, WIDEST);
  const isColoured = stdout.isTTY && hasColours(env);
  const isLeaf = config instanceof ManifestConfig && config.isLeaf(subject);
  await writePaged(streams, await helpText(subject, config, { width, isColoured, shell, isLeaf }));
}
