import type { FlagInput } from '@oclif/core/interfaces';
import { operationOf, pathOf } from '../../catalog/catalog.ts';
import type { Resource } from '../../catalog/define.ts';
import { readFieldSelection } from '../../catalog/fieldselection.ts';
import { countAll, countOnce } from '../../core/pages/countall.ts';
import { connectionFlags, talkFlags } from '../flags/connection.ts';
import { defaultsFlag, filterFlags } from '../flags/filters.ts';
import { namedFormat, outputFlags, recordFormat } from '../flags/output.ts';
import { isOn } from '../flags/values.ts';
import { zoneFlagsFor } from '../flags/zone.ts';
import { planRecord, writeRecord } from '../rows/record.ts';
import {
  commonFlags,
  dateLimitNote,
  examplesOf,
  idArgument,
  ResourceCommand,
  readIdArgument,
  recordOf,
} from './resourcecommand.ts';

/** The command that shows one record of a resource; `exampleId` stands in the examples of its help. */
export function getCommand(resource: Resource, exampleId: number) {
  return class extends ResourceCommand {
    static override usage = '<%= command.id %> ID [FLAGS]';
    static override summary = `Show one ${resource.one}`;
    static override examples = examplesOf(resource, 'get', `${exampleId}`, `${exampleId} --json`);
    static override args = idArgument(resource);
    static override flags: FlagInput = { ...commonFlags, ...recordFormat };
    protected override readonly resource = resource;
    protected override readonly verb = 'get';

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
  };
}

/** The command that prints how many records of a resource match: a bare number, or with `--json` the object of the API. */
export function countCommand(resource: Resource) {
  const operation = operationOf(resource, 'count');
  const { filters = {} } = operation;
  return class extends ResourceCommand {
    static override summary = `Count ${resource.many}`;
    static override description = dateLimitNote(resource, operation, 'counted');
    static override flags: FlagInput = {
      ...filterFlags(filters),
      ...defaultsFlag(operation),
      json: outputFlags.json,
      ...zoneFlagsFor(filters),
      ...talkFlags,
      ...connectionFlags,
    };
    protected override readonly resource = resource;
    protected override readonly verb = 'count';

    override async run(): Promise<void> {
      const { flags } = await this.input();
      const filter = await this.filterOf(flags, filters);
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
      if (unproved !== undefined) await this.note(`Could not prove that all ${resource.many} are counted: ${unproved}`);
    }
  };
}
