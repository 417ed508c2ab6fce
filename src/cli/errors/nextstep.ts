import { API_PREFIX } from '../../catalog/catalog.ts';
import type { Operation } from '../../catalog/define.ts';
import { isFailureCode } from '../../catalog/failures.ts';
import { parseTypedFilter } from '../../catalog/filter/grammar.ts';
import { type Failure, type FailureItem, LOCAL_FAILURES, reworded } from '../../core/failure.ts';
import { nearest } from '../../core/nearest.ts';
import { ApiFailure, WITHOUT_ROUTE } from '../../core/transport/apifailure.ts';
import type { Shell } from '../../shells/shell.ts';
import { type FlagValues, kebab, textFlags } from '../flags/values.ts';
import type { EmptyFile } from '../terminal/outputfile.ts';
import { takenByShell } from './cutfilter.ts';

/** The command line that failed, as far as it is known. */
export interface TypedLine {
  /** As typed: `patients list`. */
  readonly name: string;
  readonly flags: FlagValues;
  /** Lines to paste, as the help shows them in the user's shell. */
  readonly examples: readonly string[];
  /** As of `Streams`. */
  readonly emptyRedirection?: (() => EmptyFile | undefined) | undefined;
  readonly shell: Shell;
}

/**
 * The failure with a next step that fits the command: the missing flag, a value that was probably meant, or its help;
 * unchanged when it is the server's or has a next step. Values that were typed are compared, never repeated.
 */
export function withNextStep(failure: Failure, line: TypedLine): Failure {
  const hint = failure.status === null ? betterHint(failure, line) : undefined;
  if (hint === undefined || hint === failure.hint) return failure;
  return reworded(failure, { hint });
}

function betterHint({ code, message, items, hint }: Failure, line: TypedLine): string | undefined {
  const profile = code === 'usage.connection' ? nearProfile(message) : undefined;
  if (profile !== undefined) return `Did you mean ${profile}? ${hint}`;
  const help = `See molar ${line.name} --help.`;
  const missing = items.filter((item) => isMissing(item)).flatMap(flagsNamed);
  if (missing.length > 0) return `Give ${listed(missing)}.${exampleOf(missing, line)}`;
  const named = items.flatMap(({ code: each, description }) => (NAMES.includes(each) ? suggestedIn(description) : []));
  if (named.length > 0) return `Use ${listed(named)}. ${help}`;
  const meant = items.flatMap((item) => meantBy(item, line.flags));
  if (meant.length > 0) return `Did you mean ${[...new Set(meant)].join(' and ')}? ${help}`;
  if (code === 'filter.syntax') {
    const taken = takenByShell(textFlags(line.flags, 'filter'), line.emptyRedirection?.(), line.shell);
    if (taken !== undefined) return taken;
    return `Write terms as key, operator, value, and repeat --filter for several. ${help}${exampleOf(['--filter'], line)}`;
  }
  if (isTooMany(message)) return `${help}${exampleOf([], line)}`;
  return hint === LOCAL_FAILURES['usage.invalid'].next ? help : undefined;
}

/** Somebody who gives an argument too many sees best by an example what is a flag here. */
function isTooMany(message: string): boolean {
  return /^There (?:is an argument|are \d+ arguments) that molar .* does not take\.$/.test(message);
}

/** The profile that is nearest to one that is not there. */
function nearProfile(message: string): string | undefined {
  const [, name, list] = /^There is no profile (.+)\. There are: (.+)\.$/.exec(message) ?? [];
  return name === undefined ? undefined : nearest(name, list?.split(', ') ?? []);
}

/** Names that are unknown, whose list of known ones may be longer than a screen. */
const NAMES = ['filter.key', 'query.fields', 'body.unknown_property'];

function suggestedIn(description: string): readonly string[] {
  const [, name] = /Did you mean (\S+)\?$/.exec(description) ?? [];
  return name === undefined ? [] : [name];
}

