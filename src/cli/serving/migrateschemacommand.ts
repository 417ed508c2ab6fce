import * as Flags from '@oclif/core/flags';
import { EXIT } from '../../catalog/failures.ts';
import { countText } from '../../core/count.ts';
import { isOn } from '../flags/values.ts';
import type { CommandInput } from '../molarcommand.ts';
import { MaintenanceCommand, type Outcome, type Task } from './maintenancecommand.ts';
import { dataFlags, dataLocation, jsonFlag, requireFolder } from './servercommand.ts';

type SchemaReport = import('../../server/maintenance/migrateschema.ts').SchemaReport;

/** `molar server migrate-schema`: the tables of this version, made by their owner. */
export abstract class MigrateSchemaCommand extends MaintenanceCommand {
  static override flags = {
    data: dataFlags.data,
    database: dataFlags.database,
    finish: Flags.boolean({
      summary:
        'Take away what only servers of an earlier version need, without waiting until none was seen for ten minutes',
    }),
    ...jsonFlag,
  };

  protected override async perform({ flags }: CommandInput, task: Task): Promise<Outcome> {
    const location = dataLocation(flags, this.context.env);
    requireFolder(location);
    const { migrateSchema } = await import('../../server/maintenance/migrateschema.ts');
    const report = await migrateSchema(location, task, isOn(flags, 'finish'));
    const text = isOn(flags, 'json') ? `${JSON.stringify(report)}\n` : schemaText(report);
    return { text, exitCode: EXIT.done };
  }
}

/** What was done, for people; `--json` has the names. */
function schemaText({ place, version, changed, migrations, tables, columns, indexes, finished }: SchemaReport): string {
  const left = finished ? '' : 'Servers of an earlier version may go on. Once they are stopped: --finish.\n';
  if (!changed) return `${place} has the tables of molar ${version} already.\n${left}`;
  const counts = [
    [migrations, 'migrations run'],
    [tables, 'tables'],
    [columns, 'columns'],
    [indexes, 'indexes added'],
  ] as const;
  const done = counts.map(([names, what]) => `${countText(names.length)} ${what}`).join(', ');
  return `${place} has the tables of molar ${version} now: ${done}.\n${left}`;
}
