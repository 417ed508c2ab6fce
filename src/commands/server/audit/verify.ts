import * as Flags from '@oclif/core/flags';
import { isOn, textFlag } from '../../../cli/flags/values.ts';
import type { CommandInput } from '../../../cli/molarcommand.ts';
import { auditDamage, auditReportText, readExpected } from '../../../cli/serving/auditreport.ts';
import { ServerCommand } from '../../../cli/serving/servercommand.ts';
import { dataFlags, requireFolder, type ServerPlace } from '../../../cli/serving/serverfolder.ts';
import type { OpenFolder } from '../../../server/datafolder.ts';

export default class ServerAuditVerify extends ServerCommand<OpenFolder> {
  static override summary = 'Verify that nobody changed the audit log';
  static override description =
    'Each entry carries a hash over itself and the entry before it, so a change, a deletion or an insertion shows. It prints the end of the log; kept in another place and given back as --expect, it proves later that nothing up to there was changed, not even by somebody who made all hashes anew.';
  static override examples = [
    '<%= config.bin %> server audit verify --data ./practice',
    '<%= config.bin %> server audit verify --data ./practice --expect "$(cat audit-head.txt)"',
  ];
  static override flags = {
    ...dataFlags,
    expect: Flags.string({ helpValue: 'ID:HASH', summary: 'An end that was printed earlier and must still be there' }),
    json: Flags.boolean({ summary: 'Print one JSON object' }),
  };

  protected override async open(place: ServerPlace): Promise<OpenFolder> {
    requireFolder(place);
    return (await import('../../../server/datafolder.ts')).openFolder(place.data, { ...place, serving: false });
  }

  protected override async work(folder: OpenFolder, { flags }: CommandInput): Promise<string> {
    const { verifyChain } = await import('../../../server/audit/chain.ts');
    const report = await verifyChain(folder.service.store.read, readExpected(textFlag(flags, 'expect')));
    if (report.problems.length > 0) throw auditDamage(report);
    return isOn(flags, 'json') ? `${JSON.stringify(report)}\n` : auditReportText(report);
  }
}
