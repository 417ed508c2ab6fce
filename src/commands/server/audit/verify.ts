import { AuditVerifyCommand } from '../../../cli/serving/auditverifycommand.ts';

export default class ServerAuditVerify extends AuditVerifyCommand {
  static override summary = 'Verify that nobody changed the audit log';
  static override description =
    'Each entry carries a hash over itself and the entry before it, so that any change, deletion or insertion shows. The server signs checkpoints of the log with a key that is not in the database, so that nobody who can write there can make all hashes anew, or remove the first or the last entries. Checkpoints that it has shipped to a file (--audit-checkpoints) show that the whole database was replaced by an older one. The command also prints the end of the log, which can be stored elsewhere and passed as --expect.';
  static override examples = [
    '<%= config.bin %> server audit verify --data ./practice',
    '<%= config.bin %> server audit verify --data ./practice --audit-checkpoints /mnt/evidence/checkpoints.ndjson',
    '<%= config.bin %> server audit verify --data ./practice --expect "$(cat audit-head.txt)"',
  ];
}
