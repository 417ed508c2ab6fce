import { isDeepStrictEqual } from 'node:util';
import type { Resource } from '../../catalog/define.ts';
import {
  type ChangeOperation,
  domainTypeOf,
  locationFieldOf,
  NO_LOCATION,
  publishedOperations,
} from '../../catalog/stream/domains.ts';
import type { Organization } from '../organizations.ts';
import type { JsonRecord } from '../store/layout.ts';
import { locationOfRecord } from '../store/reach.ts';
import type { Reader } from '../store/store.ts';
import type { NewMessage } from './outbox.ts';
import { type Places, placesAt } from './places.ts';

/** One change of one record: `before` is undefined for a new one, `after` for one that is deleted. */
export interface Change {
  readonly organization: Pick<Organization, 'org' | 'id'>;
  readonly resource: Resource;
  readonly before: JsonRecord | undefined;
  readonly after: JsonRecord | undefined;
  /** The JSON of `after`, if already serialized. */
  readonly json?: string;
  /** When it happened: UTC, `YYYY-MM-DDTHH:mm:ss.SSSZ`. */
  readonly at: string;
}

/**
 * The message of a change (D40): the whole record when it is new, the changed fields when it is updated, the id when it
 * is deleted. Undefined when nothing changed (D44), and for changes that its sub-type does not report (specification,
 * Events).
 */
export function messageOf({
  organization,
  resource,
  before,
  after,
  json,
  at,
}: Change): Omit<NewMessage, keyof Places> | undefined {
  const record = after ?? before;
  if (record === undefined) return undefined;
  const operation = before === undefined ? 'CREATE' : after === undefined ? 'DELETE' : 'UPDATE';
  if (!publishedOperations(record.ledgerType).includes(operation)) return undefined;
  const payload = payloadOf(operation, before, record, at);
  if (payload === undefined) return undefined;
  const domainType = domainTypeOf(resource);
  const key = { organizationId: organization.id, locationId: locationOf(resource, record), domainType, operation };
  const text = payload === after && json !== undefined ? json : JSON.stringify(payload);
  return { org: organization.org, key, sendTime: at, correlationId: null, payload: text };
}

/** The places of a change, in the transaction that makes it. */
export async function placesOfChange(
  read: Reader,
  { organization: { org }, resource, before, after, json }: Change,
): Promise<Places> {
  const now = after ?? before;
  const is = now === undefined ? null : await locationOfRecord(read, org, resource.type, now);
  const moves =
    before !== undefined &&
    after !== undefined &&
    !resource.locatedBy.every((name) => isDeepStrictEqual(before[name], after[name]));
  const was = moves ? await locationOfRecord(read, org, resource.type, before) : is;
  if (was === is) return placesAt(is);
  return { places: `${was ?? ''}>${is ?? ''}`, record: json ?? JSON.stringify(after) };
}

/** The location segment of a record's routing key. */
function locationOf(resource: Resource, record: JsonRecord): string {
  const field = locationFieldOf(resource);
  const link = field && (record[field] as { id: number } | null | undefined);
  return link ? String(link.id) : NO_LOCATION;
}

function payloadOf(
  operation: ChangeOperation,
  before: JsonRecord | undefined,
  record: JsonRecord,
  at: string,
): JsonRecord | undefined {
  if (operation === 'CREATE') return record;
  if (operation === 'DELETE') return picked(record, ['id', 'ledgerType']);
  const changed = changedFields(before ?? {}, record);
  if (changed.length === 0 || isReplacement(changed, record)) return undefined;
  // Two changes within one millisecond set it to the same value.
  if (record.lastModified === at) changed.push('lastModified');
  return picked(record, ['id', 'type', 'ledgerType', ...changed]);
}

/** Some fields of a record, in its own order. */
function picked(record: JsonRecord, names: readonly string[]): JsonRecord {
  return Object.fromEntries(Object.entries(record).filter(([name]) => names.includes(name)));
}

function changedFields(before: JsonRecord, after: JsonRecord): string[] {
  return Object.keys(after).filter((name) => !isDeepStrictEqual(before[name], after[name]));
}

const REPLACEMENT = ['isActive', 'replacedByTransaction', 'lastModified'];

/** A correction is reported by the CREATE of the new row only, not by what it does to the original (D25). */
function isReplacement(changed: readonly string[], record: JsonRecord): boolean {
  const replaced = changed.includes('replacedByTransaction') && record.replacedByTransaction !== null;
  return replaced && changed.every((name) => REPLACEMENT.includes(name));
}
