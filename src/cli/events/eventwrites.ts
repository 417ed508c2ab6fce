import type { FlagInput } from '@oclif/core/interfaces';
import { events } from '../../catalog/resources/events.ts';
import type { Query } from '../../core/transport/client.ts';
import { CreateCommand, createFlags } from '../crud/createcommand.ts';
import { DeleteCommand, deleteFlags } from '../crud/deletecommand.ts';
import { UpdateCommand, updateFlags } from '../crud/updatecommand.ts';
import type { BodyRules } from '../flags/bodyinput.ts';
import type { LocalTimes } from '../flags/localtimes.ts';
import type { FlagValues } from '../flags/values.ts';
import { recurrenceFlags } from './recurrenceflags.ts';
import { recurrenceRules } from './recurrencerules.ts';
import { isSeries, targetFlag, targetQuery } from './target.ts';

export const eventCreateFlags: FlagInput = { ...recurrenceFlags('create'), ...createFlags(events) };
export const eventUpdateFlags: FlagInput = { ...targetFlag, ...recurrenceFlags('update'), ...updateFlags(events) };
export const eventDeleteFlags: FlagInput = { ...targetFlag, ...deleteFlags };

/** Creates an event, or a series of them. */
export abstract class EventCreateCommand extends CreateCommand {
  protected override readonly resource = events;

  protected override bodyRules(flags: FlagValues, times: LocalTimes): BodyRules {
    return recurrenceRules({ flags, times });
  }
}

/** Changes an event, or it and all later ones of its series. */
export abstract class EventUpdateCommand extends UpdateCommand {
  protected override readonly resource = events;
  protected override bodyRules(flags: FlagValues, times: LocalTimes): BodyRules {
    return recurrenceRules({ flags, times, event: () => this.stored(flags) });
  }

  protected override queryOf(flags: FlagValues): Query {
    return targetQuery(flags);
  }
}

/** Deletes an event, or it and all later ones of its series. */
export abstract class EventDeleteCommand extends DeleteCommand {
  protected override readonly resource = events;

  protected override queryOf(flags: FlagValues): Query {
    return targetQuery(flags);
  }

  protected override describe(flags: FlagValues, id: number): string {
    return `${super.describe(flags, id)}${isSeries(flags) ? ' and all later ones of its series' : ''}`;
  }

  protected override describeMany(flags: FlagValues, count: number): string {
    return `${super.describeMany(flags, count)}${isSeries(flags) ? ' and all later ones of their series' : ''}`;
  }
}
