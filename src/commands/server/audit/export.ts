import * as Flags from '@oclif/core/flags';
import { textFlag } from '../../../cli/flags/values.ts';
import type { CommandInput } from '../../../cli/molarcommand.ts';
import { AUDIT_FORMATS, auditLines, auditRange } from '../../../cli/serving/auditreport.ts';
import { ServerCommand } from '../../../cli/serving/servercommand.ts';
import { dataFlags, requireFolder, type ServerPlace } from '../../../cli/serving/serverfolder.ts';
import type { Format } from '../../../core/output/formats.ts';
import type { OpenFolder } from '../../../server/datafolder.ts';

export default class ServerAuditExport extends ServerCommand<OpenFolder> {
  static override summary = 'Export the audit log: who read and changed what, and when';
  static override description =
    'Prints entries in the order in which they were written: who (a token, a download link, an import), when, which operation, which records or how many, and the keys of the filter. What records say, and what was looked for, is not in the audit log.';
  static override examples = [
    '<%= config.bin %> server audit export --data ./practice > audit.ndjson',
    '<%= config.bin %> server audit export --from 2026-11-01 --to 2026-12-01 --for demo --format csv --data ./practice',
  ];
  static override flags = {
    ...dataFlags,
    from: Flags.string({ helpValue: 'TIME', summary: 'First entry: a date (UTC) or a date-time with a zone' }),
    to: Flags.string({ helpValue: 'TIME', summary: 'Entries before this: a date (UTC) or a date-time with a zone' }),
    for: Flags.string({ helpValue: 'ORGANIZATION', summary: 'Entries of this organization alone' }),
    format: Flags.string({ options: AUDIT_FORMATS, summary: 'ndjson when not given' }),
  };

  protected override async open(place: ServerPlace): Promise<OpenFolder> {
    requireFolder(place);
    return (await import('../../../server/datafolder.ts')).openFolder(place.data, { ...place, serving: false });
  }

  protected override async work(folder: OpenFolder, { flags }: CommandInput): Promise<string> {
    const { exportEntries, organizationKey } = await import('../../../server/audit/export.ts');
    const { read } = folder.service.store;
    const organization = textFlag(flags, 'for');
    const entries = exportEntries(read, {
      ...auditRange(textFlag(flags, 'from'), textFlag(flags, 'to')),
      ...(organization !== undefined && { org: await organizationKey(read, organization) }),
    });
    const format = (textFlag(flags, 'format') ?? 'ndjson') as Format;
    for await (const text of auditLines(entries, format)) if (text !== '') await this.print(text);
    return '';
  }
}
