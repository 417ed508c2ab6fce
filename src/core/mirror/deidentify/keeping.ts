import type { Field, Fields } from '../../../catalog/fields/kind.ts';
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
      return keepTyped(column, listedValues(table.resource.fields, column));
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

/** One word, as codes are, or the six digits of a color; nobody's phone number, nor a sentence. */
const CODE = /^(?:[a-z][\w./+-]{0,39}|[0-9a-f]{1,6})$/i;

const NUMBER = /^-?\d{1,12}(?:\.\d{1,4})?$/;

/** What has the form of its column: a service may send anything, also where a number or a status is expected. */
function keepTyped({ type }: MirrorColumn, listed: readonly string[]): Keep {
  if (type === 'boolean') return (value) => (typeof value === 'boolean' ? value : null);
  if (type === 'text')
    return (value) => (typeof value === 'string' && (listed.includes(value) || CODE.test(value)) ? value : null);
  return (value) => (typeof value === 'number' || NUMBER.test(String(value)) ? value : null);
}

/** The values that the catalog lists for a column. */
function listedValues(fields: Fields, { field }: MirrorColumn): readonly string[] {
  let within: Fields | undefined = fields;
  let found: Field | undefined;
  for (const name of (field ?? '').split('.')) {
    found = within?.[name];
    within = found?.kind.fields ?? found?.kind.item?.fields;
  }
  return found?.kind.values ?? [];
}
