import { AuditPatientCommand } from '../../../cli/serving/auditpatientcommand.ts';

export default class ServerAuditPatient extends AuditPatientCommand {
  static override summary = 'Tell who has seen or changed the data of a patient';
  static override description =
    'Prints every entry of the audit log that tells of the patient, oldest first: answers that held a record of theirs, changes, files that were downloaded, messages of the stream, and copies of everything such as backups. An index finds them, so that a long log takes no longer.';
  static override examples = [
    '<%= config.bin %> server audit patient 41 --data ./practice',
    '<%= config.bin %> server audit patient 41 --for demo --from 2026-11-01 --json --data ./practice',
  ];
}
