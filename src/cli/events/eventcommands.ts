import type { FlagInput } from '@oclif/core/interfaces';
import { events } from '../../catalog/resources/events.ts';
import type { Query } from '../../core/transport/client.ts';
import { deleteCommand, deleteFlags } from '../crud/deletecommand.ts';
import { createCommand, updateCommand, writeFlags } from '../crud/writecommands.ts';
import type { BodyRules } from '../flags/body.ts';
import type { FlagValues } from '../flags/values.ts';
import type { LocalTimes } from '../flags/zone.ts';
import { isSeries, recurrenceFlags, targetFlag, targetQuery } from './eventflags.ts';
import { recurrenceRules } from './recurrencerules.ts';

/** Creates an event, or a series of them. */
export abstract class EventCreateCommand extends createCommand(events) {
  static override flags: FlagInput = { ...recurrenceFlags('create'), ...writeFlags(events, 'create') };

  protected override bodyRules(flags: FlagValues, times: LocalTimes): BodyRules {
    return recurrenceRules({ flags, times });
  }
}

/** Changes an event, or it and all later ones of its series. */
export abstract class EventUpdateCommand extends updateCommand(events) {
  static override flags: FlagInput = { ...targetFlag, ...recurrenceFlags('update'), ...writeFlags(events, 'update') };

  protected override bodyRules(flags: FlagValues, times: LocalTimes): BodyRules {
    return recurrenceRules({ flags, times, event: () => this.stored(flags) });
  }

  protected override queryOf(flags: FlagValues): Query {
    return targetQuery(flags);
  }
}

/** Deletes an event, or it and all later ones of its series. */
export abstract class EventDeleteCommand extends deleteCommand(events, 3000000000001) {
  static override flags: FlagInput = { ...targetFlag, ...deleteFlags };

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
