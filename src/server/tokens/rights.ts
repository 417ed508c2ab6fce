import sql, { join } from 'sql-template-tag';
import { type Problem, Refusal } from '../../catalog/failures.ts';
import { asId } from '../../catalog/fields/numbers.ts';
import { isDate, parseInstant } from '../../catalog/fields/times.ts';
import { findOrganization } from '../organizations.ts';
import type { Service } from '../service.ts';
import type { Reader } from '../store/store.ts';
import type { Rights } from './tokens.ts';

/** What a new token or client is to be allowed, as flags say it. */
export interface RightsRequest {
  readonly organizations: readonly string[];
  readonly scopes: readonly string[];
  /** Ids; every location when not given. */
  readonly locations?: readonly string[] | undefined;
  readonly readOnly: boolean;
  /** A date (UTC midnight), a date-time, a duration such as `90d`, or `never`; 90 days when not given. */
  readonly expires?: string | undefined;
  readonly label?: string | undefined;
}

/** Rights with their name and their end. Times are UTC date-times. */
export interface NewTerms extends Rights {
  readonly label: string | null;
  readonly createdAt: string;
  readonly expiresAt: string | null;
}

/** How long a credential works when nothing is said (contract §8). */
export const DEFAULT_LIFETIME = '90d';

const UNIT_MS: Readonly<Record<string, number>> = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** A duration of at most a century in milliseconds: `90d`, `24h`, `15m`, `30s`, `0`; undefined for everything else. */
export function durationOf(text: string): number | undefined {
  const [, count, unit] = /^(\d{1,10})([smhd])$/.exec(text.trim() === '0' ? '0s' : text.trim()) ?? [];
  const milliseconds = Number(count) * (UNIT_MS[unit ?? ''] ?? Number.NaN);
  return milliseconds <= 36_525 * 86_400_000 ? milliseconds : undefined;
}

/** Checks what flags ask for, all of it at once. Throws a Refusal that names each flag at fault. */
export async function readRights(service: Service, request: RightsRequest): Promise<NewTerms> {
  const { organizations, scopes, readOnly, label } = request;
  const problems: Problem[] = [];
  const orgs: number[] = [];
  for (const id of organizations) {
    const found = await findOrganization(service.store.read, id);
    if (found !== undefined) orgs.push(found.org);
    else problems.push(unknown('--for', `There is no organization ${id} in this data folder.`));
  }
  const locations =
    request.locations === undefined ? null : await readLocations(service.store.read, orgs, request.locations, problems);
  const now = service.clock();
  const expiresAt = readExpiry(request.expires ?? DEFAULT_LIFETIME, now, problems);
  if (problems.length > 0) throw new Refusal(problems);
  const createdAt = new Date(now).toISOString();
  return { organizations, scopes, locations, readOnly, label: label ?? null, createdAt, expiresAt };
}

async function readLocations(
  read: Reader,
  orgs: readonly number[],
  given: readonly string[],
  problems: Problem[],
): Promise<number[]> {
  const ids: number[] = [];
  for (const text of given) {
    const id = asId(text);
    if (id === undefined) {
      const description = '--locations takes ids of locations, joined by commas.';
      problems.push({ code: 'field.format', source: '--locations', description });
    } else if (orgs.length > 0 && !(await hasLocation(read, orgs, id))) {
      problems.push(unknown('--locations', `No organization that --for names has a location ${id}.`));
    } else {
      ids.push(id);
    }
  }
  return [...new Set(ids)];
}

async function hasLocation(read: Reader, orgs: readonly number[], id: number): Promise<boolean> {
  const row = await read.get(sql`SELECT 1 AS found FROM reference_records
    WHERE org IN (${join(orgs)}) AND type = 'Location' AND id = ${id} LIMIT 1`);
  return row !== undefined;
}

function unknown(source: string, description: string): Problem {
  return { code: 'field.link_unknown', source, description };
}

function readExpiry(text: string, now: number, problems: Problem[]): string | null {
  if (text === 'never') return null;
  const duration = durationOf(text);
  const time = isDate(text) ? `${text}T00:00:00Z` : text;
  const instant = duration === undefined ? parseInstant(time, {}) : now + duration;
  if (typeof instant !== 'number') {
    const description =
      '--expires must be a date, a date-time with a zone such as 2027-01-01T08:00:00Z, a duration such as 90d, 24h, 15m or 30s, or never.';
    problems.push({ code: 'field.format', source: '--expires', description });
    return null;
  }
  if (instant <= now)
    problems.push({ code: 'field.range', source: '--expires', description: '--expires is in the past.' });
  return new Date(Math.floor(instant)).toISOString();
}

/** `--overlap` in milliseconds. Throws a Refusal for anything but a duration. */
export function readOverlap(text: string): number {
  const overlap = durationOf(text);
  if (overlap !== undefined) return overlap;
  const description = '--overlap must be a duration such as 24h, 15m or 30s, or 0 to end it now.';
  throw new Refusal([{ code: 'field.format', source: '--overlap', description }]);
}

/** The end of what takes the place of a credential: as long from now on as that was to live from `begin` on. */
export function renewedEnd(begin: string | null, end: string | null, now: number): string | null {
  if (end === null) return null;
  const lifetime = begin === null ? (durationOf(DEFAULT_LIFETIME) ?? 0) : Date.parse(end) - Date.parse(begin);
  return new Date(now + lifetime).toISOString();
}

/** The earlier of two UTC date-times; null never comes. */
export function earlierOf(end: string | null, other: string): string {
  return end !== null && end < other ? end : other;
}
