import sql, { empty } from 'sql-template-tag';
import { NO_LOCATION, RESYNC } from '../../catalog/stream/domains.ts';
import { formatRoutingKey, type RoutingKey } from '../../catalog/stream/routingkeys.ts';
import type { Reader, Transaction } from '../store/store.ts';

/** A message about to be written. */
export interface NewMessage {
  /** Key of the organization in the store. */
  readonly org: number;
  readonly key: RoutingKey;
  /** UTC, `YYYY-MM-DDTHH:mm:ss.SSSZ`. */
  readonly sendTime: string;
  readonly correlationId: string | null;
  /** JSON text. */
  readonly payload: string;
  /** Id of the record that it tells of, and whose data that is; null where it tells of none. */
  readonly record?: number | null;
  readonly patient?: number | null;
}

/** A message as it is sent. */
export interface StoredMessage {
  /** Its number: increases in the order of commits, so whatever is below the last one read has been seen. */
  readonly id: number;
  readonly routingKey: string;
  /** The last segment of the routing key: `CREATE`. */
  readonly operation: string;
  /** The whole envelope as JSON text on one line (`StreamMessage`). */
  readonly text: string;
  /** The record that it tells of, and whose data that is. */
  readonly record: number | null;
  readonly patient: number | null;
}

/** Rows per statement, and bytes after which no further statement is run: together they bound a page. */
const ROWS = 50;
const PAGE_BYTES = 1024 * 1024;

/**
 * Writes a message in the transaction of the change it reports, so that neither exists without the other. Numbers follow
 * the order of commits: a reader never sees a number before a lower one.
 */
export function appendMessage(tx: Transaction, message: NewMessage): Promise<void> {
  const { org, key, sendTime, correlationId, payload, record = null, patient = null } = message;
  return tx.append({
    log: 'stream',
    values: [org, formatRoutingKey(key), sendTime, correlationId, payload, record, patient],
  });
}

/**
 * Messages after a number, ascending: at most `limit`, fewer when they are large; empty only when there are none.
 * Read by index range; of one organization when `org` is given, of all otherwise.
 */
export async function readMessages(
  read: Reader,
  after: number,
  limit: number,
  org?: number,
): Promise<readonly StoredMessage[]> {
  const messages: StoredMessage[] = [];
  const only = org === undefined ? empty : sql` AND org = ${org}`;
  for (let bytes = 0; messages.length < limit && bytes < PAGE_BYTES; ) {
    const rows =
      await read.all<MessageRow>(sql`SELECT id, routing_key, sent_at, correlation_id, payload, record_id, patient_id
      FROM stream_messages WHERE id > ${messages.at(-1)?.id ?? after}${only}
      ORDER BY id LIMIT ${Math.min(ROWS, limit - messages.length)}`);
    for (const row of rows) {
      const message = toMessage(row);
      bytes += message.text.length;
      messages.push(message);
    }
    if (rows.length < ROWS) break;
  }
  return messages;
}

/** The numbers of the oldest and the newest message; undefined when there are none. */
export async function messageBounds(read: Reader): Promise<{ oldest: number; newest: number } | undefined> {
  const row = await read.get<{ oldest: number | null; newest: number | null }>(
    sql`SELECT (SELECT MIN(id) FROM stream_messages) AS oldest, (SELECT MAX(id) FROM stream_messages) AS newest`,
  );
  return row == null || row.oldest === null || row.newest === null
    ? undefined
    : { oldest: row.oldest, newest: row.newest };
}

interface MessageRow {
  readonly id: number;
  readonly routing_key: string;
  readonly sent_at: string;
  readonly correlation_id: string | null;
  readonly payload: string;
  readonly record_id: number | null;
  readonly patient_id: number | null;
}

function toMessage(row: MessageRow): StoredMessage {
  const { id, routing_key: routingKey, sent_at: sendTime, correlation_id: correlationId } = row;
  const [organizationId = '', locationId = '', domainType = '', operation = ''] = routingKey.split('.');
  const head = { id, routingKey, organizationId, locationId, domainType, operation, sendTime, correlationId };
  // The payload is JSON text already, and becomes the last member.
  const text = `${JSON.stringify(head).slice(0, -1)},"payload":${row.payload}}`;
  return { id, routingKey, operation, text, record: row.record_id, patient: row.patient_id };
}

/**
 * Tells an organization that messages after `requested` are gone, and that the stream resumes after `resumedAfter`.
 * `sendTime`: `YYYY-MM-DDTHH:mm:ss.SSSZ`.
 */
export function resyncMessage(
  organizationId: string,
  { requested, resumedAfter }: { readonly requested: number; readonly resumedAfter: number },
  sendTime: string,
): StoredMessage {
  const key = { organizationId, locationId: NO_LOCATION, domainType: '*', operation: RESYNC };
  const routingKey = formatRoutingKey(key);
  const payload = { requested, resumedAfter };
  const envelope = { id: resumedAfter, routingKey, ...key, sendTime, correlationId: null, payload };
  const text = JSON.stringify(envelope);
  return { id: resumedAfter, routingKey, operation: RESYNC, text, record: null, patient: null };
}
