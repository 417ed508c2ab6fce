import * as Flags from '@oclif/core/flags';
import type { FlagInput } from '@oclif/core/interfaces';
import { type Problem, Refusal, refusal, type Warning } from '../../catalog/failures.ts';
import type { Field, Fields, Kind } from '../../catalog/fields/kind.ts';
import { isPlainObject } from '../../catalog/fields/kind.ts';
import type { FilterKeys } from '../../catalog/filter/check.ts';
import type { FilterContext } from '../../catalog/filter/values.ts';
import { isWritable, readFields, wireValues } from '../../catalog/record.ts';
import { type Failure, usageFailure } from '../../core/failure.ts';
import { NAME_KINDS } from '../../core/names/namerows.ts';
import { didYouMean } from '../../core/nearest.ts';
import { readTextFile } from '../../core/textfile.ts';
import { flagGroup, type Meaning } from './declare.ts';
import { shortcutOf } from './filters.ts';
import { type FlagValues, kebab, textFlag, textFlags } from './values.ts';

const body = flagGroup('BODY');
const plain = flagGroup();

/** The write that a body is for. */
export type Mode = 'create' | 'update';

/**
 * One flag a writable field (contract §2), which also takes the name that the field has where it is filtered by `keys`,
 * and the three ways to give a body that are the same for every write.
 */
export function bodyFlags(fields: Fields, mode: Mode, keys: FilterKeys): FlagInput {
  const own = writableNames(fields, mode).map((name) => {
    const flag = fieldFlag(name, fields, mode);
    const shortcut = shortcutOf(name, keys);
    const aliases = [...(flag.aliases ?? []), ...(shortcut === undefined ? [] : [shortcut])];
    return [kebab(name), { ...flag, aliases: [...new Set(aliases)] }] as const;
  });
  return { ...Object.fromEntries(own), ...sharedFlags };
}

const sharedFlags = {
  data: body.text('FILE|-', 'JSON object with the fields, - for standard input'),
  set: body.list('FIELD=VALUE', 'Set a field by its name in the API; null clears it; may be repeated'),
};

/** Every write can be looked at before it is sent. */
export const dryRunFlag = {
  'dry-run': plain.toggle('Print the request as JSON and send nothing'),
};

/** Names of the fields that a body may hold and a flag can carry. */
function writableNames(fields: Fields, mode: Mode): string[] {
  return Object.keys(fields).filter((name) => {
    const field = fields[name];
    return field !== undefined && field.access !== 'input' && isWritable(field, mode);
  });
}

function fieldFlag(name: string, fields: Fields, mode: Mode) {
  const field = fields[name];
  const kind = field?.kind;
  const about = field?.about ?? name;
  const values = kind?.values ?? [];
  const isNamed = kind?.name === 'yesNo' || values.length > 12 || values.every((value) => about.includes(value));
  const choices = isNamed ? '' : `: ${values.join(', ')}${kind?.isOpen ? ' or another' : ''}`;
  const must = mode === 'create' && field?.required ? ' (required)' : '';
  const summary = `${about}${choices}${must}`;
  const options = { helpGroup: 'FIELDS', helpValue: valueName(kind?.name), summary };
  const means = kind && meaningOfKind(kind);
  if (kind?.name !== 'list') return { ...Flags.string(options), ...(means !== undefined && { means }) };
  const singular = kebab(name).replace(/s$/, '');
  // recurrenceDays must not take the flag of recurrenceDay.
  const isTaken = Object.keys(fields).some((other) => kebab(other) === singular);
  const aliases = isTaken ? [] : [singular];
  return Flags.string({ ...options, aliases, multiple: true, multipleNonGreedy: true });
}

/** What the text of a field's flag is made into. */
function meaningOfKind({ name, target }: Kind): Meaning | undefined {
  if (name === 'date' || name === 'dateTime') return 'date';
  return name === 'link' ? NAME_KINDS.find((kind) => kind === target?.toLowerCase()) : undefined;
}

const VALUE_NAMES: Readonly<Record<string, string>> = {
  link: 'ID',
  organizationLink: 'ID',
  date: 'DATE',
  dateTime: 'TIME',
  integer: 'N',
  number: 'N',
  dollars: 'DOLLARS',
  yesNo: 'true|false',
  list: 'VALUE|JSON',
  object: 'JSON',
  map: 'JSON',
};

function valueName(kind: string | undefined): string {
  return VALUE_NAMES[kind ?? ''] ?? 'TEXT';
}

type Body = Record<string, unknown>;

/** A body as the catalog reads it. */
export interface BodyInput {
  /** What is sent: the values in the forms that the specification gives them (D50). */
  readonly body: Readonly<Body>;
  /** Canonical values, null for cleared fields. */
  readonly values: Readonly<Body>;
  /** What was left out, such as fields that cannot be written. */
  readonly warnings: readonly Warning[];
}

/** What a command adds to reading its body; all of it reports to the problems of the fields. */
export interface BodyRules {
  /** The body with what other flags say, before its fields are read. */
  readonly complete?: (body: Readonly<Body>, problems: Problem[]) => Readonly<Body>;
  /** The values with what only the server knows; called when each of them is right. */
  readonly finish?: (values: Readonly<Body>, problems: Problem[]) => Promise<Readonly<Body>>;
  /** What is wrong with the values together; called when each of them is right. */
  readonly check?: (values: Readonly<Body>) => readonly Problem[];
}

