import type { FlagInput } from '@oclif/core/interfaces';
import { RECURRENCE_NAMES } from '../../catalog/recurrence/fields.ts';
import type { Query } from '../../core/transport/client.ts';
import { flagGroup } from '../flags/declare.ts';
import { type FlagValues, kebab, textFlag, textFlags } from '../flags/values.ts';

const recurrence = flagGroup('RECURRENCE');
const plain = flagGroup();

/** Flags that say a recurrence in words or as a rule of RFC 5545 (contract §2). */
export function recurrenceFlags(mode: 'create' | 'update'): FlagInput {
  const none = mode === 'create' ? '' : ', or none to end the series';
  return {
    recurrence: recurrence.text(
      `weekly|monthly${mode === 'create' ? '' : '|none'}|RULE`,
      `How it recurs: in words with --on, --every, --from and --until, or a rule such as FREQ=WEEKLY;BYDAY=MO;UNTIL=20270301${none}`,
    ),
    every: recurrence.text('N', 'Every N weeks or months, 1 to 52; 1 when not given'),
    on: recurrence.list(
      'DAYS',
      'weekly: weekdays, such as MON,WED; monthly: a week and a weekday, such as "SECOND TUESDAY"',
    ),
    from: recurrence.text('DATE', 'Date from which weeks or months count; that of the event when not given', {
      means: 'date',
    }),
    until: recurrence.text('DATE', 'Last date, included; at most two years after the first', { means: 'date' }),
  };
}

/** Flags that do nothing without `--recurrence`, as far as they were given. */
export function companionsGiven(flags: FlagValues): string[] {
  return ['every', 'on', 'from', 'until'].filter((name) => textFlags(flags, name).length > 0);
}

/** Flags of single recurrence fields that were given: `recurrence-type`. */
export function fieldFlagsGiven(flags: FlagValues): string[] {
  return RECURRENCE_NAMES.map(kebab).filter((name) => textFlags(flags, name).length > 0);
}

/** Whether a write is for the event alone or for it and all later ones of its series (contract §2). */
export const targetFlag = {
  target: plain.text(undefined, 'The event alone, or it and all later ones of its series', {
    options: ['occurrence', 'series'],
    default: 'occurrence',
  }),
};

/** Whether the flags name the series. */
export function isSeries(flags: FlagValues): boolean {
  return textFlag(flags, 'target') === 'series';
}

/** The parameter of the API, which is exact upper case (D8). */
export function targetQuery(flags: FlagValues): Query {
  return { recurrenceTarget: isSeries(flags) ? 'SERIES' : 'OCCURRENCE' };
}
