import * as Flags from '@oclif/core/flags';
import type { FlagInput } from '@oclif/core/interfaces';
import { type Fields, isWritable } from '../../catalog/record.ts';
import { kebab } from './values.ts';

type Mode = 'create' | 'update';

/** One flag a writable field (contract §2), and the three ways to give a body that are the same for every write. */
export function bodyFlags(fields: Fields, mode: Mode): FlagInput {
  const own = writableNames(fields, mode).map((name) => [kebab(name), fieldFlag(name, fields, mode)] as const);
  return { ...Object.fromEntries(own), ...sharedFlags };
}

const sharedFlags = {
  data: Flags.string({
    helpGroup: 'BODY',
    helpValue: 'FILE|-',
    summary: 'JSON object with the fields, - for standard input',
  }),
  set: Flags.string({
    helpGroup: 'BODY',
    helpValue: 'FIELD=VALUE',
    multiple: true,
    multipleNonGreedy: true,
    summary: 'Set a field by its name in the API; null clears it; may be repeated',
  }),
};

/** Every write can be looked at before it is sent. */
export const dryRunFlag = {
  'dry-run': Flags.boolean({ summary: 'Print the request as JSON and send nothing' }),
};

/** Names of the fields that a body may hold and a flag can carry. */
export function writableNames(fields: Fields, mode: Mode): string[] {
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
  const isTold = kind?.name === 'yesNo' || values.length > 12 || values.every((value) => about.includes(value));
  const choices = isTold ? '' : `: ${values.join(', ')}${kind?.isOpen ? ' or another' : ''}`;
  const must = mode === 'create' && field?.required ? ' (required)' : '';
  const summary = `${about}${choices}${must}`;
  const options = { helpGroup: 'FIELDS', helpValue: valueName(kind?.name), summary };
  if (kind?.name !== 'list') return Flags.string(options);
  const singular = kebab(name).replace(/s$/, '');
  // recurrenceDays must not take the flag of recurrenceDay.
  const isTaken = Object.keys(fields).some((other) => kebab(other) === singular);
  const aliases = isTaken ? [] : [singular];
  return Flags.string({ ...options, aliases, multiple: true, multipleNonGreedy: true });
}

const VALUE_NAMES: Readonly<Record<string, string>> = {
  link: 'ID',
  organizationLink: 'ID',
  date: 'YYYY-MM-DD',
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
