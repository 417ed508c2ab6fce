import sql, { empty, raw } from 'sql-template-tag';
import { NO_LOCATION, RESYNC } from '../../catalog/stream/domains.ts';
import { formatRoutingKey, type RoutingKey } from '../../catalog/stream/routingkeys.ts';
import type { Reach } from '../store/reach.ts';
import type { Reader, Transaction } from '../store/store.ts';
import { type Whose, whoseOf } from './earliermessages.ts';
import { type Places, toldIn } from './places.ts';

/** A message about to be written. */
export interface NewMessage extends Places {
  /** Key of the organization in the store. */
  readonly org: number;
  readonly key: RoutingKey;
  /** UTC, `YYYY-MM-DDTHH:mm:ss.SSSZ`. */
  readonly sendTime: string;
  readonly correlationId: string | null;
  /** JSON text. */
  readonly payload: string;
  /** Id of the record that it tells of, and whose data that is; null where it tells of none. */
  readonly recordId?: number | null;
  readonly patientId?: number | null;
}

/** A message as it is sent. */
export interface SentMessage {
  /**
   * Its number among the messages of its organization, the `id` of the envelope: increases in the order of commits, so
   * whatever is below the last one read has been seen.
   */
  readonly number: number;
  readonly routingKey: string;
  /** The last segment of the routing key: `CREATE`. */
  readonly operation: string;
  /** The whole envelope as JSON text on one line (`StreamMessage`). */
  readonly text: string;
}

/** A message of the outbox. */
export interface StoredMessage extends SentMessage, Whose {
  /** Its number among the messages of all organizations, in the order of commits: nothing that is sent has it (D53). */
  readonly id: number;
  /** Whoever reads does not see it: it is here for its number alone. */
  readonly hidden?: true;
}

/** Rows per statement, and bytes after which no further statement is run: together they bound a page. */
const ROWS = 50;
const PAGE_BYTES = 1024 * 1024;

/**
 * Writes a message in the transaction of the change it reports, so that neither exists without the other. Numbers follow
 * the order of commits: a reader never sees a number before a lower one.
 */
export function appendMessage(tx: Transaction, message: NewMessage): Promise<void> {
  const { org, key, sendTime, correlationId, payload, places, record, recordId = null, patientId = null } = message;
  const values = [org, formatRoutingKey(key), sendTime, correlationId, payload, places, record, recordId, patientId];
  return tx.append({ log: 'stream', values });
}

/**
 * Messages after a position, ascending: at most `limit`, fewer when they are large; empty only when there are none. Read
 * by index range: what is within reach, after a `number` of its organization, when that is given, and all of all
 * organizations, after an `id`, otherwise.
 */
export async function readMessages(
  read: Reader,
  after: number,
  limit: number,
  reach?: Reach,
): Promise<readonly StoredMessage[]> {
  const messages: StoredMessage[] = [];
  const [column, only] =
    reach === undefined ? ([raw('id'), empty] as const) : ([raw('seq'), sql` AND org = ${reach.org}`] as const);
  let last = after;
  const locations = reach?.locations && new Set(reach.locations);
  const placed = locations === undefined ? empty : sql`, places, record`;
  for (let bytes = 0; messages.length < limit && bytes < PAGE_BYTES; ) {
    const rows =
      await read.all<MessageRow>(sql`SELECT id, seq, org, routing_key, sent_at, correlation_id, payload, record_id, patient_id${placed}
      FROM stream_messages WHERE ${column} > ${last}${only}
      ORDER BY ${column} LIMIT ${Math.min(ROWS, limit - messages.length)}`);
    for (const row of rows) {
      const message = await withWhose(read, row, toMessage(row, locations));
      bytes += message.text.length;
      messages.push(message);
      last = reach === undefined ? message.id : message.number;
    }
    if (rows.length < ROWS) break;
  }
  return messages;
}

/** The ids of the oldest and the newest message of all organizations; undefined when there are none. */
export async function messageBounds(read: Reader): Promise<{ oldest: number; newest: number } | undefined> {
  const row = await read.get<{ oldest: number | null; newest: number | null }>(
    sql`SELECT (SELECT MIN(id) FROM stream_messages) AS oldest, (SELECT MAX(id) FROM stream_messages) AS newest`,
  );
  return row == null || row.oldest === null || row.newest === null
    ? undefined
    : { oldest: row.oldest, newest: row.newest };
}

/** A message with whose data it is, also when it was stored before that was. */
async function withWhose(read: Reader, row: MessageRow, message: StoredMessage): Promise<StoredMessage> {
  if (row.record_id !== null || message.hidden) return message;
  const [, , domainType = ''] = row.routing_key.split('.');
  return { ...message, ...(await whoseOf(read, row.org, domainType, row.payload)) };
}

interface MessageRow {
  readonly id: number;
  readonly seq: number;
  readonly org: number;
  readonly routing_key: string;
  readonly sent_at: string;
  readonly correlation_id: string | null;
  readonly payload: string;
  readonly record_id: number | null;
  readonly patient_id: number | null;
  readonly places?: string | null;
  readonly record?: string | null;
}

/** `locations`: all that the reader sees. */
function toMessage(row: MessageRow, locations: ReadonlySet<number> | undefined): StoredMessage {
  const { id, seq: number, sent_at: sendTime, correlation_id: correlationId, places = null, record = null } = row;
  const [organizationId = '', locationId = '', domainType = '', operation = ''] = row.routing_key.split('.');
  const stored = { key: { organizationId, locationId, domainType, operation }, payload: row.payload };
  const told = locations === undefined ? stored : toldIn(stored, { places, record }, locations);
  const whose = { recordId: row.record_id, patientId: row.patient_id };
  if (told === undefined)
    return { id, number, routingKey: '', operation: '', text: '', hidden: true, recordId: null, patientId: null };
  const { key, payload } = told;
  const routingKey = locations === undefined ? row.routing_key : formatRoutingKey(key);
  const head = { id: number, routingKey, ...key, sendTime, correlationId };
  // The payload is JSON text already, and becomes the last member.
  const text = `${JSON.stringify(head).slice(0, -1)},"payload":${payload}}`;
  return { id, number, routingKey, operation: key.operation, text, ...whose };
}

/**
 * Tells an organization that messages after `requested` are gone, and that the stream resumes after `resumedAfter`, both
 * in its own numbers.
 * `sendTime`: `YYYY-MM-DDTHH:mm:ss.SSSZ`.
 */
export function resyncMessage(
  organizationId: string,
  { requested, resumedAfter }: { readonly requested: number; readonly resumedAfter: number },
  sendTime: string,
): SentMessage {
  const key = { organizationId, locationId: NO_LOCATION, domainType: '*', operation: RESYNC };
  const routingKey = formatRoutingKey(key);
  const payload = { requested, resumedAfter };
  const envelope = { id: resumedAfter, routingKey, ...key, sendTime, correlationId: null, payload };
  return { number: resumedAfter, routingKey, operation: RESYNC, text: JSON.stringify(envelope) };
}
