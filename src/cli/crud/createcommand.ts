import type { FlagInput } from '@oclif/core/interfaces';
import { pathOf } from '../../catalog/catalog.ts';
import type { Resource } from '../../catalog/define.ts';
import { createdRecordLookups } from '../../core/lookup/createdrecord.ts';
import type { Row } from '../../core/pages/page.ts';
import type { ApiClient } from '../../core/transport/client.ts';
import type { BodyInput } from '../flags/bodyinput.ts';
import { recordOf } from './resourcecommand.ts';
import { WriteCommand, writeFlags } from './writecommand.ts';

export function createFlags(resource: Resource): FlagInput {
  return writeFlags(resource, 'create');
}

/** Creates a record, exactly once even when its answer is lost or says nothing. */
export abstract class CreateCommand extends WriteCommand {
  static override usage = '<%= command.id %> [FLAGS]';
  protected readonly verb = 'create';
  protected readonly mode = 'create';

  override async run(): Promise<void> {
    const { flags } = await this.input();
    await this.write(flags, pathOf(this.operation));
  }

  protected async send(client: ApiClient, { body }: BodyInput): Promise<Row> {
    const { signal } = this.context;
    const answer = await client.request({
      method: 'POST',
      path: pathOf(this.operation),
      body,
      ...createdRecordLookups(client, this.resource, body),
      signal,
    });
    return recordOf(answer);
  }
}
