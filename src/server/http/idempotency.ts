import { hash } from 'node:crypto';
import sql from 'sql-template-tag';
import { refusal } from '../../catalog/failures.ts';
import { DocumentBody } from '../body/documentbody.ts';
import { nowOf } from '../clock.ts';
import type { Service } from '../service.ts';
import { statement } from '../store/statement.ts';
import type { Store, Transaction } from '../store/store.ts';

/** How long a key is kept (D46). */
const KEPT_MS = 24 * 60 * 60 * 1000;

/** How often old keys are deleted; until then they count for nothing. */
const SWEPT_MS = 60 * 1000;

/** What a key counts for: one organization, token and route (D46). */
export interface KeyPlace {
  readonly org: number;
  readonly token: string;
  readonly route: string;
  readonly name: string;
}

interface KeptAnswer {
  readonly status: number;
  readonly answer: string;
}

/** Answers of POSTs that carried an Idempotency-Key (D46). One for a server: it also knows which requests still run. */
export class IdempotencyKeys {
  private readonly running = new Set<string>();
  /** When the old keys of an organization were last deleted, in UTC milliseconds. */
  private readonly swept = new Map<number, number>();
  private readonly service: Service;
  /** The time before which keys count for nothing, as of `at`: made once for all requests of a millisecond. */
  private limit = { at: Number.NaN, text: '' };

  constructor(service: Service) {
    this.service = service;
  }

  /** The first answer to the same key and body; undefined when this is the first. Throws a Refusal for another body. */
  async earlier(place: KeyPlace, bodyHash: string): Promise<KeptAnswer | undefined> {
    const { org, token, route, name } = place;
    const row = await this.service.store.read.get<KeptAnswer & { body_hash: string }>(
      statement`SELECT body_hash, status, answer FROM idempotency_keys
        WHERE org = ${org} AND token = ${token} AND route = ${route} AND name = ${name} AND created_at > ${this.oldest()}`,
    );
    if (row === undefined) return undefined;
    if (row.body_hash !== bodyHash) {
      throw refusal('idempotency.body_differs', 'Idempotency-Key', 'This Idempotency-Key was used with another body.');
    }
    return row;
  }

  /** Holds a key while its first request runs. Throws a Refusal (409) when one does already. Returns how to let go. */
  hold(place: KeyPlace): () => void {
    const name = `${place.org} ${place.token} ${place.name} ${place.route}`;
    if (this.running.has(name)) throw running();
    this.running.add(name);
    return () => this.running.delete(name);
  }

  /**
   * The service for a request with a key: where other servers share the store, each of its writes first looks whether
   * one of them has done the same request by now, so that its own record is not in the way. Throws a Refusal (409) then.
   */
  guarded({ org, token, route, name }: KeyPlace): Service {
    const { store } = this.service;
    if (store.shared === undefined) return this.service;
    const write: Store['write'] = (work, lane) =>
      store.write(async (tx) => {
        const done = await tx.get(sql`SELECT 1 AS found FROM idempotency_keys
          WHERE org = ${org} AND token = ${token} AND route = ${route} AND name = ${name} AND created_at > ${this.oldest()}`);
        if (done !== undefined) throw running();
        return work(tx);
      }, lane);
    return { ...this.service, store: { ...store, write } };
  }

  /**
   * Keeps an answer in the transaction of what it answers for, so that neither is there without the other. Throws a
   * Refusal (409) when another server kept one first.
   */
  async keep(tx: Transaction, place: KeyPlace, bodyHash: string, { status, answer }: KeptAnswer): Promise<void> {
    const { org, token, route, name } = place;
    const now = this.service.clock();
    if (!(now - (this.swept.get(org) ?? Number.NEGATIVE_INFINITY) < SWEPT_MS)) {
      this.swept.set(org, now);
      await tx.run(sql`DELETE FROM idempotency_keys WHERE org = ${org} AND created_at <= ${this.oldest()}`);
    }
    const row = statement`INSERT INTO idempotency_keys (org, token, route, name, body_hash, status, answer, created_at)
      VALUES (${org}, ${token}, ${route}, ${name}, ${bodyHash}, ${status}, ${answer}, ${nowOf(this.service)})
      ON CONFLICT DO NOTHING`;
    if ((await tx.run(row)) > 0) return;
    // In the way stands a key that has served its time, or one that another server on the same database has kept in the
    // meantime: then this one is undone, and asked again it replays.
    const expired = await tx.run(sql`DELETE FROM idempotency_keys WHERE org = ${org} AND token = ${token}
      AND route = ${route} AND name = ${name} AND created_at <= ${this.oldest()}`);
    if (expired === 0 || (await tx.run(row)) === 0) throw running();
  }

  private oldest(): string {
    const at = this.service.clock();
    if (this.limit.at !== at) this.limit = { at, text: new Date(at - KEPT_MS).toISOString() };
    return this.limit.text;
  }
}

function running() {
  return refusal(
    'idempotency.running',
    'Idempotency-Key',
    'The first request with this Idempotency-Key is still running.',
  );
}

/** The key of a request that has the header. Throws a Refusal for one that is not 1–255 visible characters. */
export function readKey(header: string | string[] | undefined): string {
  if (typeof header === 'string' && /^[\x21-\x7e]{1,255}$/.test(header)) return header;
  throw refusal('idempotency.key', 'Idempotency-Key', 'Idempotency-Key must be 1 to 255 visible ASCII characters.');
}

/** Tells whether two bodies are the same; a document counts with its content. */
export function hashOf(body: unknown): string {
  const same = body instanceof DocumentBody ? [body.json, body.content?.sha256] : body;
  return hash('sha256', JSON.stringify(same) ?? '', 'hex');
}
