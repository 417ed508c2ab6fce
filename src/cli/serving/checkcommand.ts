import { EXIT } from '../../catalog/failures.ts';
import { countText, quantity } from '../../core/count.ts';
import type { Column } from '../../core/output/columns.ts';
import type { Style } from '../../core/output/style.ts';
import { tableFormatter } from '../../core/output/table.ts';
import { terminalText } from '../../core/output/terminaltext.ts';
import { flagGroup } from '../flags/declare.ts';
import { isOn } from '../flags/values.ts';
import type { CommandInput } from '../molarcommand.ts';
import { styleOf } from '../terminal/style.ts';
import { MaintenanceCommand, type Outcome, type Task } from './maintenancecommand.ts';
import { auditKeyFlag, dataFlags, dataLocation, jsonFlag, requireFolder } from './servercommand.ts';

const { toggle } = flagGroup();

type CheckReport = import('../../server/maintenance/check/check.ts').CheckReport;

/** `molar server check`: problems that it finds are no failure of the command, so the report is printed with any exit code. */
export abstract class CheckCommand extends MaintenanceCommand {
  static override flags = {
    ...dataFlags,
    'audit-key': auditKeyFlag,
    deep: toggle('Read every file and compare its SHA-256'),
    repair: toggle(
      'Finish removals, remove files without a document, raise sequences, and rebuild the ledger; exits with 6 when other problems remain',
    ),
    ...jsonFlag,
  };

  protected override async perform({ flags }: CommandInput, task: Task): Promise<Outcome> {
    const location = dataLocation(flags, this.context.env);
    requireFolder(location);
    const { checkPlace } = await import('../../server/maintenance/check/check.ts');
    const report = await checkPlace(location, { ...task, deep: isOn(flags, 'deep'), repair: isOn(flags, 'repair') });
    const exitCode = checkExitCode(report);
    if (isOn(flags, 'json')) return { text: `${JSON.stringify({ ...report, exitCode }, null, 2)}\n`, exitCode };
    const text = checkText(report, this.context.streams.stdout.columns, styleOf(this.context, true));
    return { text, exitCode, isStyled: true };
  }
}

const COLUMNS: readonly Column[] = ['check', 'checked', 'problems', 'what'].map((name) => ({
  name,
  path: [name],
  isId: name === 'check',
  isWhole: name !== 'what',
}));

/** Maximum problems shown of each check; `--json` has more. */
const MAX_SHOWN = 10;

/** Exit 0: nothing is wrong. 9: what is on disk is not as it must be. 6: some of it was repaired, and some is left. */
export function checkExitCode({ ok, repaired }: CheckReport): number {
  if (ok) return EXIT.done;
  return repaired !== null && repaired.length > 0 ? EXIT.partial : EXIT.file;
}

/** A table of the checks, then the problems of each, then one line that sums up. */
export function checkText(report: CheckReport, width: number | undefined, style: Style): string {
  const { checks, place, served, ok } = report;
  const table = tableFormatter(COLUMNS, { width, header: true, style });
  const rows = checks.map(({ name, title, checked, problems, skipped }) => ({
    check: name,
    checked: skipped === null ? checked : null,
    problems: skipped === null ? problems : null,
    what: skipped === null ? title : `not checked: ${skipped}`,
  }));
  const listed = checks
    .filter(({ problems }) => problems > 0)
    .map(({ name, problems }) => listText(report, name, problems));
  const total = checks.reduce((sum, { problems }) => sum + problems, 0);
  const where = `${terminalText(place)}${served ? ' (in use by a server)' : ''}`;
  const sum = ok
    ? style('good', `No problems in ${where}.`)
    : style('bad', `${quantity(total, 'problem')} in ${where}.`);
  return [table.begin(), table.rows(rows), table.end(), '\n', ...listed, repairText(report), sum, '\n'].join('');
}

function listText({ problems }: CheckReport, check: string, total: number): string {
  const shown = problems.filter((problem) => problem.check === check).slice(0, MAX_SHOWN);
  const more = total - shown.length;
  const lines = shown.map((problem) => `  ${terminalText(problemText(problem))}\n`);
  return `${check}\n${lines.join('')}${more > 0 ? `  and ${countText(more)} more\n` : ''}\n`;
}

/** `patients 5 of ORGANIZATION: preferredLocation leads to Location 9, which does not exist`. */
function problemText({ table, organization, id, message }: CheckReport['problems'][number]): string {
  const what = [table, id].filter((part) => part !== null).join(' ');
  const where = organization === null ? what : `${what} of ${organization}`;
  return where === '' ? message : `${where}: ${message}`;
}

function repairText({ repaired }: CheckReport): string {
  if (repaired === null) return '';
  if (repaired.length === 0) return 'Nothing was repaired.\n';
  return repaired.map(({ what, count }) => `Repaired: ${countText(count)} ${what}.\n`).join('');
}
