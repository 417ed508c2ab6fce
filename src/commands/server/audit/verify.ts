import { AuditVerifyCommand } from '../../../cli/serving/auditverifycommand.ts';

export default class ServerAuditVerify extends AuditVerifyCommand {
  static override summary = 'Verify that nobody changed the audit log';
  static override description =
    'Each entry carries a hash over itself and the entry before it, so that any change, deletion or insertion shows. The command prints the end of the log; stored elsewhere and passed as --expect, it later proves that nothing up to there was changed, not even by somebody who recomputed all hashes.';
  static override examples = [
    '<%= config.bin %> server audit verify --data ./practice',
    '<%= config.bin %> server audit verify --data ./practice --expect "$(cat audit-head.txt)"',
  ];
}
