import * as Flags from '@oclif/core/flags';
import type { Query } from '../../core/transport/client.ts';
import { type FlagValues, textFlag } from '../flags/values.ts';

/** Whether a write is for the event alone or for it and all later ones of its series (contract §2). */
export const targetFlag = {
  target: Flags.string({
    options: ['occurrence', 'series'],
    default: 'occurrence',
    summary: 'The event alone, or it and all later ones of its series',
  }),
};

export function isSeries(flags: FlagValues): boolean {
  return textFlag(flags, 'target') === 'series';
}

/** The parameter of the API, which is exact upper case (D8). */
export function targetQuery(flags: FlagValues): Query {
  return { recurrenceTarget: isSeries(flags) ? 'SERIES' : 'OCCURRENCE' };
}
