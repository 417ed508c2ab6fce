import { hash } from 'node:crypto';
import sql from 'sql-template-tag';
import { refusal } from '../../catalog/failures.ts';
import { DocumentBody } from '../body/documentbody.ts';
import { nowOf } from '../clock.ts';
import type { Service } from '../service.ts';
import { statement } from '../store/statement.ts';
import type { Store, Transaction } from '../store/store.ts';

/** Lifetime of a key (D46). */
const LIFETIME_MS = 24 * 60 * 60 * 1000;

/** Interval between deletions of expired keys; until then they have no effect. */
const SWEEP_MS = 60 * 1000;

/** What a key applies to: one organization, token and route (D46). */
interface KeyScope {
  readonly org: number;
  readonly token: string;
  readonly route: string;
  /** The key as sent. */
  readonly name: string;
}

interface StoredResponse {
  readonly status: number;
  /** The body. */
  readonly answer: string;
}

/** A key that is locked for one request. */
export interface Claim {
  /** The response to an earlier request with the same key and body; undefined when this is the first. */
  readonly earlier: StoredResponse | undefined;
  /** The service for the request; where other servers share the store, its writes check for a concurrent request first. */
  readonly service: Service;
  /** Stores the response in the transaction of the write. */
  store(tx: Transaction, response: StoredResponse): Promise<void>;
  /** Unlocks the key. */
  release(): void;
}

/** Responses to POSTs with an Idempotency-Key (D46). One for a server: it also knows which requests are in progress. */
export class IdempotencyKeys {
  private readonly running = new Set<string>();
  /** When the expired keys of an organization were last deleted, in UTC milliseconds. */
  private readonly swept = new Map<number, number>();
  /** Keys created before this time have expired, as of `at`: formatted once for all requests of a millisecond. */
  private limit = { at: Number.NaN, text: '' };

  constructor(private readonly service: Service) {}

  /** Locks a key and looks for an earlier response. Throws a Refusal for another body, or while a request is in progress. */
  async claim(scope: KeyScope, bodyHash: string): Promise<Claim> {
    const name = `${scope.org} ${scope.token} ${scope.name} ${scope.route}`;
    if (this.running.has(name)) throw stillRunning();
    this.running.add(name);
    const release = () => void this.running.delete(name);
    try {
      const earlier = await this.earlier(scope, bodyHash);
      const store: Claim['store'] = (tx, response) => this.store(tx, scope, bodyHash, response);
      return { earlier, service: this.guarded(scope), store, release };
    } catch (error) {
      release();
      throw error;
    }
  }

  private async earlier({ org, token, route, name }: KeyScope, bodyHash: string): Promise<StoredResponse | undefined> {
    const row = await this.service.store.lookupsFor(org).get<StoredResponse & { body_hash: string }>(
      statement`SELECT body_hash, status, answer FROM idempotency_keys
        WHERE org = ${org} AND token = ${token} AND route = ${route} AND name = ${name} AND created_at > ${this.oldest()}`,
    );
    if (row !== undefined && row.body_hash !== bodyHash) {
      throw refusal('idempotency.body_differs', 'Idempotency-Key', 'This Idempotency-Key was used with another body.');
    }
    return row;
  }

  /**
   * Each write also asks whether another server has completed the same request meanwhile, whose record may be in its way;
   * the question goes along with its own statements.
   */
  private guarded(scope: KeyScope): Service {
    const { store } = this.service;
    if (store.shared === undefined) return this.service;
    const write: Store['write'] = (work, lane) =>
      store.write(async (tx) => {
        const [asked, worked] = await Promise.allSettled([this.refuseDone(tx, scope), work(tx)]);
        if (asked.status === 'rejected') throw asked.reason;
        if (worked.status === 'rejected') throw worked.reason;
        return worked.value;
      }, lane);
    return { ...this.service, store: { ...store, write } };
  }

  private async refuseDone(tx: Transaction, { org, token, route, name }: KeyScope): Promise<void> {
    const done = await tx.get(sql`SELECT 1 AS found FROM idempotency_keys
      WHERE org = ${org} AND token = ${token} AND route = ${route} AND name = ${name} AND created_at > ${this.oldest()}`);
    if (done !== undefined) throw stillRunning();
  }

  private async store(
    tx: Transaction,
    { org, token, route, name }: KeyScope,
    bodyHash: string,
    { status, answer }: StoredResponse,
  ): Promise<void> {
    const now = this.service.clock();
    if (!(now - (this.swept.get(org) ?? Number.NEGATIVE_INFINITY) < SWEEP_MS)) {
      this.swept.set(org, now);
      await tx.run(sql`DELETE FROM idempotency_keys WHERE org = ${org} AND created_at <= ${this.oldest()}`);
    }
    // A key that is there has expired, or the write would have been refused: nobody else writes for the organization.
    await tx.queue(statement`INSERT INTO idempotency_keys (org, token, route, name, body_hash, status, answer, created_at)
      VALUES (${org}, ${token}, ${route}, ${name}, ${bodyHash}, ${status}, ${answer}, ${nowOf(this.service)})
      ON CONFLICT (org, token, route, name) DO UPDATE SET body_hash = excluded.body_hash, status = excluded.status,
        answer = excluded.answer, created_at = excluded.created_at`);
  }

  private oldest(): string {
    const at = this.service.clock();
    if (this.limit.at !== at) this.limit = { at, text: new Date(at - LIFETIME_MS).toISOString() };
    return this.limit.text;
  }
}

function stillRunning() {
  return refusal(
    'idempotency.running',
    'Idempotency-Key',
    'The first request with this Idempotency-Key is still in progress.',
  );
}

/** The key of a request that has the header. Throws a Refusal for one that is not 1–255 visible characters. */
export function readKey(header: string | string[] | undefined): string {
  if (typeof header === 'string' && /^[\x21-\x7e]{1,255}$/.test(header)) return header;
  throw refusal('idempotency.key', 'Idempotency-Key', 'Idempotency-Key must be 1 to 255 visible ASCII characters.');
}

/** Digest that tells whether two bodies are the same; a document is compared with its content. */
export function hashOf(body: unknown): string {
  const same = body instanceof DocumentBody ? [body.json, body.content?.sha256] : body;
  return hash('sha256', JSON.stringify(same) ?? '', 'hex');
}
