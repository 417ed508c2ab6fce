import { createHash } from 'node:crypto';
import { staticToken } from '../../../src/core/connection/credentials.ts';
import type { LinkFetching } from '../../../src/core/documents/links/fetchlink.ts';
import { ApiClient } from '../../../src/core/transport/client.ts';
import {
  ConnectionFailure,
  type IncomingResponse,
  type OutgoingRequest,
  type Send,
} from '../../../src/core/transport/send.ts';

/** What goes wrong with one POST: before it is done, or after. */
export type Fault =
  | 'refuse-connection'
  | 'cut-before'
  | 'cut-after'
  | 'half-answer'
  | 'page'
  | 'page-after'
  | 'no-record-after'
  | 408
  | 500
  | 502
  | 503
  | 504
  | '408-after'
  | '500-after'
  | '502-after'
  | '503-after'
  | '504-after';

export interface StoredFile {
  readonly id: number;
  readonly name: string;
  readonly owner: string;
  readonly content: Buffer;
  readonly tags: readonly string[];
}

/**
 * A documents server in memory that misbehaves on demand, with an oracle: what it holds. It numbers names as the real
 * one does; `keys: false` makes it one that takes no notice of Idempotency-Key.
 */
export class FakeServer {
  readonly stored: StoredFile[] = [];
  readonly requests: OutgoingRequest[] = [];
  faults: (Fault | undefined)[] = [];
  keys = true;
  /** Ids of new documents fall instead of rising. */
  falling = false;
  /** Answers in place of a download, first come first served. */
  downloads: ((content: Buffer) => IncomingResponse)[] = [];
  private lastId = 7_000_000_000_000;
  private readonly answers = new Map<string, { body: string; id: number }>();

  readonly send: Send = async (request) => {
    this.requests.push(request);
    request.signal?.throwIfAborted();
    const url = new URL(request.url);
    if (url.pathname.startsWith('/files/')) return this.file(Number(url.pathname.slice(7)));
    if (request.headers.authorization !== 'Bearer secret') return answer(401, null);
    if (request.method === 'POST') return this.create(request);
    const id = /\/documents\/(\d+)$/.exec(url.pathname)?.[1];
    return id === undefined ? this.list(url) : this.get(Number(id));
  };

  client(): ApiClient {
    return new ApiClient({
      baseUrl: 'https://api.example.com',
      organization: 'org-1',
      token: staticToken('secret'),
      send: this.send,
      retry: RETRY,
      clock: CLOCK,
      random: () => 0,
    });
  }

  fetching(): LinkFetching {
    return { send: this.send, retry: RETRY, clock: CLOCK, random: () => 0, stall: 60_000 };
  }

  add(name: string, owner: string, content: Buffer | string, tags: readonly string[] = []): StoredFile {
    this.lastId += (this.falling ? -1 : 1) * (1 + (this.stored.length % 3));
    const file = { id: this.lastId, name: this.freeName(name, owner), owner, content: Buffer.from(content), tags };
    this.stored.push(file);
    return file;
  }

  remove(id: number): void {
    this.stored.splice(
      this.stored.findIndex((file) => file.id === id),
      1,
    );
  }

  posts(): number {
    return this.requests.filter(({ method }) => method === 'POST').length;
  }

  private async create(request: OutgoingRequest): Promise<IncomingResponse> {
    const fault = this.faults.shift();
    if (fault === 'refuse-connection') throw new ConnectionFailure('Nothing answers.', { sent: false });
    const text = await readBody(request);
    if (fault === 'cut-before') throw new ConnectionFailure('The connection was cut.', { sent: true });
    if (fault === 'page') return PAGE();
    if (typeof fault === 'number') return failure(fault);
    const done = this.store(request.headers['idempotency-key'] ?? '', text);
    if (fault === 'cut-after') throw new ConnectionFailure('The connection was cut.', { sent: true });
    if (fault === 'page-after') return PAGE();
    if (fault === 'no-record-after') return answer(201, null);
    const status = /^(\d+)-after$/.exec(fault ?? '')?.[1];
    if (status !== undefined) return failure(Number(status));
    if (fault === 'half-answer') return { ...done, body: bytes('{"data":{"id":') };
    return done;
  }

