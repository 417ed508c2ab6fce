import { createHash } from 'node:crypto';
import type { Variant } from '../../../../src/catalog/resources/documents.ts';
import { staticToken } from '../../../../src/core/connection/credentials.ts';
import type { Downloading } from '../../../../src/core/documents/links/documentlink.ts';
import type { LinkFetching } from '../../../../src/core/documents/links/fetchlink.ts';
import { ApiClient } from '../../../../src/core/transport/client.ts';
import { ConnectionFailure, type IncomingResponse, type OutgoingRequest } from '../../../../src/core/transport/send.ts';

export interface Held {
  readonly id: number;
  readonly name: string;
  content: Buffer;
  guid: string | null;
}

/** One answer of the file host in place of its own; `from` is where the asked range begins. */
export type Special = (held: Held, request: OutgoingRequest) => IncomingResponse;

type Headers = Readonly<Record<string, string>>;

/** Documents and the host of their files, which keeps to HTTP's ranges unless `specials` say otherwise. */
export class DownloadServer {
  readonly held: Held[] = [];
  readonly requests: OutgoingRequest[] = [];
  /** First come, first served; then the host is well-behaved. */
  specials: Special[] = [];
  /** Headers of every file. */
  extra: (held: Held) => Headers = (held) => ({ etag: etagOf(held) });
  fileHost = 'https://files.example.net';
  variants: readonly Variant[] = ['original'];
  private links = 0;

  add(id: number, name: string, content: Buffer | string, guid: string | null = `guid-${id}`): Held {
    const held = { id, name, content: Buffer.from(content), guid };
    this.held.push(held);
    return held;
  }

  readonly send = async (request: OutgoingRequest): Promise<IncomingResponse> => {
    this.requests.push(request);
    request.signal?.throwIfAborted();
    const url = new URL(request.url);
    const id = Number(/(\d+)$/.exec(url.pathname)?.[1]);
    const held = this.held.find((each) => each.id === id);
    if (url.origin === this.fileHost) return this.file(held as Held, request);
    if (request.headers.authorization !== 'Bearer secret') return envelope(401, null);
    return held === undefined ? envelope(404, null) : envelope(200, this.row(held));
  };

  /** A document as the API tells it, its link new each time. */
  row({ id, name, guid }: Held): Readonly<Record<string, unknown>> {
    const storage = Object.fromEntries(
      this.variants.map((variant) => [variant, `${this.fileHost}/${variant}/${++this.links}/${id}`]),
    );
    return { id, name, ...(guid !== null && { guidName: guid }), storage, type: 'DocumentV1' };
  }

  get fileRequests(): OutgoingRequest[] {
    return this.requests.filter(({ url }) => url.startsWith(this.fileHost));
  }

  /** The ranges asked for, `undefined` for the whole file. */
  get ranges(): (string | undefined)[] {
    return this.fileRequests.map(({ headers }) => headers.range);
  }

  fetching(more: Partial<LinkFetching> = {}): LinkFetching {
    return { send: this.send, retry: RETRY, clock: CLOCK, random: () => 0, stall: 60_000, ...more };
  }

  downloading(more: Partial<Downloading> = {}): Downloading {
    const client = new ApiClient({
      baseUrl: 'https://api.example.com',
      organization: 'org-1',
      token: staticToken('secret'),
      send: this.send,
      retry: RETRY,
      clock: CLOCK,
      random: () => 0,
    });
    return { client, fetching: this.fetching(), variant: 'original', ...more };
  }

  private file(held: Held, request: OutgoingRequest): IncomingResponse {
    const special = this.specials.shift();
    return special === undefined ? fileAnswer(held, request, this.extra(held)) : special(held, request);
  }
}

/** What a host that supports ranges and If-Range answers (RFC 9110, 14.2). */
export function fileAnswer(held: Held, request: OutgoingRequest, extra: Headers): IncomingResponse {
  const { content } = held;
  const start = /^bytes=(\d+)-$/.exec(request.headers.range ?? '')?.[1];
  const unless = request.headers['if-range'];
  const isSame = unless === undefined || unless === extra.etag || unless === extra['last-modified'];
  if (start === undefined || !isSame) return whole(content, extra);
  if (Number(start) >= content.length)
    return { status: 416, headers: { 'content-range': `bytes */${content.length}` }, body: chunks('') };
  return partial(content, Number(start), extra);
}

export function whole(content: Buffer, extra: Headers = {}): IncomingResponse {
  return { status: 200, headers: { 'content-length': String(content.length), ...extra }, body: chunks(content) };
}

export function partial(content: Buffer, start: number, extra: Headers = {}): IncomingResponse {
  const body = content.subarray(start);
  const range = `bytes ${start}-${content.length - 1}/${content.length}`;
  const headers = { 'content-length': String(body.length), 'content-range': range, ...extra };
  return { status: 206, headers, body: chunks(body) };
}

/** The same answer, its body cut after so many bytes. */
export function cut(answer: IncomingResponse, after: number): IncomingResponse {
  return { ...answer, body: broken(answer.body, after) };
}

export function status(code: number, headers: Headers = {}): IncomingResponse {
  return { status: code, headers, body: chunks('no') };
}

export function etagOf({ content }: Held): string {
  return `"${sha256(content).slice(0, 8)}"`;
}

export function sha256(content: Buffer | string): string {
  return createHash('sha256').update(content).digest('hex');
}

/** Bytes in pieces of a size that divides nothing. */
export async function* chunks(content: Buffer | string): AsyncGenerator<Uint8Array> {
  const bytes = Buffer.from(content);
  const size = Math.max(7, Math.ceil(bytes.length / 13));
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

async function* broken(body: AsyncIterable<Uint8Array>, after: number): AsyncGenerator<Uint8Array> {
  let given = 0;
  for await (const chunk of body) {
    const piece = chunk.subarray(0, after - given);
    given += piece.length;
    if (piece.length > 0) yield piece;
    if (given >= after) break;
  }
  throw new ConnectionFailure('The connection was cut.', { sent: true });
}

const RETRY = { maxRetries: 5, base: 1, ceiling: 1, longestWait: 1 };
const CLOCK = { now: () => 0, sleep: async (_: number, signal?: AbortSignal) => signal?.throwIfAborted() };

function envelope(code: number, data: unknown): IncomingResponse {
  const errors = code < 300 ? [] : [{ code: 'some.code', title: 'Title', description: 'What is wrong.', source: null }];
  return { status: code, headers: {}, body: chunks(JSON.stringify({ data, warnings: [], errors })) };
}
