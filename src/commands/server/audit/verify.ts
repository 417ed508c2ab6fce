import { AuditVerifyCommand } from '../../../cli/serving/auditcommands.ts';

export default class ServerAuditVerify extends AuditVerifyCommand {
  static override summary = 'Verify that nobody changed the audit log';
  static override description =
    'Each entry carries a hash over itself and the entry before it, so a change, a deletion or an insertion shows. It prints the end of the log; kept in another place and given back as --expect, it proves later that nothing up to there was changed, not even by somebody who made all hashes anew.';
  static override examples = [
    '<%= config.bin %> server audit verify --data ./practice',
    '<%= config.bin %> server audit verify --data ./practice --expect "$(cat audit-head.txt)"',
  ];
}
