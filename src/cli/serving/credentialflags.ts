import * as Args from '@oclif/core/args';
import { SCOPES } from '../../catalog/scopes.ts';
import { flagGroup } from '../flags/declare.ts';
import { type FlagValues, isOn, textFlag, textFlags } from '../flags/values.ts';
import { dataFlags, jsonFlag } from './servercommand.ts';

const { list, text, toggle } = flagGroup();

/** Flags that say what a new token or client may do, and until when (contract §8). */
export const rightsFlags = {
  ...dataFlags,
  for: list('ORGANIZATION', 'Organization it is for; may be repeated', { required: true }),
  scope: list(undefined, 'What it allows, model:read when not given; may be repeated', { options: SCOPES }),
  expires: text(
    'TIME',
    'When it stops working: a date, a date-time, a duration such as 24h, or never; 90d when not given',
    { means: 'date' },
  ),
  locations: text('ID[,ID…]', 'Ids of the only locations that it sees; all when not given'),
  'read-only': toggle('It changes nothing, whatever its scopes'),
  label: text('TEXT', 'A name to recognize it by'),
  ...jsonFlag,
};

/** Flags of commands that replace a token or a secret. */
export const rotationFlags = {
  ...dataFlags,
  overlap: text('TIME', 'How long the earlier one works on: 24h when not given, 0 to end it now', { default: '24h' }),
  ...jsonFlag,
};

/** What `rightsFlags` ask for; scopes and ids are as they were given. */
export function rightsRequest(flags: FlagValues) {
  const scopes = textFlags(flags, 'scope');
  return {
    organizations: textFlags(flags, 'for'),
    scopes: scopes.length > 0 ? scopes : ['model:read'],
    expires: textFlag(flags, 'expires'),
    locations: textFlag(flags, 'locations')?.split(','),
    readOnly: isOn(flags, 'read-only'),
    label: textFlag(flags, 'label'),
  };
}

/** The argument of commands on one token or client. */
export function idArgument(listed: string) {
  return { id: Args.string({ required: true, ignoreStdin: true, description: `Id that "${listed}" shows` }) };
}

/** Tokens, clients or keys as JSON, or for people as a line each, whose cells stand below each other. */
export function listed<T>(
  flags: FlagValues,
  rows: readonly T[],
  { none, cellsOf }: { readonly none: string; readonly cellsOf: (row: T) => readonly string[] },
): string {
  if (isOn(flags, 'json')) return `${JSON.stringify(rows)}\n`;
  if (rows.length === 0) return `${none}\n`;
  const lines = rows.map(cellsOf);
  const widths = (lines[0] ?? []).map((_, column) => Math.max(...lines.map((cells) => cells[column]?.length ?? 0)));
  const padded = lines.map((cells) => cells.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  '));
  return padded.map((line) => `${line.trimEnd()}\n`).join('');
}

type Terms = Pick<
  import('../../server/tokens/tokens.ts').TokenListing,
  'label' | 'organizations' | 'scopes' | 'locations' | 'readOnly' | 'expiresAt' | 'lastUsedAt'
>;

/** Label, organizations, rights and times of a credential. */
export function termCells(terms: Terms): readonly string[] {
  const { label, organizations, scopes, locations, readOnly, expiresAt, lastUsedAt } = terms;
  return [
    label ?? '',
    organizations.join(','),
    scopes.join(','),
    [locations === null ? '' : `locations ${locations.join(',')}`, readOnly ? 'read-only' : ''].join(' ').trim(),
    `expires ${expiresAt ?? 'never'}`,
    `used ${lastUsedAt ?? 'never'}`,
  ];
}
