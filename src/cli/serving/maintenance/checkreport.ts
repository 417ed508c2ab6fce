import { EXIT } from '../../../catalog/failures.ts';
import type { Column } from '../../../core/output/columns.ts';
import type { Style } from '../../../core/output/style.ts';
import { tableFormatter } from '../../../core/output/table.ts';
import { terminalText } from '../../../core/output/terminaltext.ts';
import { counted } from '../../terminal/rowprogress.ts';

interface Problem {
  readonly check: string;
  readonly table: string | null;
  readonly organization: string | null;
  readonly id: number | string | null;
  readonly message: string;
}

/** What a check of the server's data found. */
export interface CheckReport {
  readonly ok: boolean;
  readonly place: string;
  readonly served: boolean;
  readonly checks: readonly {
    readonly name: string;
    readonly title: string;
    readonly checked: number;
    readonly problems: number;
    readonly skipped: string | null;
  }[];
  readonly problems: readonly Problem[];
  readonly repaired: readonly { readonly what: string; readonly count: number }[] | null;
}

const COLUMNS: readonly Column[] = ['check', 'checked', 'problems', 'what'].map((name) => ({
  name,
  path: [name],
  isId: name === 'check',
  isWhole: name !== 'what',
}));

/** Problems of one check that are shown; `--json` has more. */
const SHOWN = 10;

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
  const where = `${terminalText(place)}${served ? ', on which a server runs' : ''}`;
  const sum = ok
    ? style('good', `Nothing is wrong with ${where}.`)
    : style('bad', `${counted(total)} ${total === 1 ? 'problem' : 'problems'} in ${where}.`);
  return [table.begin(), table.rows(rows), table.end(), '\n', ...listed, repairText(report), sum, '\n'].join('');
}

function listText({ problems }: CheckReport, check: string, total: number): string {
  const shown = problems.filter((problem) => problem.check === check).slice(0, SHOWN);
  const more = total - shown.length;
  const lines = shown.map((problem) => `  ${terminalText(problemText(problem))}\n`);
  return `${check}\n${lines.join('')}${more > 0 ? `  and ${counted(more)} more\n` : ''}\n`;
}

/** `patients 5 of ORGANIZATION: preferredLocation leads to Location 9, which does not exist`. */
function problemText({ table, organization, id, message }: Problem): string {
  const what = [table, id].filter((part) => part !== null).join(' ');
  const where = organization === null ? what : `${what} of ${organization}`;
  return where === '' ? message : `${where}: ${message}`;
}

function repairText({ repaired }: CheckReport): string {
  if (repaired === null) return '';
  if (repaired.length === 0) return 'Nothing was repaired.\n';
  return repaired.map(({ what, count }) => `Repaired: ${counted(count)} ${what}.\n`).join('');
}
