import type { FlagInput } from '@oclif/core/interfaces';
import { pathOf } from '../catalog/catalog.ts';
import type { Resource } from '../catalog/define.ts';
import type { Row } from '../core/pages/walk.ts';
import type { ApiClient, Query } from '../core/transport/client.ts';
import type { BodyInput } from './bodyinput.ts';
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
  private path = '';

  override async run(): Promise<void> {
    const input = await this.input();
    this.path = pathOf(this.operation, readIdArgument(input));
    await this.write(input.flags, this.path);
  }

  protected async send(client: ApiClient, { body }: BodyInput, query: Query): Promise<Row> {
    const { signal } = this.context;
    return recordOf(await client.request({ method: 'PUT', path: this.path, query, body, signal }));
  }
}
