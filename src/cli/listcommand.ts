import type { FlagInput } from '@oclif/core/interfaces';
import { operationOf } from '../catalog/catalog.ts';
import type { Resource } from '../catalog/define.ts';
import { walkPages } from '../core/pages/walk.ts';
import { defaultsFlag, filterFlags, readBoundedFilter } from './flags/filters.ts';
import { rowFlags } from './flags/output.ts';
import { commonFlags, ResourceCommand } from './resourcecommand.ts';
import { writeRows } from './rowoutput.ts';
import { planRows } from './rowplan.ts';

export function listFlags(resource: Resource): FlagInput {
  const operation = operationOf(resource, 'list');
  return { ...filterFlags(operation.filters ?? {}), ...defaultsFlag(operation), ...rowFlags, ...commonFlags };
}

/** Lists the records of a resource, page by page, to the end. */
export abstract class ListCommand extends ResourceCommand {
  static override usage = '<%= command.id %> [FLAGS]';
  protected readonly verb = 'list';

  override async run(): Promise<void> {
    const { flags } = await this.input();
    const { context, operation, resource } = this;
    const filter = readBoundedFilter(flags, operation);
    const plan = planRows(flags, this.fields, resource.tableColumns, context.streams.stdout.isTTY);
    const { fields, limit, pageSize } = plan;
    await writeRows({
      context,
      flags,
      plan,
      many: resource.many,
      open: async () =>
        walkPages(await this.connect(flags), operation, { filter, fields, limit, pageSize, signal: context.signal }),
      note: (text) => this.note(text),
    });
  }
}
