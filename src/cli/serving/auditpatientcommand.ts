import * as Args from '@oclif/core/args';
import { asId } from '../../catalog/fields/numbers.ts';
import { usageFailure } from '../../core/failure.ts';
import { isOn } from '../flags/values.ts';
import type { CommandInput } from '../molarcommand.ts';
import { rangeFlags, rangeOf } from './auditrange.ts';
import { type DataFolder, dataFlags, jsonFlag, ServerCommand } from './servercommand.ts';

type Exported = ReturnType<typeof import('../../server/audit/export.ts').exportEntries>;
type Entry = Exported extends AsyncIterable<infer T> ? T : never;

/** `molar server audit patient`: who has seen or changed what is one patient's, oldest first (contract §8). */
export abstract class AuditPatientCommand extends ServerCommand {
  static override args = { id: Args.string({ required: true, ignoreStdin: true, description: 'Id of the patient' }) };
  static override flags = { ...dataFlags, ...rangeFlags, ...jsonFlag };

  protected override async work(folder: DataFolder, { args, flags }: CommandInput): Promise<string> {
    const patient = asId(args.id);
    if (patient === undefined) {
      throw usageFailure('ID must be the id of a patient, a positive whole number.', { source: 'ID' });
    }
    const [{ exportEntries }, { patientPages }, { writeCommand }] = await Promise.all([
      import('../../server/audit/export.ts'),
      import('../../server/audit/patienttrail.ts'),
      import('../../server/audit/commands.ts'),
    ]);
    const { service } = folder;
    const range = await rangeOf(folder, flags);
    await writeCommand(service, { operation: 'audit.patient', org: range.org ?? null, ids: [patient] });
    const { read } = service.store;
    const entries = exportEntries(read, patientPages(read, patient, range));
    const asJson = isOn(flags, 'json');
    let count = 0;
    let text = asJson ? `{"patient":${patient},"entries":[` : '';
    for await (const entry of entries) {
      const separator = count++ === 0 ? '' : ',';
      text += asJson ? separator + JSON.stringify(entry) : lineOf(entry);
      if (text.length < MAX_HELD) continue;
      await this.print(text);
      text = '';
    }
    if (asJson) return `${text}]}\n`;
    return count === 0 ? `Nobody: the audit log has no entry of patient ${patient}.\n` : text;
  }
}

/** Characters that are printed at once. */
const MAX_HELD = 65_536;

/** An entry as a line for people; its list of ids may be long, and `--json` has it. */
function lineOf({ id, at, organization, who, address, operation, via, count }: Entry): string {
  const parts = [at, organization, who, address, via === undefined ? operation : `${operation} (${via})`];
  const records = count === null ? '' : `  ${count} ${count === 1 ? 'record' : 'records'}`;
  return `${id}  ${parts.filter((part) => part !== null).join('  ')}${records}\n`;
}
