import type { FlagInput } from '@oclif/core/interfaces';
import { operationOf, pathOf } from '../../catalog/catalog.ts';
import type { Resource } from '../../catalog/define.ts';
import type { Row } from '../../core/pages/page.ts';
import type { ApiClient, Query } from '../../core/transport/client.ts';
import type { BodyInput } from '../flags/bodyinput.ts';
import type { FlagValues } from '../flags/values.ts';
import type { CommandInput } from '../molarcommand.ts';
import { readIdArgument, recordOf } from './resourcecommand.ts';
import { WriteCommand, writeFlags } from './writecommand.ts';

export function updateFlags(resource: Resource): FlagInput {
  return writeFlags(resource, 'update');
}

/** Changes the given fields of a record. */
export abstract class UpdateCommand extends WriteCommand {
  static override usage = '<%= command.id %> ID [FLAGS]';
  protected readonly verb = 'update';
  protected readonly mode = 'update';
  /** Id of the record to change. */
  protected recordId = 0;

  override async run(): Promise<void> {
    const input = await this.input();
    this.recordId = readIdArgument(input);
    await this.update(input);
  }

  /** Makes the change that the command line describes. */
  protected async update(input: CommandInput): Promise<void> {
    await this.write(input.flags, pathOf(this.operation, this.recordId));
  }

  /** The record as it is on the server now. Throws what a request throws. */
  protected async stored(flags: FlagValues): Promise<Row> {
    const client = await this.connect(flags);
    const path = pathOf(operationOf(this.resource, 'get'), this.recordId);
    return recordOf(await client.request({ method: 'GET', path, signal: this.context.signal }));
  }

  protected async send(client: ApiClient, { body }: BodyInput, query: Query): Promise<Row> {
    const { signal } = this.context;
    const path = pathOf(this.operation, this.recordId);
    return recordOf(await client.request({ method: 'PUT', path, query, body, signal }));
  }
}
