import { isOn } from '../../flags/values.ts';
import type { CommandInput } from '../../molarcommand.ts';
import { styleOf } from '../../terminal/style.ts';
import { type CheckReport, checkExitCode, checkText } from './checkreport.ts';
import { MaintenanceCommand } from './maintenancecommand.ts';

/** Prints what a check found; finding something is no failure of the command, so the report is there with any exit code. */
export abstract class CheckCommand extends MaintenanceCommand<CheckReport> {
  protected override tell(report: CheckReport, { flags }: CommandInput) {
    const exitCode = checkExitCode(report);
    if (isOn(flags, 'json')) return { text: `${JSON.stringify({ ...report, exitCode }, null, 2)}\n`, exitCode };
    const text = checkText(report, this.context.streams.stdout.columns, styleOf(this.context, true));
    return { text, exitCode, isStyled: true };
  }
}