const MISSING_ARGUMENT = /^([A-Z][A-Z ]*) (?:is|are) missing\.$/;

function isMissing({ code, description }: FailureItem): boolean {
  return (
    /^(?:filter|field|query)\.missing$/.test(code) || / is required\.$|^[A-Z ]+ (?:is|are) missing\.$/.test(description)
  );
}

/** What a problem lacks: the flags it names, or the argument. */
function flagsNamed({ description, source }: FailureItem): readonly string[] {
  const flags = description.match(/--[a-z][a-z0-9-]*/g) ?? [];
  if (flags.length > 0) return flags.slice(0, 1);
  const [, names] = MISSING_ARGUMENT.exec(description) ?? [];
  return names?.split(' and ') ?? (source === null ? [] : [source]);
}

/** The example that shows most of what is missing; one for an argument is any. */
function exampleOf(missing: readonly string[], { examples }: TypedLine): string {
  const flags = missing.filter((name) => name.startsWith('--'));
  const scored = examples.map((example) => {
    const words = example.split(/[\s=]/);
    return { example, shown: flags.filter((flag) => words.includes(flag)).length };
  });
  const best = scored.reduce<(typeof scored)[number] | undefined>(
    (before, next) => (before === undefined || next.shown > before.shown ? next : before),
    undefined,
  );
  if (best === undefined || (flags.length > 0 && best.shown === 0)) return '';
  return ` Example: ${best.example}`;
}

/** The listed value that is nearest to what was typed where the problem is. */
function meantBy({ source, description }: FailureItem, flags: FlagValues): readonly string[] {
  const [, list] = /\bmust be one of ([^.]+)\./.exec(description) ?? [];
  if (list === undefined || source === null || description.includes('Did you mean')) return [];
  const known = list.split(', ');
  const typed = typedAt(source, flags).filter((value) => !known.includes(value));
  return typed.flatMap((value) => nearest(value, known) ?? []);
}

/** Values given to a flag, to the flag of a field, or to a filter key. */
function typedAt(source: string, flags: FlagValues): readonly string[] {
  const flag = kebab(source.replace(/^--/, ''));
  const direct = textFlags(flags, flag).flatMap((text) => text.split(','));
  if (direct.length > 0) return direct.map((text) => text.trim());
  return textFlags(flags, 'filter').flatMap((text) => termsOf(text, source));
}

function termsOf(filter: string, key: string): readonly string[] {
  try {
    return parseTypedFilter(filter).flatMap((term) => (term.key === key ? term.values : []));
  } catch {
    return [];
  }
}

/** Maximum names listed beside the last. */
const MAX_LISTED = 3;

function listed(names: readonly string[]): string {
  const [last = '', ...before] = [...new Set(names)].reverse();
  if (before.length > MAX_LISTED) return 'what is named above';
  return before.length === 0 ? last : `${before.reverse().join(', ')} and ${last}`;
}

/** What reads the same without an operation that the specification does not list. */
const INSTEAD: Readonly<Record<string, string>> = {
  'appointments.list': 'Add --async: the specification has appointments on the streaming channel.',
  'appointments.get':
    'If the id is right, use molar appointments list --async --id ID: the specification has appointments on the streaming channel.',
};

const NOTHING = 'If the id is right, the service does not have it, and the specification has nothing in its place.';

/** The failure of an operation that the specification does not list, where a service may lack it: says so (D23, D27). */
export function asUnlisted(cause: unknown, { id, method, path, unlisted }: Operation): unknown {
  if (!unlisted || !(cause instanceof ApiFailure) || !WITHOUT_ROUTE.includes(cause.status)) return cause;
  // A code of ours means that the route exists.
  if (isFailureCode(cause.code) && cause.code !== 'route.unknown' && cause.code !== 'route.method') return cause;
  const message = `${cause.message} The specification does not list ${method} ${API_PREFIX}${path}; a service need not have it.`;
  return reworded(cause, { message, hint: INSTEAD[id] ?? NOTHING });
}
