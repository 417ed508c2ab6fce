import { Pool } from 'undici';
import { ORGANIZATION, TOKEN } from '../molar.ts';

/** What one request asks for. */
export interface Asked {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  /** Behind `/api/v1`. */
  readonly path: string;
  readonly body?: object;
  readonly key?: string;
  readonly requestId?: string;
}

/** A whole answer. */
export interface Answered {
  readonly status: number;
  readonly text: string;
  readonly replayed: boolean;
}

/** The connections of clients to one server. */
export class Connections {
  private readonly pool: Pool;

  constructor(url: string, token: string = TOKEN) {
    this.pool = new Pool(url, { connections: 32, headersTimeout: 30_000, bodyTimeout: 30_000 });
    this.token = token;
  }

  private readonly token: string;

  /** Undefined when no whole answer came: then nobody knows whether the request was done. */
  async send({ method, path, body, key, requestId }: Asked): Promise<Answered | undefined> {
    try {
      const {
        statusCode,
        headers,
        body: answer,
      } = await this.pool.request({
        method,
        path: `/api/v1${path}`,
        // A connection is not used again where the server may have closed it: a write is never sent twice.
        idempotent: false,
        headers: {
          authorization: `Bearer ${this.token}`,
          'organization-id': ORGANIZATION,
          ...(body !== undefined && { 'content-type': 'application/json' }),
          ...(key !== undefined && { 'idempotency-key': key }),
          ...(requestId !== undefined && { 'x-request-id': requestId }),
        },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      });
      const text = await answer.text();
      return { status: statusCode, text, replayed: headers['idempotency-replayed'] === 'true' };
    } catch {
      return undefined;
    }
  }

  /** The bytes behind a signed link. */
  async download(link: string): Promise<{ readonly status: number; readonly bytes: Buffer }> {
    const { pathname, search } = new URL(link);
    const { statusCode, body } = await this.pool.request({ method: 'GET', path: pathname + search });
    return { status: statusCode, bytes: Buffer.from(await body.arrayBuffer()) };
  }

  async close(): Promise<void> {
    await this.pool.destroy();
  }
}

export function dataOf(answer: Answered): unknown {
  return (JSON.parse(answer.text) as { data: unknown }).data;
}
