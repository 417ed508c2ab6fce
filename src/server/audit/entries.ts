import type { LogRow, Transaction } from '../store/store.ts';
import { idListText } from './idlist.ts';

/** Who requests something, as the audit log records it. */
export interface Actor {
  /** `token ID`, `client CLIENTID`, `person SUBJECT`, `certificate NAME`, `command USER` for the command line, `import`. */
  readonly who: string;
  /** Where the request came from; null for the command line. */
  readonly address: string | null;
  /** The request's `X-Request-ID` (D5). */
  readonly requestId: string | null;
}

/** What of records an answer held. */
export interface Disclosure {
  /** The records of the operation's own kind. */
  readonly ids?: readonly (number | string)[] | undefined;
  /** Whose data they are. */
  readonly patients?: readonly number[] | undefined;
}

/** One access to patient data: who, when and which records, never what they say. */
export interface AuditEntry extends Disclosure {
  /** Key of the organization in the store; null for what concerns no single one. */
  readonly org: number | null;
  /** UTC, `YYYY-MM-DDTHH:mm:ss.SSSZ`. */
  readonly at: string;
  readonly actor: Actor;
  /** As the catalog names it, `patients.list`; a change of one record is `create`, `update` or `delete` of its resource. */
  readonly operation: string;
  /** How many records; as many as `ids` when not given. */
  readonly count?: number | undefined;
  /** Keys of the filter: names, never values. */
  readonly filterKeys?: readonly string[];
  /** `link`: a signed download link; `stream`: the delivery of an async endpoint; `replay`: an Idempotency-Key, without a change. */
  readonly via?: 'link' | 'stream' | 'replay';
  /** HTTP status of a refusal, and the client that it named. */
  readonly status?: number;
  readonly client?: string | undefined;
  /** It held everything of the organization, or of every organization. */
  readonly all?: boolean;
}

/** Writes an entry in the transaction of what it records, so that neither exists without the other. */
export function appendAudit(tx: Transaction, entry: AuditEntry): Promise<void> {
  return tx.append(auditRow(entry));
}

/** An entry as its log stores it. */
export function auditRow(entry: AuditEntry): LogRow {
  const { org, at, actor, operation, ids, count, filterKeys, patients, via, status, client, all } = entry;
  const { who, address, requestId } = actor;
  const keys = filterKeys === undefined || filterKeys.length === 0 ? null : [...new Set(filterKeys)].join(',');
  const records = idListText(ids);
  return {
    log: 'audit',
    values: [
      ...[org, at, plain(who), plain(address), requestId, operation, records, count ?? ids?.length ?? null, keys],
      ...[
        patients === ids ? records : idListText(patients),
        via ?? null,
        status ?? null,
        plain(client ?? null),
        all ? 1 : null,
      ],
    ],
  };
}

/** Longest name that is stored; whoever is refused chooses the name themselves. */
const MAX_NAME = 255;

/** What nearly every name consists of. */
const STORABLE = /^[\x20-\x7e]*$/;

const UNSTORABLE = /[\p{Cc}\p{Cs}]/gu;

/** A name as a store keeps it: what it would change, such as a NUL, would break the hash of the entry. */
function plain(name: string | null): string | null {
  if (name === null || (name.length <= MAX_NAME && STORABLE.test(name))) return name;
  return name.slice(0, MAX_NAME).replace(UNSTORABLE, '\u{FFFD}');
}
