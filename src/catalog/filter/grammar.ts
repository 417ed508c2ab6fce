import { refusal } from '../failures.ts';
import { OPERATOR_WORDS, type Operator, VALUE_OPERATORS } from '../operators.ts';

/**
 * One term of a filter, as written: `key op value`, `key->[a,b]`, `key.absent` or `key.present` (D10). `values` is
 * empty for the last two and has one entry unless the operator is `->`.
 */
export interface RawTerm {
  readonly key: string;
  readonly operator: Operator;
  readonly values: readonly string[];
}

/** Terms of one filter: more than anybody asks for, and no more than a database takes in one condition. */
export const MAX_TERMS = 500;

/** Reads a filter. Empty text has no terms. Throws a Refusal (`filter.syntax`) that says where reading stopped. */
export function parseFilter(text: string): RawTerm[] {
  return readTerms(new Reader(text), readTerm);
}

/**
 * The same, of a filter on a command line: terms may have a word for their operator, `key.gte=value`, and a list after
 * `key.in=` needs no brackets. What the API's grammar takes is read by that.
 */
export function parseTypedFilter(text: string): RawTerm[] {
  return readTerms(new Reader(text), (reader) => readWordedTerm(reader) ?? readTerm(reader, TYPED));
}

function readTerms(reader: Reader, readNext: (reader: Reader) => RawTerm): RawTerm[] {
  const terms: RawTerm[] = [];
  reader.skipSpace();
  if (reader.atEnd()) return terms;
  for (;;) {
    if (terms.length === MAX_TERMS) {
      throw refusal('filter.syntax', 'filter', `A filter has at most ${MAX_TERMS} terms; -> takes many values in one.`);
    }
    terms.push(readNext(reader));
    reader.skipSpace();
    if (reader.atEnd()) return terms;
    reader.expect(',', 'a comma before the next term');
    reader.skipSpace();
  }
}

/** Writes terms so that `parseFilter` reads the same ones: values are quoted only where they need it. */
export function formatFilter(terms: readonly RawTerm[]): string {
  return terms.map(formatTerm).join(',');
}

export function formatTerm(term: RawTerm): string {
  if (term.operator === '.absent' || term.operator === '.present') return term.key + term.operator;
  if (term.operator === '->') return `${term.key}->[${term.values.map(quote).join(',')}]`;
  return term.key + term.operator + quote(term.values[0] ?? '');
}

/** Whether a term has a value in quotes outside of a list, the only place for which the specification gives them. */
export function isQuotedAlone({ operator, values }: RawTerm): boolean {
  return operator !== '->' && values.some((value) => !isPlain(value));
}

