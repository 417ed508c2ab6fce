import sql from 'sql-template-tag';
import { allOperations } from '../../../catalog/catalog.ts';
import { verifyLog } from '../../audit/verify.ts';
import { isEpochBegin } from '../../store/streamheads.ts';
import { type Head, readPosition } from '../../stream/positions.ts';
import { DAY_MS } from '../../stream/stream.ts';
import type { CheckContext, CheckFindings } from './context.ts';

const TABLE = 'stream_messages';

/** Messages read at once. */
const ROWS = 2000;

interface MessageRow {
  readonly seq: number;
  readonly routing_key: string;
  readonly sent_at: string;
}

interface StoredHead extends Head {
  readonly shared: number;
}

/**
 * Numbers of an organization's messages have no gaps between the floor, up to which they were deleted, and the head: up
 * to `shared` they were those of all organizations, and an epoch leaves some out. Times may go back a little, since an
 * import sends the time at which it began, but not by more than a day.
 */
export async function checkStream(context: CheckContext, book: CheckFindings): Promise<void> {
  const heads = await context.read.all<StoredHead>(
    sql`SELECT org, seq, floor, base, shared FROM stream_heads
      UNION ALL SELECT DISTINCT org, 0, 0, 0, 0 FROM stream_messages
        WHERE org NOT IN (SELECT org FROM stream_heads) ORDER BY org`,
  );
  for (const head of heads) await checkMessages(context, book, head);
  await checkPositions(context, book);
}

async function checkMessages(context: CheckContext, book: CheckFindings, head: StoredHead): Promise<void> {
  const findings = book.of('stream');
  const organization = context.organization(head.org);
  const report = (id: number, message: string) => findings.report({ table: TABLE, organization, id, message });
  let last = head.floor;
  let latest = Number.NEGATIVE_INFINITY;
  for (let after = 0; ; ) {
    const rows = await context.read.all<MessageRow>(
      sql`SELECT seq, routing_key, sent_at FROM stream_messages WHERE org = ${head.org} AND seq > ${after}
        ORDER BY seq LIMIT ${ROWS}`,
    );
    for (const { seq, routing_key, sent_at } of rows) {
      if (seq <= head.floor) report(seq, `should have been deleted: the floor is ${head.floor}`);
      else if (seq > Math.max(last, head.shared) + 1 && !isEpochBegin(seq - 1))
        report(last + 1, gap(last + 1, seq - 1));
      last = Math.max(last, seq);
      const segments = routing_key.split('.');
      // Messages outlive their organization.
      if (segments.length !== 4 || (organization !== null && segments[0] !== organization)) {
        report(seq, 'its routing key does not agree with its organization');
      }
      const at = Date.parse(sent_at);
      if (Number.isNaN(at)) report(seq, 'its time cannot be read');
      else if (at < latest - DAY_MS) report(seq, 'was sent more than a day before the one before it');
      latest = Number.isNaN(at) ? latest : at;
    }
    findings.counted(rows.length);
    await context.turn('stream messages', rows.length);
    if (rows.length < ROWS) break;
    after = rows.at(-1)?.seq ?? after;
  }
  if (head.seq < last) report(last, `is above the head, which is ${head.seq}`);
  else if (head.seq > Math.max(last, head.shared)) report(last + 1, gap(last + 1, head.seq));
}

function gap(first: number, last: number): string {
  return first === last ? 'is missing' : `and those up to ${last} are missing`;
}

/** What has been relayed is not beyond what there is; where it is of another epoch, that is told to the broker. */
async function checkPositions(context: CheckContext, book: CheckFindings): Promise<void> {
  const rows = await context.read.all<{ org: number; target: string; position: string; seq: number | null }>(
    sql`SELECT p.org, p.target, p.position, h.seq FROM relay_positions p LEFT JOIN stream_heads h ON h.org = p.org
      ORDER BY p.target, p.org`,
  );
  for (const { org, target, position, seq } of rows) {
    const number = readPosition(position)?.number;
    if (number !== undefined && number <= (seq ?? 0)) continue;
    const message = `is beyond the last message, ${seq ?? 0}`;
    const organization = context.organization(org);
    book.of('stream').report({ table: 'relay_positions', organization, id: target, message });
  }
}

/** Nobody changed the audit log behind its back: as `molar server audit verify` has it. */
export async function checkAudit({ read, turn, auditKeys }: CheckContext, book: CheckFindings): Promise<void> {
  const findings = book.of('audit');
  const { entries, problems } = await verifyLog(read, { keys: auditKeys });
  findings.counted(entries);
  const tables = { entry: 'audit_entries', checkpoint: 'audit_checkpoints', head: 'log_heads' };
  for (const { code, kind, id, problem } of problems) {
    findings.report({ table: tables[kind], organization: null, id, message: problem, code });
  }
  await turn('audit entries', entries);
}

interface DeliveryRow {
  readonly id: number;
  readonly org: number;
  readonly operation: string;
  readonly total: number;
  readonly created_at: string;
}

/** Deliveries of async endpoints that wait: of an organization and an operation that exist. */
export async function checkDeliveries(context: CheckContext, book: CheckFindings): Promise<void> {
  const findings = book.of('deliveries');
  const operations = new Set(allOperations().map(({ operation }) => operation.id));
  const rows = await context.read.all<DeliveryRow>(
    sql`SELECT id, org, operation, total, created_at FROM async_deliveries ORDER BY id`,
  );
  findings.counted(rows.length);
  for (const row of rows) {
    const organization = context.organization(row.org);
    const report = (message: string) =>
      findings.report({ table: 'async_deliveries', organization, id: row.id, message });
    if (organization === null) report('is of an organization that does not exist');
    if (!operations.has(row.operation)) report('is of an operation that does not exist');
    if (row.total < 0) report('has a negative total');
    if (Number.isNaN(Date.parse(row.created_at))) report('its time cannot be read');
  }
}
