import * as Flags from '@oclif/core/flags';
import type { FlagInput } from '@oclif/core/interfaces';
import type { FilterKeys } from '../../catalog/filter/check.ts';
import { type Fields, isWritable } from '../../catalog/record.ts';

/** `--timezone`: the zone in which dates and times without one are meant (D50). `helpGroup`: where help shows it. */
export function timezoneFlag(helpGroup: string): FlagInput {
  const summary = "Time zone of dates and times given without one, such as America/Denver; this computer's by default";
  return { timezone: Flags.string({ helpGroup, helpValue: 'ZONE', summary }) };
}

/** `--timezone` where a key is a date-time. */
export function timezoneOfKeys(keys: FilterKeys, helpGroup: string): FlagInput {
  return Object.values(keys).some(({ value }) => value.name === 'dateTime') ? timezoneFlag(helpGroup) : {};
}

/** `--timezone` where a field that can be written is a date-time. */
export function timezoneOfFields(fields: Fields, mode: 'create' | 'update', helpGroup: string): FlagInput {
  const isTime = Object.values(fields).some((field) => field.kind.name === 'dateTime' && isWritable(field, mode));
  return isTime ? timezoneFlag(helpGroup) : {};
}