/** Whether a value can be written without quotes. */
function isPlain(value: string): boolean {
  // A leading = or > would be read as part of the operator before it.
  return value !== '' && value === value.trim() && !/^[=>]|[",[\]\\]/.test(value);
}

function quote(value: string): string {
  return isPlain(value) ? value : `"${value.replace(/["\\]/g, '\\$&')}"`;
}

const WORDS = Object.keys(OPERATOR_WORDS);

/** The operators that a term can have, for whoever left them out: first those that no shell takes for itself. */
const TYPED = `${WORDS.map((word) => `.${word}=`).join(' ')} or in quotes ${VALUE_OPERATORS.join(' ')}`;

/** What `WORDED_KEY` finds. */
interface Worded {
  readonly key: string;
  readonly word: keyof typeof OPERATOR_WORDS;
}

const WORD = WORDS.join('|');
const WORDED_KEY = new RegExp(`^(?<key>[A-Za-z_][\\w.]{0,200})\\.(?<word>${WORD})\\s*=(?!=)`);
const TERM_AFTER_COMMA = new RegExp(
  `^,\\s*[A-Za-z_][\\w.]{0,200}(?:\\.(?:${WORD})\\s*=|\\.(?:absent|present)\\s*(?:,|$)|\\s*(?:${VALUE_OPERATORS.join('|')}))`,
);

/** `key.word=value`; undefined where no such term begins. */
function readWordedTerm(reader: Reader): RawTerm | undefined {
  const worded = reader.takeWorded();
  if (worded === undefined) return undefined;
  const { key, word } = worded;
  const operator = OPERATOR_WORDS[word];
  reader.skipSpace();
  if (operator !== '->') return { key, operator, values: [readNeeded(reader, `${key}.${word}=`, key)] };
  return { key, operator, values: reader.isAt('[') ? readList(reader, key) : readOpenList(reader, key) };
}

/** Values up to the end, or to a comma before something that is a term. */
function readOpenList(reader: Reader, key: string): string[] {
  const values: string[] = [];
  do {
    reader.skipSpace();
    values.push(readNeeded(reader, `${key}.in=`, key));
    reader.skipSpace();
  } while (!reader.isAtTermAfterComma() && reader.take(','));
  return values;
}

function readNeeded(reader: Reader, before: string, key: string): string {
  const value = readValue(reader, ',');
  if (value !== undefined) return value;
  throw reader.stop(`a value after ${before} (${key}.absent selects records without one)`, key);
}

function readTerm(reader: Reader, operators = VALUE_OPERATORS.join(' ')): RawTerm {
  const key = reader.takeKey();
  if (key === '') throw reader.stop('a filter key');
  for (const operator of ['.absent', '.present'] as const) {
    if (key.endsWith(operator)) return { key: key.slice(0, -operator.length), operator, values: [] };
  }
  reader.skipSpace();
  const operator = reader.takeOperator();
  if (operator === undefined) throw reader.stop(`an operator after ${key}: one of ${operators}`, key);
  reader.skipSpace();
  if (operator === '->') return { key, operator, values: readList(reader, key) };
  return { key, operator, values: [readNeeded(reader, key + operator, key)] };
}

function readList(reader: Reader, key: string): string[] {
  reader.expect('[', `a list after ${key}->, such as ${key}->[a,b]`, key);
  const values: string[] = [];
  for (;;) {
    reader.skipSpace();
    const value = readValue(reader, ',]');
    if (value === undefined) throw reader.stop(`a value in the list of ${key}`, key);
    values.push(value);
    reader.skipSpace();
    if (reader.take(']')) return values;
    reader.expect(',', `a comma or ] in the list of ${key}`, key);
  }
}

/** A quoted or a bare value; undefined where there is none. */
function readValue(reader: Reader, stops: string): string | undefined {
  if (reader.take('"')) return reader.takeQuoted();
  const bare = reader.takeUntil(stops).trim();
  return bare === '' ? undefined : bare;
}

class Reader {
  private at = 0;

  constructor(private readonly text: string) {}

  atEnd(): boolean {
    return this.at >= this.text.length;
  }

  skipSpace(): void {
    while (!this.atEnd() && /\s/.test(this.text.charAt(this.at))) this.at++;
  }

  take(expected: string): boolean {
    if (!this.text.startsWith(expected, this.at)) return false;
    this.at += expected.length;
    return true;
  }

  expect(expected: string, what: string, key?: string): void {
    if (!this.take(expected)) throw this.stop(what, key);
  }

  isAt(text: string): boolean {
    return this.text.startsWith(text, this.at);
  }

  isAtTermAfterComma(): boolean {
    return TERM_AFTER_COMMA.test(this.text.slice(this.at));
  }

  /** Key and word of `key.word=`, but not of `key.word==`, which is a key of that name in the API's grammar. */
  takeWorded(): Worded | undefined {
    const match = WORDED_KEY.exec(this.text.slice(this.at));
    this.at += match?.[0].length ?? 0;
    return match?.groups as Worded | undefined;
  }

  takeKey(): string {
    const match = /^[A-Za-z_][\w.]*/.exec(this.text.slice(this.at, this.at + 200));
    this.at += match?.[0].length ?? 0;
    return match?.[0] ?? '';
  }

  takeOperator(): Operator | undefined {
    return VALUE_OPERATORS.find((operator) => this.take(operator));
  }

  takeUntil(stops: string): string {
    const from = this.at;
    while (!this.atEnd() && !stops.includes(this.text.charAt(this.at))) this.at++;
    return this.text.slice(from, this.at);
  }

  takeQuoted(): string {
    let value = '';
    while (!this.atEnd()) {
      const char = this.text.charAt(this.at++);
      if (char === '"') return value;
      value += char === '\\' && !this.atEnd() ? this.text.charAt(this.at++) : char;
    }
    throw this.stop('a closing quote');
  }

  stop(expected: string, key?: string) {
    // One character is enough to find the place; more could be the name of a patient, on its way into somebody's log.
    const [here] = this.text.slice(this.at, this.at + 2);
    const found = here === undefined ? 'the filter ends' : `there is "${here}"`;
    const place = `At character ${this.at + 1} of the filter ${found}; expected ${expected}.`;
    return refusal('filter.syntax', key ?? 'filter', place);
  }
}