/** How a body is read. */
interface BodyOptions {
  readonly mode: Mode;
  readonly stdin: () => Promise<string>;
  /** The zone of times given without one. */
  readonly times: Required<FilterContext>;
  readonly rules?: BodyRules;
}

/** The body of `--data`, over it `--set`, over it field flags, checked; throws a Refusal with every problem, or a Failure. */
export async function readBody(
  flags: FlagValues,
  fields: Fields,
  { mode, stdin, times, rules = {} }: BodyOptions,
): Promise<BodyInput> {
  const problems: Problem[] = [];
  const warnings: Warning[] = [];
  const given = {
    ...(await readData(flags, stdin)),
    ...readSets(flags, fields, mode),
    ...readFieldFlags(flags, fields, mode),
  };
  const completed = rules.complete?.(given, problems) ?? given;
  const context = { problems, warnings, mode, instantOf: times.instantOf, forService: true };
  let values: Readonly<Body> = readFields(fields, completed, context);
  if (mode === 'update' && Object.keys(values).length === 0 && problems.length === 0)
    throw nothingToChange(fields, warnings);
  if (problems.length === 0) values = (await rules.finish?.(values, problems)) ?? values;
  if (problems.length === 0) problems.push(...(rules.check?.(values) ?? []));
  if (problems.length > 0) throw new Refusal(problems.map((problem) => withSuggestion(problem, fields, mode)));
  return { body: wireValues(fields, values), values, warnings };
}

function nothingToChange(fields: Fields, warnings: readonly Warning[]): Failure {
  const dropped = warnings.map(({ description }) => ` ${description}`).join('');
  return usageFailure(`There is nothing to change: give the fields to change.${dropped}`, {
    hint: `Fields: ${writableNames(fields, 'update')
      .map((name) => `--${kebab(name)}`)
      .join(' ')}`,
  });
}

async function readData(flags: FlagValues, stdin: () => Promise<string>): Promise<Body> {
  const source = textFlag(flags, 'data');
  if (source === undefined) return {};
  const data = await readJsonData(source, stdin);
  if (!isPlainObject(data)) throw refusal('body.shape', '--data', '--data must hold one JSON object with the fields.');
  return data;
}

/** The JSON of `--data`, a file name or `-` for standard input. Throws a Refusal or a Failure. */
export async function readJsonData(source: string, stdin: () => Promise<string>): Promise<unknown> {
  if (/^\s*[{[]/.test(source)) {
    throw usageFailure('--data takes a file name, or - for standard input; not the JSON itself.', { source: '--data' });
  }
  const text = await (source === '-' ? stdin() : readTextFile(source));
  try {
    return JSON.parse(text);
  } catch {
    // The parser's own message repeats the text, which may be about a patient.
    throw refusal('body.not_json', '--data', '--data is not valid JSON.');
  }
}

function readSets(flags: FlagValues, fields: Fields, mode: Mode): Body {
  const body: Body = {};
  for (const text of textFlags(flags, 'set')) {
    const at = text.indexOf('=');
    if (at < 1) throw usageFailure('--set takes FIELD=VALUE, such as firstName=Ann.', { source: '--set' });
    const name = text.slice(0, at).trim();
    const value = text.slice(at + 1);
    const [field = name, part] = name.split('.');
    const known = Object.hasOwn(fields, field) ? fields[field] : undefined;
    if (known === undefined || (part !== undefined && !known.kind.parts?.includes(part)))
      throw unknownField(name, fields, mode);
    body[field] = value === 'null' ? null : readTexts([value], known);
  }
  return body;
}

function readFieldFlags(flags: FlagValues, fields: Fields, mode: Mode): Body {
  const given = writableNames(fields, mode).flatMap((name) => {
    const texts = textFlags(flags, kebab(name));
    const field = fields[name];
    return texts.length === 0 || field === undefined ? [] : [[name, readTexts(texts, field)] as const];
  });
  return Object.fromEntries(given);
}

/** What the texts of a flag stand for; of a list, all entries of all texts. */
function readTexts(texts: readonly string[], field: Field): unknown {
  if (field.kind.name !== 'list') return field.kind.fromText(texts[0] ?? '');
  return texts.flatMap((text) => {
    const entries = field.kind.fromText(text);
    return Array.isArray(entries) ? entries : [text];
  });
}

function unknownField(name: string, fields: Fields, mode: Mode): Refusal {
  const known = writableNames(fields, mode);
  const description = `${name} is not a field that can be set here. Fields: ${known.join(', ')}.`;
  return new Refusal([withSuggestion({ code: 'body.unknown_property', source: name, description }, fields, mode)]);
}

function withSuggestion(problem: Problem, fields: Fields, mode: Mode): Problem {
  const name = problem.source?.split(/[.[]/)[0] ?? '';
  if (problem.code === 'field.missing' && Object.hasOwn(fields, name) && problem.source === name) {
    return { ...problem, description: `${problem.description.replace(/\.$/, '')}: give --${kebab(name)}.` };
  }
  if (problem.code !== 'body.unknown_property' || name !== problem.source) return problem;
  return { ...problem, description: problem.description + didYouMean(name, writableNames(fields, mode)) };
}
