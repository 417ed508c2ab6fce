import * as Flags from '@oclif/core/flags';
import type { FlagInput } from '@oclif/core/interfaces';
import { pathOf } from '../../catalog/catalog.ts';
import { type Problem, Refusal } from '../../catalog/failures.ts';
import { asId } from '../../catalog/fields/numbers.ts';
import { emittedFields } from '../../catalog/record.ts';
import { usageFailure } from '../../core/failure.ts';
import type { ApiRequest } from '../../core/transport/client.ts';
import { dryRunFlag } from '../flags/body.ts';
import { rowFlags } from '../flags/output.ts';
import { type FlagValues, isOn, textFlags } from '../flags/values.ts';
import { writeRows } from '../rows/output.ts';
import { planRows } from '../rows/plan.ts';
import { onePage } from './calculatedcommand.ts';
import { dryRunText } from './dryrun.ts';
import { commonFlags, ResourceCommand, readIdArgument, recordsOf } from './resourcecommand.ts';

export const sublistFlags: FlagInput = { sort: rowFlags.sort, ...commonFlags };

/** Flags of a command that replaces the list below a record; `flag` names one entry of it. */
export function replaceFlags(flag: string, about: string): FlagInput {
  return {
    [flag]: Flags.string({ helpValue: 'ID,…', multiple: true, multipleNonGreedy: true, summary: about }),
    none: Flags.boolean({ summary: 'Leave the list empty' }),
    ...dryRunFlag,
    ...sublistFlags,
  };
}

/** What both commands on the list below a record share: the whole list is one answer. */
abstract class SublistBase extends ResourceCommand {
  static override usage = '<%= command.id %> ID [FLAGS]';
  protected abstract readonly one: string;
  protected abstract readonly many: string;

  protected async show(flags: FlagValues, request: ApiRequest): Promise<void> {
    const { context, fields, many } = this;
    const plan = planRows({ ...flags, all: true }, fields, emittedFields(fields), context.streams.stdout.isTTY);
    await writeRows({
      context,
      flags,
      plan,
      one: this.one,
      many,
      open: async () =>
        onePage(recordsOf(await (await this.connect(flags)).request({ ...request, signal: context.signal }))),
      note: (text) => this.note(text),
    });
  }
}

/** Lists what stands below a record. */
export abstract class SublistCommand extends SublistBase {
  override async run(): Promise<void> {
    const input = await this.input();
    await this.show(input.flags, { method: 'GET', path: pathOf(this.operation, readIdArgument(input)) });
  }
}

/** Replaces the whole list below a record by the ids given, and shows the new list. */
export abstract class ReplaceCommand extends SublistBase {
  /** The flag that names one entry. */
  protected abstract readonly flag: string;

  override async run(): Promise<void> {
    const input = await this.input();
    const { flags } = input;
    const path = pathOf(this.operation, readIdArgument(input));
    const body = this.readEntries(flags);
    if (isOn(flags, 'dry-run')) return this.print(dryRunText(flags, this.context, { method: 'POST', path, body }));
    // Replacing a list twice by the same one leaves the same list, so it may be sent again whatever became of it.
    await this.show(flags, { method: 'POST', path, body, repeatable: true });
  }

  private readEntries(flags: FlagValues): readonly { readonly id: number }[] {
    const texts = textFlags(flags, this.flag).flatMap((text) => text.split(','));
    const source = `--${this.flag}`;
    if (isOn(flags, 'none') === texts.length > 0) {
      throw usageFailure(`Give either ${source} or --none: the list is replaced as a whole.`, { source });
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
}
