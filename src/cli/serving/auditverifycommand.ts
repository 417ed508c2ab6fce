import { EXIT } from '../../catalog/failures.ts';
import { countText } from '../../core/count.ts';
import { Failure, usageFailure } from '../../core/failure.ts';
import { flagGroup } from '../flags/declare.ts';
import { isOn, textFlag } from '../flags/values.ts';
import type { CommandInput } from '../molarcommand.ts';
import { auditKeyFlag, type DataFolder, dataFlags, dataLocation, jsonFlag, ServerCommand } from './servercommand.ts';

const { text } = flagGroup();

type LogReport = import('../../server/audit/verify.ts').LogReport;

/** `molar server audit verify`: fails with exit 9 for a log that is not whole (contract §8). */
export abstract class AuditVerifyCommand extends ServerCommand {
  static override flags = {
    ...dataFlags,
    'audit-key': auditKeyFlag,
    'audit-checkpoints': text(
      'FILE',
      'Checkpoints that a server appended to a file: they must be those of the database',
    ),
    expect: text('ID:HASH', 'An end that was printed earlier and must still be there'),
    ...jsonFlag,
  };

  protected override async work({ service }: DataFolder, { flags }: CommandInput): Promise<string> {
    const [{ verifyLog }, { keysOf, readPublicKeys }, { signNow }] = await Promise.all([
      import('../../server/audit/verify.ts'),
      import('../../server/audit/keys.ts'),
      import('../../server/audit/signing.ts'),
    ]);
    const given = textFlag(flags, 'audit-key');
    const place = dataLocation(flags, this.context.env);
    const keys = given === undefined ? await keysOf(place) : await readPublicKeys(given);
    const report = await verifyLog(service.store.read, {
      keys: keys ?? new Map(),
      shipped: textFlag(flags, 'audit-checkpoints'),
      expected: readExpected(textFlag(flags, 'expect')),
    });
    if (report.problems.length > 0) throw auditFailure(report);
    // What was just found whole is signed at once, where the key is: nobody has to wait for the minute.
    const signed = (await signNow(service.store, place, 'verify', service.clock())) ? 1 : 0;
    const { entries, first, last, head } = report;
    const checkpoints = report.checkpoints + signed;
    if (isOn(flags, 'json')) return `${JSON.stringify({ ...report, checkpoints })}\n`;
    const which =
      entries === 0 ? 'The audit log has no entries.' : `${entries} entries, ${first} to ${last}: unchanged.`;
    return `${which}\nCheckpoints: ${checkpoints}\nEnd: ${head}\n`;
  }
}

function auditFailure({ problems, entries }: LogReport): Failure {
  const found = problems.length === 1 ? 'a problem' : `${problems.length} problems`;
  return new Failure(`The audit log is not whole: ${found} in ${countText(entries)} entries.`, {
    code: 'local.file',
    exitCode: EXIT.file,
    items: problems.map(({ code, kind, id, problem }) => ({
      code,
      source: id === null ? kind : `${kind} ${id}`,
      description: `${problem}.`,
    })),
    hint: 'Keep the data as it is, compare it with a backup, and find out who could write to it.',
  });
}

/** `--expect`. Throws a usage failure (exit 2) for anything but an end as it is printed. */
function readExpected(text: string | undefined): { id: number; hash: string } | undefined {
  if (text === undefined) return undefined;
  const [, id, hash = ''] = /^(\d{1,16}):([0-9a-f]{64})?$/.exec(text.trim()) ?? [];
  if (id !== undefined) return { id: Number(id), hash };
  throw usageFailure('--expect takes the end that an earlier run printed, ID:HASH.', { source: '--expect' });
}
