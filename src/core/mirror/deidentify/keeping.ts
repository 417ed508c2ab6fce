import type { Fields, Kind } from '../../../catalog/fields/kind.ts';
import type { MirrorColumn, MirrorTable } from '../tables.ts';
import { AGE_LIMIT, treatmentOf } from './treatments.ts';

/** What a value becomes; null for nothing. */
export type Keep = (value: unknown) => unknown;

/** What keeping a value needs besides it. */
export interface KeepContext {
  /** Digits; undefined for what is no id. */
  readonly pseudonym: (id: unknown) => string | undefined;
  /** A keyed digest. */
  readonly digest: (text: string) => string;
  /** UTC milliseconds. */
  readonly now: () => number;
}

/** What is kept of the values of a column that are not null. */
export function keepOf(table: MirrorTable, column: MirrorColumn, { pseudonym, digest, now }: KeepContext): Keep {
  switch (treatmentOf(table, column)) {
    case 'pseudonym':
      return (value) => exactNumber(pseudonym(value));
    case 'group':
      return (value) => (typeof value === 'object' ? null : digest(`group ${value}`));
    case 'year':
      return yearOf;
    case 'birthYear':
      return (value) => {
        const year = yearOf(value);
        return year !== null && new Date(now()).getUTCFullYear() - Number(year) < AGE_LIMIT ? year : null;
      };
    case 'postalCode':
      return postalCodeOf;
    case 'kept':
      return keepTyped(column, table.resource.fields);
    default:
      return () => null;
  }
}

/** Digits as a number where it holds them. */
function exactNumber(digits: string | undefined): number | string | null {
  if (digits === undefined) return null;
  const number = Number(digits);
  return Number.isSafeInteger(number) ? number : digits;
}

function yearOf(value: unknown): string | null {
  return /^(\d{4})-\d\d-\d\d/.exec(String(value))?.[1] ?? null;
}

/** Areas in which fewer than 20,000 people live, by the guidance of HHS on de-identification (2012). */
const FEW_PEOPLE = '036 059 063 102 203 556 692 790 821 823 830 831 878 879 884 890 893'.split(' ');

function postalCodeOf(value: unknown): string {
  const [, area = '000'] = /^(\d{3})\d\d(?:-?\d{4})?$/.exec(String(value).trim()) ?? [];
  return FEW_PEOPLE.includes(area) ? '000' : area;
}

/** One word, as codes are, or a color: no phone number, no sentence. */
const CODE = /^(?:[a-z][\w./+-]{0,39}|[0-9a-f]{6})$/i;

/** The place of an entry in a map (D24). */
const ORDER_INDEX = /^\d{1,4}$/;

const NUMBER = /^-?\d{1,12}(?:\.\d{1,4})?$/;

/** What has the form of its column: a service may send anything, also where a number or a status is expected. */
function keepTyped({ name, type, field }: MirrorColumn, fields: Fields): Keep {
  if (type === 'boolean') return (value) => (typeof value === 'boolean' ? value : null);
  if (type !== 'text') return (value) => (typeof value === 'number' || NUMBER.test(String(value)) ? value : null);
  // A service may have more statuses than the catalog lists: one word each.
  const listed = kindOf(fields, field ?? '')?.values ?? [];
  const form = name === 'key' ? ORDER_INDEX : CODE;
  return (value) => (typeof value === 'string' && (listed.includes(value) || form.test(value)) ? value : null);
}

/** The kind of value at a wire name, such as `phones.number`. */
function kindOf(fields: Fields, field: string): Kind | undefined {
  let within: Fields | undefined = fields;
  let found: Kind | undefined;
  for (const name of field.split('.')) {
    found = within?.[name]?.kind;
    within = found?.fields ?? found?.item?.fields;
  }
  return found?.name === 'list' ? found.item : found;
}
