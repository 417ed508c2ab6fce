import type { Config } from '@oclif/core/interfaces';
import { unknownCommand } from './usageerrors.ts';

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
  }
  return { rest: words };
}

/** Shows the help of a command, of a topic, or of everything for no words. Throws a Failure (exit 2) for unknown words. */
export async function showHelp(words: readonly string[], config: Config): Promise<void> {
  const { id } = resolveCommand(words, config);
  const subject = id ?? words.join(':');
  if (id === undefined && subject !== '' && !config.findTopic(subject)) {
    const shown = config.commands.filter((command) => !command.hidden);
    throw unknownCommand(
      words,
      shown.map((command) => command.id.replaceAll(':', ' ')),
    );
  }
  const { loadHelpClass } = await import('@oclif/core/help');
  const Help = await loadHelpClass(config);
  await new Help(config, config.pjson.oclif.helpOptions).showHelp(subject === '' ? [] : [subject]);
}
