import { isOn } from '../../flags/values.ts';
import type { CommandInput } from '../../molarcommand.ts';
import { type BackupReport, backupText, problemsExitCode } from './backupreport.ts';
import { MaintenanceCommand } from './maintenancecommand.ts';

/** Prints what a backup has. */
export abstract class BackupCommand extends MaintenanceCommand<BackupReport> {
  protected override tell(report: BackupReport, { flags }: CommandInput) {
    const text = isOn(flags, 'json') ? `${JSON.stringify(report)}\n` : backupText(report);
    return { text, exitCode: problemsExitCode(report) };
  }
}
