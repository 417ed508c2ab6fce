import { isDate, parseInstant } from '../../catalog/fields/times.ts';
import { usageFailure } from '../../core/failure.ts';
import { flagGroup } from '../flags/declare.ts';
import { type FlagValues, textFlag } from '../flags/values.ts';
import type { DataFolder } from './servercommand.ts';

const { text } = flagGroup();

/** Which entries of the audit log a command reads. */
export const rangeFlags = {
  from: text('TIME', 'First entry: a date (UTC) or a date-time with a zone', { means: 'date' }),
  to: text('TIME', 'Entries before this: a date (UTC) or a date-time with a zone', { means: 'date' }),
  for: text('ORGANIZATION', 'Entries of this organization alone'),
};

/** The entries that the flags name. Throws a usage failure (exit 2), or a Refusal (404) for an unknown organization. */
export async function rangeOf({ service }: Pick<DataFolder, 'service'>, flags: FlagValues) {
  const { organizationKey } = await import('../../server/audit/export.ts');
  const organization = textFlag(flags, 'for');
  return {
    ...timeOf(flags, 'from'),
    ...timeOf(flags, 'to'),
    ...(organization !== undefined && { org: await organizationKey(service.store.read, organization) }),
  };
}

/** A time flag as a UTC date-time; nothing where it was not given. Throws a usage failure (exit 2). */
function timeOf(flags: FlagValues, name: 'from' | 'to'): { from?: string; to?: string } {
  const text = textFlag(flags, name);
  if (text === undefined) return {};
  const instant = parseInstant(isDate(text) ? `${text}T00:00:00Z` : text, {});
  if (typeof instant === 'number') return { [name]: new Date(Math.ceil(instant)).toISOString() };
  const message = `--${name} must be a date, or a date-time with a zone such as 2026-11-01T08:00:00Z.`;
  throw usageFailure(message, { source: `--${name}` });
}
