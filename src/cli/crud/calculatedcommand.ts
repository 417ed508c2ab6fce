import type { FlagInput } from '@oclif/core/interfaces';
import { operationOf, pathOf } from '../../catalog/catalog.ts';
import type { Resource } from '../../catalog/define.ts';
import { emittedFields } from '../../catalog/record.ts';
import { filterFlags, readFilter } from '../flags/filters.ts';
import { rowFlags } from '../flags/output.ts';
import { writeRows } from '../rows/output.ts';
import { planRows } from '../rows/plan.ts';
import { commonFlags, ResourceCommand, recordsOf } from './resourcecommand.ts';

export function calculatedFlags(resource: Resource): FlagInput {
  const { filters = {} } = operationOf(resource, 'calculated');
  return { ...filterFlags(filters), sort: rowFlags.sort, ...commonFlags };
}

/** Shows the calculated fields of the records that the filter names, all in one answer. */
export abstract class CalculatedCommand extends ResourceCommand {
  static override usage = '<%= command.id %> [FLAGS]';
  protected readonly verb = 'calculated';

  override async run(): Promise<void> {
    const { flags } = await this.input();
    const { context, operation, fields } = this;
    const filter = readFilter(flags, operation.filters ?? {});
    const names = emittedFields(fields);
    const plan = planRows({ ...flags, all: true }, fields, names, context.streams.stdout.isTTY);
    const responseFields = (plan.fields ?? names).filter((name) => name !== 'id').join(',') || 'ALL';
    await writeRows({
      context,
      flags,
      plan,
      one: this.resource.one,
      many: this.resource.many,
      open: async () => {
        const client = await this.connect(flags);
        const query = { filter, responseFields };
        const answer = await client.request({ method: 'GET', path: pathOf(operation), query, signal: context.signal });
        return onePage(recordsOf(answer));
      },
      note: (text) => this.note(text),
    });
  }
}

/** Records that came in one answer, as the only page. */
export async function* onePage<T>(rows: readonly T[]): AsyncGenerator<{ readonly rows: readonly T[] }> {
  yield { rows };
}
