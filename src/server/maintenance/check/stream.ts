import sql from 'sql-template-tag';
import { allOperations } from '../../../catalog/catalog.ts';
import { verifyLog } from '../../audit/verify.ts';
import { DAY_MS, readFloor } from '../../stream/stream.ts';
import type { CheckContext, CheckFindings } from './context.ts';

const TABLE = 'stream_messages';

/** Messages read at once. */
const ROWS = 2000;

interface MessageRow {
  readonly id: number;
  readonly seq: number;
  readonly org: number;
  readonly routing_key: string;
  readonly sent_at: string;
}

interface Head {
  readonly seq: number;
  readonly shared: number;
}

/**
 * Numbers of messages, and those of each organization, have no gaps between the floor, up to which they may have been deleted, and the head. Times may
 * go back a little, since an import sends the time at which it began, but not by more than a day.
 */
export async function checkStream(context: CheckContext, book: CheckFindings): Promise<void> {
  const findings = book.of('stream');
  const report = (id: number | null, message: string, organization: string | null = null) =>
    findings.report({ table: TABLE, organization, id, message });
  const floor = await readFloor(context.read);
  const head = await context.read.get<{ last_id: number }>(sql`SELECT last_id FROM log_heads WHERE name = 'stream'`);
  const heads = await context.read.all<Head & { org: number }>(
    sql`SELECT org, seq, shared FROM stream_heads ORDER BY org`,
  );
  const headOf = new Map<number, Head>(heads.map((head) => [head.org, head]));
  /** The last number of each organization. */
  const lastOf = new Map<number, number>();
  let missing = 0;
  let last = floor;
  let latest = Number.NEGATIVE_INFINITY;
  for (let after = 0; ; ) {
    const rows = await context.read.all<MessageRow>(
      sql`SELECT id, seq, org, routing_key, sent_at FROM stream_messages WHERE id > ${after} ORDER BY id LIMIT ${ROWS}`,
    );
    for (const { id, seq, org, routing_key, sent_at } of rows) {
      const organization = context.organization(org);
      if (id <= floor) report(id, `should have been deleted: the floor is ${floor}`, organization);
      else if (id > last + 1) {
        report(last + 1, gap(last + 1, id - 1));
        missing += id - last - 1;
      }
      last = Math.max(last, id);
      const before = lastOf.get(org);
      lastOf.set(org, seq);
      // A gap in the numbers of all leaves one in those of an organization; which one is not known.
      const most = Math.max(before ?? seq, headOf.get(org)?.shared ?? 0) + 1 + missing;
      if (seq <= (before ?? 0) || seq > most) {
        report(id, `is number ${seq} of its organization, after ${before ?? 0}`, organization);
      }
      const segments = routing_key.split('.');
      // Messages outlive their organization.
      if (segments.length !== 4 || (organization !== null && segments[0] !== organization)) {
        report(id, 'its routing key does not agree with its organization', organization);
      }
      const at = Date.parse(sent_at);
      if (Number.isNaN(at)) report(id, 'its time cannot be read', organization);
      else if (at < latest - DAY_MS) report(id, 'was sent more than a day before the one before it', organization);
      latest = Number.isNaN(at) ? latest : at;
    }
    findings.counted(rows.length);
    await context.turn('stream messages', rows.length);
    if (rows.length < ROWS) break;
    after = rows.at(-1)?.id ?? after;
  }
  if (head === undefined) report(null, 'the log has no head');
  else if (head.last_id < last) report(last, `is above the head, which is ${head.last_id}`);
  else if (head.last_id > last) {
    report(last + 1, gap(last + 1, head.last_id));
    missing += head.last_id - last;
  }
  for (const [org, number] of lastOf) {
    const { seq, shared } = headOf.get(org) ?? { seq: 0, shared: 0 };
    if (seq >= number && seq <= Math.max(number, shared) + missing) continue;
    const message = `is ${seq}, and the last message of the organization has ${number}`;
    findings.report({ table: 'stream_heads', organization: context.organization(org), id: org, message });
  }
  await checkPositions(context, book, head?.last_id ?? last);
}

function gap(first: number, last: number): string {
  return first === last ? 'is missing' : `and those up to ${last} are missing`;
}

/** What has been relayed is not beyond what there is. */
async function checkPositions(context: CheckContext, book: CheckFindings, head: number): Promise<void> {
  const rows = await context.read.all<{ name: string; value: string }>(
    sql`SELECT name, value FROM settings WHERE name LIKE 'relay %' ORDER BY name`,
  );
  for (const { name, value } of rows) {
    if (/^\d+$/.test(value) && Number(value) <= head) continue;
    const message = `is beyond the last message, ${head}`;
    book.of('stream').report({ table: 'settings', organization: null, id: name, message });
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
