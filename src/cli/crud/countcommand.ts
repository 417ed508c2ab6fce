import type { FlagInput } from '@oclif/core/interfaces';
import { operationOf } from '../../catalog/catalog.ts';
import type { Resource } from '../../catalog/define.ts';
import { countAll, countOnce } from '../../core/pages/countall.ts';
import { connectionFlags, talkFlags } from '../flags/connection.ts';
import { defaultsFlag, filterFlags } from '../flags/filters.ts';
import { namedFormat, outputFlags } from '../flags/output.ts';
import { isOn } from '../flags/values.ts';
import { zoneFlagsFor } from '../flags/zone.ts';
import { ResourceCommand } from './resourcecommand.ts';

export function countFlags(resource: Resource): FlagInput {
  const { json } = outputFlags;
  const operation = operationOf(resource, 'count');
  const filters = { ...filterFlags(operation.filters ?? {}), ...defaultsFlag(operation) };
  return { ...filters, json, ...zoneFlagsFor(operation.filters ?? {}), ...talkFlags, ...connectionFlags };
}

/** Prints how many records match: a bare number, or with `--json` the object that the API answers. */
export abstract class CountCommand extends ResourceCommand {
  static override usage = '<%= command.id %> [FLAGS]';
  protected readonly verb = 'count';

  override async run(): Promise<void> {
    const { flags } = await this.input();
    const { operation, resource } = this;
    const filter = await this.filterOf(flags, operation.filters);
    const client = await this.connect(flags);
    const { signal, clock } = this.context;
    let unproved: string | undefined;
    const onUnproved = (what: string) => {
      unproved = what;
    };
    const { total, data } = isOn(flags, 'server-defaults')
      ? await countOnce(client, operation, filter, signal)
      : await countAll(client, operation, filter, { now: clock.now, signal, onUnproved });
    await this.print(namedFormat(flags) === 'json' ? `${JSON.stringify(data)}\n` : `${total}\n`);
    if (unproved !== undefined) await this.note(`It is not proved that all ${resource.many} are counted: ${unproved}`);
  }
}
