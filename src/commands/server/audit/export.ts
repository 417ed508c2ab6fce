import { AuditExportCommand } from '../../../cli/serving/auditcommands.ts';

export default class ServerAuditExport extends AuditExportCommand {
  static override summary = 'Export the audit log: who read and changed what, and when';
  static override description =
    'Prints entries in the order in which they were written: who (a token, a download link, an import), when, which operation, which records or how many, and the keys of the filter. What records say, and what was looked for, is not in the audit log.';
  static override examples = [
    '<%= config.bin %> server audit export --data ./practice > audit.ndjson',
    '<%= config.bin %> server audit export --from 2026-11-01 --to 2026-12-01 --for demo --format csv --data ./practice',
  ];
}
