import type { FilterKey } from '../../src/catalog/filter/check.ts';
import type { Operator } from '../../src/catalog/operators.ts';
import type { WireRecord } from '../support/calls.ts';
import { type OracleTerm, valuesOf } from './oracle.ts';

/** A term as text, and the same as data for the oracle. */
export interface Probe {
  readonly text: string;
  readonly term: OracleTerm;
}

/** Terms worth asking for one key and operator: values that the records have, in every way of writing them. */
export function probesOf(key: FilterKey, operator: Operator, records: readonly WireRecord[]): Probe[] {
  const kind = key.value.name;
  const make = (values: readonly string[], written: readonly string[] = values, all = false): Probe => ({
    text: key.key + operator + (operator === '->' ? `[${written.join(',')}]` : (written[0] ?? '')),
    term: { key: key.key, kind, operator, values, all },
  });
  if (operator === '.absent' || operator === '.present') return [make([])];
  const found = [...new Set(records.flatMap((record) => valuesOf(record, key.key.split('.'))).map(String))];
  // A phone number without digits, or an empty text, cannot be asked for.
  const usable = found.filter((value) => value !== '' && (kind !== 'digits' || /\d/.test(value)));
  const wanted = usable.flatMap((value) => variants(kind, operator, value));
  if (operator !== '->') {
    return [
      ...wanted.map((value, index) => make([value], [spelling(value, index)])),
      ...(key.value.all && operator !== '!='
        ? ['ALL', '*', 'all', '"ALL"'].map((written) => make([], [written], true))
        : []),
    ];
  }
  const lists = wanted.map((value, index) => [value, wanted[(index + 1) % wanted.length] ?? value]);
  return [
    ...lists.map((values) => make(values, values.map(quoted))),
    ...lists.slice(0, 1).map(([first = '']) => make([first], [quoted(first), quoted(first), ` ${quoted(first)} `])),
    make(wanted, wanted.map(quoted)),
    ...wanted.filter(isPlain).map((value) => make([value])),
    ...(key.value.all ? ['ALL', '"ALL"', '*', 'All'].map((written) => make([], [written], true)) : []),
  ];
}

/** The value itself and others near it, which select the same records, other ones or none. */
function variants(kind: string, operator: Operator, value: string): string[] {
  switch (kind) {
    case 'text':
      return operator === '~=' || operator === '<>='
        ? pieces(operator, value)
        : [value, value.normalize('NFD'), swapped(value)];
    case 'choice':
    case 'yesNo':
      return [value, value.toLowerCase()];
    case 'tag':
      return [value, swapped(value), value.normalize('NFD')];
    case 'digits':
      return [value, value.replace(/(\d)/g, '$1 '), value.replace(/\D/g, ''), `${value.replace(/\D/g, '')}0`];
    case 'dateTime':
      return [
        value,
        value.replace('T', ' '),
        shifted(value, 0, '+02:00'),
        shifted(value, 0, '-07:30'),
        shifted(value, 1, 'Z'),
        shifted(value, -1, 'Z'),
        value.replace('Z', '5Z'),
      ];
    case 'date':
      return [value, nextDay(value)];
    default:
      return [value, `00${value}`, String(Number(value) + 400_000)];
  }
}

/** Beginnings and middles of a text, in other letters and other normal forms too. */
function pieces(operator: Operator, value: string): string[] {
  const points = [...value.normalize('NFC')];
  const cut = (from: number, to: number) => points.slice(from, to).join('');
  const plain =
    operator === '~=' ? [cut(0, 1), cut(0, 3), value] : [cut(1, 2), cut(1, 4), cut(-3, points.length), value];
  return [...new Set(plain.flatMap((piece) => [piece, swapped(piece), piece.normalize('NFD')]))].filter(
    (piece) => piece.trim() === piece && piece !== '',
  );
}

function swapped(text: string): string {
  const upper = text.toUpperCase();
  return upper === text ? text.toLowerCase() : upper;
}

/** The instant, moved by milliseconds and written with another offset. */
function shifted(value: string, milliseconds: number, zone: string): string {
  const [, sign = '+', hours = '0', minutes = '0'] = /([+-])(\d+):(\d+)/.exec(zone) ?? [];
  const offset = (sign === '-' ? -1 : 1) * (Number(hours) * 60 + Number(minutes)) * 60_000;
  return new Date(Date.parse(value) + milliseconds + offset).toISOString().replace('Z', zone);
}

/** Its multiples, without their whole part, are spread evenly, however many there are. */
const GOLDEN_RATIO = (Math.sqrt(5) - 1) / 2;

function nextDay(date: string): string {
  return new Date(Date.parse(date) + 86_400_000).toISOString().slice(0, 10);
}

/** A value bare, quoted or between spaces, by turns. */
function spelling(value: string, turn: number): string {
  if (!isPlain(value) || turn % 3 === 1) return quoted(value);
  return turn % 3 === 0 ? value : ` ${value} `;
}

/** Whether a value may stand without quotes: nothing in it ends a value or belongs to an operator. */
function isPlain(value: string): boolean {
  return !/[",[\]\\]/.test(value) && !/^[=><~!-]/.test(value) && value.trim() === value && value !== '';
}

function quoted(value: string): string {
  return `"${value.replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"`;
}

/**
 * At most as many probes, one from each of as many parts of the list. Probes come in groups whose members stand in the same
 * order, so that the place within its part is another one for each; whoever takes few of many lists gives each list a turn.
 */
export function some<T>(items: readonly T[], most: number, turn = 0): T[] {
  const count = Math.min(most, items.length);
  const size = items.length / Math.max(1, count);
  return Array.from({ length: count }, (_, index) => {
    const place = ((index + turn) * GOLDEN_RATIO) % 1;
    return items[Math.floor((index + place) * size)] as T;
  });
}
