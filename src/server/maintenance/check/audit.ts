import { verifyChain } from '../../audit/chain.ts';
import type { CheckContext } from './context.ts';
import type { Book } from './findings.ts';

/** Nobody changed the audit log behind its back. */
export async function checkAudit({ read, turn }: CheckContext, book: Book): Promise<void> {
  const findings = book.of('audit');
  const { entries, problems } = await verifyChain(read);
  findings.looked(entries);
  for (const { id, problem } of problems) {
    findings.report({ table: 'audit_entries', organization: null, id, message: problem });
  }
  await turn('audit entries', entries);
}
