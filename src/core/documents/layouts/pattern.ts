import { type Failure, usageFailure } from '../../failure.ts';
import { type DateFormat, ISO_FORMATS, readDateFormat, writtenDate } from './dateformat.ts';

/** What the path of a file says of it: the values of the fields of a pattern. Dates are `YYYY-MM-DD`. */
export interface PathFacts {
  readonly id?: string;
  readonly chartNumber?: string;
  readonly last?: string;
  readonly first?: string;
  readonly birthDate?: string;
  readonly date?: string;
  readonly tags: readonly string[];
  /** The name of the document; its file's own where absent. */
  readonly name?: string;
}

const VALUE_FIELDS = ['id', 'chartNumber', 'last', 'first', 'birthDate', 'date', 'name'] as const;
const DATE_FIELDS: readonly string[] = ['birthDate', 'date'];
/** These may stand several times. */
const LIST_FIELDS = ['tag', '*'] as const;
const FIELDS: readonly string[] = [...VALUE_FIELDS, ...LIST_FIELDS];

interface Field {
  readonly name: (typeof VALUE_FIELDS)[number] | (typeof LIST_FIELDS)[number];
  /** Ways in which a date may be written. */
  readonly formats: readonly DateFormat[];
}

/** Text that stands for itself, or a field. */
type Token = string | Field;

/** A pattern of paths: the tokens of each folder, those of the file's name last. */
export interface Pattern {
  readonly text: string;
  readonly parts: readonly (readonly Token[])[];
}

/** Reads a pattern of `--layout`. Throws a Failure with exit code 2 for one that no patient can be found by. */
export function readPattern(text: string): Pattern {
  const parts: Token[][] = [[]];
  const add = (token: Token) => token !== '' && parts.at(-1)?.push(token);
  for (const [, plain = '', open, field = '', close, stray] of text.matchAll(/([^{}]+)|(\{)([^{}]*)(\}?)|(\})/g)) {
    if (stray) throw wrong(text, 'a } has no { before it.');
    if (open && !close) throw wrong(text, `the brace of {${field} does not close.`);
    if (open) add(readField(field, text));
    const [first = '', ...folders] = plain.normalize('NFC').split('/');
    add(first);
    for (const folder of folders) {
      parts.push([]);
      add(folder);
    }
  }
  if (parts.some((tokens) => tokens.length === 0)) throw wrong(text, 'a folder or the file has no name.');
  checkFields(
    parts.flat().flatMap((token) => (typeof token === 'string' ? [] : token.name)),
    text,
  );
  return { text, parts };
}

function readField(written: string, text: string): Field {
  const [, name = '', format] = /^([^:]*)(?::(.*))?$/s.exec(written) ?? [];
  if (!isFieldName(name)) throw wrong(text, `unknown field {${written}}.`);
  if (format === undefined) return { name, formats: DATE_FIELDS.includes(name) ? ISO_FORMATS : [] };
  const read = DATE_FIELDS.includes(name) ? readDateFormat(format.normalize('NFC')) : undefined;
  if (read !== undefined) return { name, formats: [read] };
  throw wrong(text, `{${written}}: only dates have a format, of YYYY, MM and DD, such as {date:MM-DD-YYYY}.`);
}

function isFieldName(name: string): name is Field['name'] {
  return FIELDS.includes(name);
}

function checkFields(names: readonly Field['name'][], text: string): void {
  const twice = names.find((name, at) => names.indexOf(name) !== at && name !== 'tag' && name !== '*');
  if (twice !== undefined) throw wrong(text, `{${twice}} stands twice; only {tag} and {*} may.`);
  const has = (name: Field['name']) => names.includes(name);
  if (!has('id') && !has('chartNumber') && !(has('last') && has('first')))
    throw wrong(text, 'it needs {id}, {chartNumber}, or {last} and {first}, to find the patient by.');
}

function wrong(text: string, what: string): Failure {
  return usageFailure(`--layout ${JSON.stringify(text)}: ${what}`, {
    source: '--layout',
    hint: `The fields are ${FIELDS.map((name) => `{${name}}`).join(', ')}; other text stands for itself.`,
  });
}

/**
 * What a pattern reads from the path of a file inside its folder, `/` between folders, without the extension; undefined
 * where it does not fit. A field takes the shortest text of one folder or name that lets the whole fit, trimmed.
 */
export function matchPattern(pattern: Pattern, path: string): PathFacts | undefined {
  const texts = path.normalize('NFC').split('/');
  if (texts.length !== pattern.parts.length) return undefined;
  const values: Value[] = [];
  for (const [at, tokens] of pattern.parts.entries()) {
    const found = matchPart(tokens, texts[at] ?? '');
    if (found === undefined) return undefined;
    values.push(...found);
  }
  const tags = values.flatMap(([name, value]) => (name === 'tag' ? [value] : []));
  return { ...Object.fromEntries(values.filter(([name]) => name !== 'tag' && name !== '*')), tags };
}

type Value = readonly [name: Field['name'], value: string];

/** The values of the fields in the order of the tokens. What failed once is not tried again: long names stay cheap. */
function matchPart(tokens: readonly Token[], text: string): readonly Value[] | undefined {
  const failed = new Set<number>();
  const match = (at: number, start: number): readonly Value[] | undefined => {
    const token = tokens[at];
    if (token === undefined) return start === text.length ? [] : undefined;
    const place = at * (text.length + 1) + start;
    if (failed.has(place)) return undefined;
    const found = typeof token === 'string' ? matchText(token, at, start) : matchField(token, at, start);
    if (found === undefined) failed.add(place);
    return found;
  };
  const matchText = (token: string, at: number, start: number) =>
    text.startsWith(token, start) ? match(at + 1, start + token.length) : undefined;
  const matchField = (field: Field, at: number, start: number) => {
    for (let end = start + 1; end <= text.length; end++) {
      const value = readValue(field, text.slice(start, end).trim());
      const rest = value === undefined ? undefined : match(at + 1, end);
      if (value !== undefined && rest !== undefined) return [[field.name, value] as const, ...rest];
    }
    return undefined;
  };
  return match(0, 0);
}

/** The value that a field takes from a text; undefined where it is none. */
function readValue({ name, formats }: Field, text: string): string | undefined {
  if (name === '*') return text;
  if (text === '' || (name === 'id' && !/^\d+$/.test(text))) return undefined;
  if (formats.length === 0) return text;
  for (const format of formats) {
    const date = writtenDate(text, format);
    if (date !== undefined) return date;
  }
  return undefined;
}
