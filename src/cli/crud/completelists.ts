import type { FlagInput } from '@oclif/core/interfaces';
import { operationOf, pathOf } from '../../catalog/catalog.ts';
import type { Resource } from '../../catalog/define.ts';
import { type Problem, Refusal } from '../../catalog/failures.ts';
import { asId } from '../../catalog/fields/numbers.ts';
import { emittedFields } from '../../catalog/record.ts';
import { usageFailure } from '../../core/failure.ts';
import type { ApiRequest } from '../../core/transport/client.ts';
import { dryRunFlag } from '../flags/body.ts';
import { flagGroup } from '../flags/declare.ts';
import { filterFlags, readFilter } from '../flags/filters.ts';
import { rowFlags } from '../flags/output.ts';
import { type FlagValues, isOn, textFlags } from '../flags/values.ts';
import { singlePage, writeRows } from '../rows/output.ts';
import { planRows } from '../rows/plan.ts';
import { dryRunText } from './dryrun.ts';
import { commonFlags, idArgument, ResourceCommand, readIdArgument, recordsOf, withArticle } from './resourcecommand.ts';

const { list, toggle } = flagGroup();

/** Commands whose list comes complete in one response, and so is never cut on a terminal. */
abstract class CompleteListCommand extends ResourceCommand {
  protected readonly one: string | undefined;
  protected readonly many: string | undefined;

  protected plan(flags: FlagValues) {
    const { context, fields } = this;
    return planRows({ ...flags, all: true }, fields, emittedFields(fields), context.streams.stdout.isTTY);
  }

  protected async show(flags: FlagValues, request: ApiRequest, plan = this.plan(flags)): Promise<void> {
    const { context, resource, one = resource.one, many = resource.many } = this;
    const { signal } = context;
    const open = async () => singlePage(recordsOf(await (await this.connect(flags)).request({ ...request, signal })));
    await writeRows({ context, flags, plan, one, many, open, note: (text) => this.note(text) });
  }
}

/** The command that shows the calculated fields of the records that a filter names. */
export function calculatedCommand(resource: Resource) {
  const { filters = {} } = operationOf(resource, 'calculated');
  return class extends CompleteListCommand {
    static override flags: FlagInput = { ...filterFlags(filters), sort: rowFlags.sort, ...commonFlags };
    protected override readonly resource = resource;
    protected override readonly verb = 'calculated';

    override async run(): Promise<void> {
      const { flags } = await this.input();
      const { operation, fields } = this;
      const filter = readFilter(flags, filters);
      const plan = this.plan(flags);
      const names = plan.fields ?? emittedFields(fields);
      const responseFields = names.filter((name) => name !== 'id').join(',') || 'ALL';
      await this.show(flags, { method: 'GET', path: pathOf(operation), query: { filter, responseFields } }, plan);
    }
  };
}

/** A list below a record: what one entry and several are called, and the flag that names one. */
interface Sublist {
  readonly one: string;
  readonly many: string;
  readonly flag: string;
}

/** The billing types of a patient. */
export const BILLING_TYPES: Sublist = { one: 'billing type', many: 'billing types', flag: 'billing-type' };

const sublistFlags: FlagInput = { sort: rowFlags.sort, ...commonFlags };

/** A command on the list below a record. */
function sublistBase(resource: Resource, verb: string, { one, many }: Sublist) {
  abstract class SublistBase extends CompleteListCommand {
    static override usage = '<%= command.id %> ID [FLAGS]';
    static override args = idArgument(resource);
    static override flags = sublistFlags;
    protected override readonly resource = resource;
    protected override readonly verb = verb;
    protected override readonly one = one;
    protected override readonly many = many;
  }
  return SublistBase;
}

/** The command that lists what stands below a record. */
export function sublistCommand(resource: Resource, verb: string, sublist: Sublist) {
  return class extends sublistBase(resource, verb, sublist) {
    static override summary = `List the ${sublist.many} of ${withArticle(resource.one)}`;

    override async run(): Promise<void> {
      const input = await this.input();
      await this.show(input.flags, { method: 'GET', path: pathOf(this.operation, readIdArgument(input)) });
    }
  };
}

/** The command that replaces the list below a record by the ids given, and shows the new list. */
export function replaceCommand(resource: Resource, verb: string, sublist: Sublist) {
  const { one, many, flag } = sublist;
  return class extends sublistBase(resource, verb, sublist) {
    static override summary = `Replace the ${many} of ${withArticle(resource.one)}`;
    static override flags: FlagInput = {
      [flag]: list('ID,…', `Id of ${withArticle(one)}; may be repeated`),
      none: toggle('Leave the list empty'),
      ...dryRunFlag,
      ...sublistFlags,
    };

    override async run(): Promise<void> {
      const input = await this.input();
      const { flags } = input;
      const path = pathOf(this.operation, readIdArgument(input));
      const body = readEntries(flags, flag);
      if (isOn(flags, 'dry-run')) return this.print(dryRunText(flags, this.context, { method: 'POST', path, body }));
      // Replacing a list twice by the same one leaves the same list, so a lost request can be repeated.
      await this.show(flags, { method: 'POST', path, body, repeatable: true });
    }
  };
}

/** The ids given by a flag, none for `--none`. Throws a Failure or a Refusal (exit 2). */
function readEntries(flags: FlagValues, flag: string): readonly { readonly id: number }[] {
  const texts = textFlags(flags, flag).flatMap((text) => text.split(','));
  const source = `--${flag}`;
  if (isOn(flags, 'none') === texts.length > 0) {
    throw usageFailure(`Give either ${source} or --none: the complete list is replaced.`, { source });
  }
  const ids = texts.map((text) => asId(text.trim()));
  const problem: Problem = {
    code: 'field.type',
    source,
    description: `${source} takes ids: positive integers, separated by commas.`,
  };
  if (ids.includes(undefined)) throw new Refusal([problem]);
  return ids.flatMap((id) => (id === undefined ? [] : [{ id }]));
}
