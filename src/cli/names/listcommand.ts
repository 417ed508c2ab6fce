import type { FlagInput } from '@oclif/core/interfaces';
import type { Fields } from '../../catalog/fields/kind.ts';
import { id, integer } from '../../catalog/fields/numbers.ts';
import { text } from '../../catalog/fields/text.ts';
import { readOnly } from '../../catalog/record.ts';
import { NAME_KINDS } from '../../core/names/namerows.ts';
import { flagGroup } from '../flags/declare.ts';
import { outputFlags, rowFlags } from '../flags/output.ts';
import { textFlag } from '../flags/values.ts';
import { MolarCommand } from '../molarcommand.ts';
import { singlePage, writeRows } from '../rows/output.ts';
import { planRows, shownLimit } from '../rows/plan.ts';
import { quietNamesFlags, readNames } from './profilenames.ts';

const FIELDS: Fields = {
  kind: readOnly(text(), 'location, provider or operatory'),
  id: readOnly(id(), 'Id'),
  name: readOnly(text(), 'Name; none where nobody has given one'),
  timezone: readOnly(text(), 'Time zone of a location'),
  order: readOnly(integer(), 'Place among its kind'),
};

const { 'page-size': _, ...rows } = rowFlags;

export const namesListFlags: FlagInput = {
  kind: flagGroup('FILTER').text(NAME_KINDS.join('|'), 'Only this kind', { options: [...NAME_KINDS] }),
  ...rows,
  ...outputFlags,
  ...quietNamesFlags,
};

/** Lists the names of a profile, by kind, order and id. */
export abstract class NamesListCommand extends MolarCommand {
  override async run(): Promise<void> {
    const { flags } = await this.input();
    const { context } = this;
    const plan = planRows(flags, FIELDS, Object.keys(FIELDS), context.streams.stdout.isTTY);
    const kind = textFlag(flags, 'kind');
    const names = readNames(flags, context.env);
    const chosen = names.rows
      .filter((row) => kind === undefined || row.kind === kind)
      .map((row) => ({ ...row, id: BigInt(row.id), name: row.name || null, timezone: row.timezone || null }));
    const note = (line: string) =>
      this.note(
        names.isEmpty && line === 'No names match.' ? 'There are no names yet; molar names learn finds ids.' : line,
      );
    const sorted = plan.sort === undefined ? chosen : plan.sort.order.sorted(chosen, (row) => row);
    const shown = sorted.slice(0, shownLimit(plan));
    await writeRows({
      context,
      flags,
      plan: { ...plan, sort: undefined },
      one: 'name',
      many: 'names',
      open: async () => singlePage(shown),
      note,
    });
  }
}
