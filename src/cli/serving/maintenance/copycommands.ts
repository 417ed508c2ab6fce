import { isOn } from '../../flags/values.ts';
import type { CommandInput } from '../../molarcommand.ts';
import { problemsExitCode } from './backupreport.ts';
import { type MigrationReport, migrationText, type RestoreReport, restoreText } from './copyreports.ts';
import { MaintenanceCommand } from './maintenancecommand.ts';

/** Prints what was restored. */
export abstract class RestoreCommand extends MaintenanceCommand<RestoreReport> {
  protected override tell(report: RestoreReport, { flags }: CommandInput) {
    const text = isOn(flags, 'json') ? `${JSON.stringify(report)}\n` : restoreText(report);
    return { text, exitCode: problemsExitCode(report) };
  }
}

/** Prints what was carried over. */
export abstract class MigrateCommand extends MaintenanceCommand<MigrationReport> {
  protected override tell(report: MigrationReport, { flags }: CommandInput) {
    const text = isOn(flags, 'json') ? `${JSON.stringify(report)}\n` : migrationText(report);
    return { text, exitCode: problemsExitCode(report) };
  }
}
