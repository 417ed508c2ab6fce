import type { FlagInput } from '@oclif/core/interfaces';
import { pathOf } from '../../catalog/catalog.ts';
import { readFieldSelection } from '../../catalog/fieldselection.ts';
import { recordFormat } from '../flags/output.ts';
import { planRecord, writeRecord } from '../rows/record.ts';
import { commonFlags, ResourceCommand, readIdArgument, recordOf } from './resourcecommand.ts';

export const getFlags: FlagInput = { ...commonFlags, ...recordFormat };

/** Shows one record. */
export abstract class GetCommand extends ResourceCommand {
  static override usage = '<%= command.id %> ID [FLAGS]';
  protected readonly verb = 'get';

  override async run(): Promise<void> {
    const input = await this.input();
    const { flags } = input;
    const { context, fields } = this;
    const path = pathOf(this.operation, readIdArgument(input));
    const plan = planRecord(flags, fields, context);
    const responseFields = readFieldSelection(plan.selection?.join(','), fields, '--fields')?.join(',');
    const client = await this.connect(flags);
    await writeRecord(plan, fields, flags, context, async () =>
      recordOf(await client.request({ method: 'GET', path, query: { responseFields }, signal: context.signal })),
    );
  }
}
