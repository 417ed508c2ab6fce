import type { FlagInput } from '@oclif/core/interfaces';
import { pathOf } from '../catalog/catalog.ts';
import type { Resource } from '../catalog/define.ts';
import type { Row } from '../core/pages/page.ts';
import type { ApiClient, Query } from '../core/transport/client.ts';
import type { BodyInput } from './bodyinput.ts';
import type { CommandInput } from './molarcommand.ts';
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
    await this.update(await this.input());
  }

  /** Makes the change that the command line describes. */
  protected async update(input: CommandInput): Promise<void> {
    this.path = pathOf(this.operation, readIdArgument(input));
    await this.write(input.flags, this.path);
  }

  protected async send(client: ApiClient, { body }: BodyInput, query: Query): Promise<Row> {
    const { signal } = this.context;
    return recordOf(await client.request({ method: 'PUT', path: this.path, query, body, signal }));
  }
}
