import type { FlagInput } from '@oclif/core/interfaces';
import type { Fields } from '../../catalog/fields/kind.ts';
import { text } from '../../catalog/fields/text.ts';
import { readOnly } from '../../catalog/record.ts';
import { flagGroup } from '../flags/declare.ts';
import { outputFlags, rowFlags } from '../flags/output.ts';
import { MolarCommand } from '../molarcommand.ts';
import { singlePage, writeRows } from '../rows/output.ts';
import { planRows } from '../rows/plan.ts';
import { REPORTS } from './all.ts';

export const reportsListFlags: FlagInput = {
  sort: rowFlags.sort,
  ...outputFlags,
  quiet: flagGroup().toggle('Print no notes'),
};

const REPORT: Fields = {
  name: readOnly(text(), 'Name of the command'),
  description: readOnly(text(), 'What it lists'),
};

/** Lists the reports. No request is sent. */
export abstract class ReportsListCommand extends MolarCommand {
  static override usage = '<%= command.id %> [FLAGS]';

  override async run(): Promise<void> {
    const { flags } = await this.input();
    const { context } = this;
    const plan = planRows(flags, REPORT, Object.keys(REPORT), context.streams.stdout.isTTY);
    await writeRows({
      ...{ context, flags, plan, one: 'report', many: 'reports' },
      open: async () => singlePage(REPORTS.map(({ name, description }) => ({ name, description }))),
      note: (line) => this.note(line),
    });
  }
}
