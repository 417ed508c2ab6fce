import type { FlagInput } from '@oclif/core/interfaces';
import { operationOf, pathOf } from '../catalog/catalog.ts';
import type { Resource } from '../catalog/define.ts';
import { localFailure } from '../core/failure.ts';
import { totalOf } from './exporting/expectedtotal.ts';
import { connectionFlags, talkFlags } from './flags/connection.ts';
import { defaultsFlag, filterFlags, readBoundedFilter } from './flags/filters.ts';
import { namedFormat, outputFlags } from './flags/output.ts';
import { ResourceCommand } from './resourcecommand.ts';

export function countFlags(resource: Resource): FlagInput {
  const { json } = outputFlags;
  const operation = operationOf(resource, 'count');
  const filters = { ...filterFlags(operation.filters ?? {}), ...defaultsFlag(operation) };
  return { ...filters, json, ...talkFlags, ...connectionFlags };
}

/** Prints how many records match: a bare number, or with `--json` the object that the API answers. */
export abstract class CountCommand extends ResourceCommand {
  static override usage = '<%= command.id %> [FLAGS]';
  protected readonly verb = 'count';

  override async run(): Promise<void> {
    const { flags } = await this.input();
    const filter = await this.inLocalTime(flags, (times) => readBoundedFilter(flags, this.operation, times));
    const client = await this.connect(flags);
    const { signal } = this.context;
    const answer = await client.request({ method: 'GET', path: pathOf(this.operation), query: { filter }, signal });
    const total = totalOf(answer);
    if (total === undefined) {
      throw localFailure('response.malformed', 'The server sent an answer without a count.', {
        requestId: answer.requestId,
      });
    }
    await this.print(namedFormat(flags) === 'json' ? `${JSON.stringify(answer.data)}\n` : `${total}\n`);
  }
}
