import type { FlagInput } from '@oclif/core/interfaces';
import { operationOf } from '../../catalog/catalog.ts';
import type { Resource } from '../../catalog/define.ts';
import type { FilterKeys } from '../../catalog/filter/check.ts';
import { commonFlags, ResourceCommand } from '../crud/resourcecommand.ts';
import { filterFlags } from '../flags/filters.ts';
import { rowFlags } from '../flags/output.ts';
import { asyncFlag } from './asyncflag.ts';
import { listAsync } from './asynclist.ts';

/** Flags of a list that is delivered over the stream only. */
export function asyncListFlags(resource: Resource): FlagInput {
  const { 'page-size': _, ...rows } = rowFlags;
  const filters = filterFlags(operationOf(resource, 'async').filters ?? {});
  return { ...filters, ...rows, ...asyncFlag(resource), ...commonFlags };
}

/** Lists the records of a resource that has no list of its own: with and without `--async` they come over the stream. */
export abstract class AsyncListCommand extends ResourceCommand {
  static override usage = '<%= command.id %> [FLAGS]';
  protected readonly verb = 'async';

  override async run(): Promise<void> {
    const { flags } = await this.input();
    const { context } = this;
    const note = (text: string) => this.note(text);
    const connections = this.connections(flags);
    const filterOf = (keys: FilterKeys) => this.filterOf(flags, keys);
    await listAsync(this.resource, { context, flags, connections, note, filterOf });
  }
}
