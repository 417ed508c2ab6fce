import { type Failure, usageFailure } from '../../core/failure.ts';
import { didYouMean, nearest } from '../../core/nearest.ts';
import { unoffered } from './unoffered.ts';

/** The command whose arguments did not parse. */
export interface CommandShape {
  /** As typed: `patients list`. */
  readonly name: string;
  readonly flagNames: readonly string[];
}

/** A parse error of oclif as a Failure (exit 2), or undefined. Of what was typed only flag names are repeated: values may be secrets. */
export function usageFailureOf(error: unknown, command: CommandShape): Failure | undefined {
  if (!(error instanceof Error) || !('oclif' in error || 'parse' in error)) return undefined;
  const hint = `See molar ${command.name} --help.`;
  const unknown = unknownFlags(error);
  if (unknown !== undefined) return unknownFlagFailure(unknown, command, hint);
  const args = 'args' in error && Array.isArray(error.args) ? error.args : undefined;
  if (args?.every((arg) => typeof arg === 'string')) {
    const what = args.length === 1 ? 'an argument' : `${args.length} arguments`;
    return usageFailure(`There ${args.length === 1 ? 'is' : 'are'} ${what} that molar ${command.name} does not take.`, {
      hint,
    });
  }
  if (args !== undefined) {
    const names = args.map((arg: { name: string }) => arg.name.toUpperCase());
    return usageFailure(`${names.join(' and ')} ${names.length === 1 ? 'is' : 'are'} missing.`, {
      source: names[0] ?? '',
      hint,
    });
  }
  return describedFailure(error.message, hint);
}

function unknownFlags(error: Error): readonly string[] | undefined {
  return 'flags' in error && Array.isArray(error.flags) ? error.flags.map(String) : undefined;
}

function unknownFlagFailure(tokens: readonly string[], command: CommandShape, hint: string): Failure {
  // Only the name: what follows `=`, or stands in a cluster after a single hyphen, may be a value.
  const names = tokens.map((token) => /^--[A-Za-z][\w-]*/.exec(token)?.[0] ?? 'a short option');
  const [first = ''] = names;
  const suggestion = didYouMean(first.slice(2), command.flagNames, '--');
  return usageFailure(`molar ${command.name} does not know ${names.join(', ')}.${suggestion}`, { source: first, hint });
}

/** The messages of oclif that are reworded, recognized by their fixed parts; typed values are left out. */
const KNOWN: readonly (readonly [RegExp, (match: RegExpExecArray) => string])[] = [
  [
    /^Expected --([\w-]+)=([\s\S]*) to be one of: ([^\n]*)/,
    // The value that was typed is not repeated.
    ([, flag, value = '', list = '']) => `--${flag} must be one of ${list}.${didYouMean(value, list.split(', '))}`,
  ],
  [
    /^Flag --([\w-]+) expects one of these values: ([^\n]*)/,
    ([, flag, list]) => `--${flag} needs a value: one of ${list}.`,
  ],
  [/^Flag --([\w-]+) expects a value/, ([, flag]) => `--${flag} needs a value.`],
  [/^Flag --([\w-]+) can only be specified once/, ([, flag]) => `--${flag} can be given only once.`],
  [/Missing required flag ([\w-]+)/, ([, flag]) => `--${flag} is required.`],
];

function describedFailure(message: string, hint: string): Failure {
  for (const [pattern, describe] of KNOWN) {
    const match = pattern.exec(message);
    if (match !== null) return usageFailure(describe(match), { source: `--${match[1]}`, hint });
  }
  return usageFailure('The arguments were not understood.', { hint });
}

/** A command that does not exist, with what there is instead, or the nearest one that does. */
export function unknownCommand(words: readonly string[], known: readonly string[]): Failure {
  const missing = unoffered(words);
  if (missing !== undefined) return usageFailure(missing.message, { hint: missing.hint });
  const typed = words.join(' ');
  const near =
    nearest(typed, known) ?? nearest(words[0] ?? '', [...new Set(known.map((name) => name.split(' ')[0] ?? ''))]);
  const suggestion = near === undefined ? '' : ` Did you mean molar ${near}?`;
  const topic = words[0] ?? '';
  const within = known.some((name) => name.startsWith(`${topic} `)) ? ` ${topic}` : '';
  return usageFailure(`There is no such command.${suggestion}`, { hint: `molar${within} --help lists the commands.` });
}

/** Words without a command among them: there are none, they are only a topic, or nothing at all. */
export function noCommand(words: readonly string[], known: readonly string[]): Failure {
  const topic = words.join(' ');
  if (topic === '') {
    return usageFailure('The command comes first, and its flags after it.', {
      hint: 'Write it like molar patients list --limit 5; molar --help lists the commands.',
    });
  }
  const verbs = known.filter((name) => name.startsWith(`${topic} `)).map((name) => name.slice(topic.length + 1));
  if (verbs.length === 0) return unknownCommand(words, known);
  return usageFailure(`molar ${topic} needs a command after it: ${verbs.join(', ')}.`, {
    hint:
      verbs.length === 1
        ? `Run molar ${topic} ${verbs[0]}; molar ${topic} --help describes it.`
        : `molar ${topic} --help describes them.`,
  });
}

/** Whether an argument list that did not parse requests JSON by `--json` or `--format`, and not as the value of a flag. */
export function asksForJson(argv: readonly string[], takesValue: (flag: string) => boolean): boolean {
  for (let at = 0; at < argv.length; at++) {
    const token = argv[at] ?? '';
    if (token === '--') return false;
    if (token === '--json' || token === '--format=json') return true;
    if (!token.startsWith('--') || token.includes('=')) continue;
    const name = token.slice(2);
    if (name === 'format' && argv[at + 1] === 'json') return true;
    if (takesValue(name)) at++;
  }
  return false;
}