  private store(key: string, text: string): IncomingResponse {
    const known = this.keys ? this.answers.get(key) : undefined;
    if (known !== undefined && known.body !== text) return answer(400, null, 'Idempotency-Key');
    if (known !== undefined) return { ...answer(201, { id: known.id }), headers: { 'idempotency-replayed': 'true' } };
    const { name, mimeType, file, tags, ...owners } = JSON.parse(text);
    const [field = 'ownerOrganization', link = { id: 'org-1' }] = Object.entries<{ id: string }>(owners)[0] ?? [];
    const made = this.add(
      `${name}.${mimeType.toLowerCase()}`,
      `${field}:${link.id}`,
      Buffer.from(file.content, 'base64'),
      tags,
    );
    this.answers.set(key, { body: text, id: made.id });
    return answer(201, record(made));
  }

  private freeName(name: string, owner: string): string {
    const dot = name.lastIndexOf('.');
    const taken = new Set(this.stored.filter((file) => file.owner === owner).map((file) => file.name.toLowerCase()));
    for (let number = 0; ; number++) {
      const candidate = number === 0 ? name : `${name.slice(0, dot)} (${number})${name.slice(dot)}`;
      if (!taken.has(candidate.toLowerCase())) return candidate;
    }
  }

  private list(url: URL): IncomingResponse {
    const [, field, id] = /^(\w+)\.id==(.+)$/.exec(url.searchParams.get('filter') ?? '') ?? [];
    const after = Number(url.searchParams.get('lastId'));
    const size = Math.min(Number(url.searchParams.get('pageSize')), 3);
    const mine = this.stored.filter((file) => file.owner === `${field}:${id}` && file.id > after);
    mine.sort((one, other) => one.id - other.id);
    return answer(
      200,
      mine.slice(0, size).map(({ id, name }) => ({ id, name })),
    );
  }

  private get(id: number): IncomingResponse {
    const found = this.stored.find((file) => file.id === id);
    return found === undefined ? answer(404, null) : answer(200, record(found));
  }

  private file(id: number): IncomingResponse {
    const content = this.stored.find((file) => file.id === id)?.content ?? Buffer.alloc(0);
    const special = this.downloads.shift();
    return (
      special?.(content) ?? { status: 200, headers: { 'content-length': String(content.length) }, body: bytes(content) }
    );
  }
}

const RETRY = { maxRetries: 5, base: 1, ceiling: 1, longestWait: 1 };
const CLOCK = { now: () => 0, sleep: async (_: number, signal?: AbortSignal) => signal?.throwIfAborted() };

function record({ id, name, owner, tags }: StoredFile) {
  const [field = '', owning = ''] = owner.split(':');
  const link = { id: field === 'ownerOrganization' ? owning : Number(owning) };
  return {
    id,
    name,
    tags,
    [field]: link,
    storage: { original: `https://api.example.com/files/${id}` },
    type: 'DocumentV1',
  };
}

export async function* bytes(...parts: (string | Buffer)[]): AsyncGenerator<Uint8Array> {
  for (const part of parts) yield Buffer.from(part);
}

const PAGE = (): IncomingResponse => ({ status: 200, headers: {}, body: bytes('<html>Sign in</html>') });

/** What a gateway answers for a server, and what the server itself does. */
function failure(status: number): IncomingResponse {
  return status === 502 || status === 504 ? { status, headers: {}, body: bytes('<html>') } : answer(status, null);
}

function answer(status: number, data: unknown, source?: string): IncomingResponse {
  const errors =
    status < 300 ? [] : [{ code: 'some.code', title: 'Title', description: 'What is wrong.', source: source ?? null }];
  return { status, headers: {}, body: bytes(JSON.stringify({ data, warnings: [], errors })) };
}

async function readBody({ body }: OutgoingRequest): Promise<string> {
  if (body === undefined || typeof body === 'string') return body ?? '';
  const chunks: Uint8Array[] = [];
  for await (const chunk of body.open()) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}

export function sha256(content: Buffer | string): string {
  return createHash('sha256').update(content).digest('hex');
}
