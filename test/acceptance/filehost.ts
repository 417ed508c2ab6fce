import { createHash } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A request for a file: where it begins, and whether it carried what belongs to the API alone. */
export interface FileRequest {
  readonly id: number;
  readonly from: number;
  readonly hasToken: boolean;
}

/** A documents server of which every byte is known: document `id` is `contentOf(id)`. */
export class FileHost {
  readonly requests: FileRequest[] = [];
  /** Size of every file in bytes. */
  size = 10_000;
  documents: readonly number[] = [];
  nameOf = (id: number): string => `scan ${id}.pdf`;
  /** The next download stops after so many bytes and is held open; its promise is kept when they are sent. */
  holdAfter: number | undefined;
  private readonly server = createServer((request, response) => this.answer(request, response));

  async listen(): Promise<string> {
    await new Promise<void>((done) => this.server.listen(0, '127.0.0.1', done));
    return this.url;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  async close(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((done) => this.server.close(done));
  }

  /** SHA-256 of a document's content, counted from its bytes. */
  sha256(id: number): string {
    const hash = createHash('sha256');
    for (const chunk of bytesOf(id, 0, this.size)) hash.update(chunk);
    return hash.digest('hex');
  }

  private answer(request: IncomingMessage, response: ServerResponse): void {
    const url = new URL(request.url ?? '', this.url);
    const id = Number(/(\d+)$/.exec(url.pathname)?.[1]);
    if (url.pathname.startsWith('/files/')) this.file(id, request, response);
    else json(response, this.dataOf(url, id));
  }

  private dataOf(url: URL, id: number): unknown {
    if (url.pathname.endsWith('/totalcount')) return { totalCount: this.documents.length };
    if (Number.isInteger(id)) return this.record(id);
    const after = Number(url.searchParams.get('lastId'));
    const page = this.documents.filter((each) => each > after).slice(0, Number(url.searchParams.get('pageSize')));
    return page.map((each) => this.record(each));
  }

  private record(id: number) {
    return { id, name: this.nameOf(id), guidName: `guid-${id}`, storage: { original: `${this.url}/files/${id}` } };
  }

  private file(id: number, request: IncomingMessage, response: ServerResponse): void {
    const from = Number(/^bytes=(\d+)-$/.exec(request.headers.range ?? '')?.[1] ?? 0);
    const hasToken = 'authorization' in request.headers || 'organization-id' in request.headers;
    this.requests.push({ id, from, hasToken });
    response.writeHead(from === 0 ? 200 : 206, {
      'content-length': this.size - from,
      ...(from > 0 && { 'content-range': `bytes ${from}-${this.size - 1}/${this.size}` }),
    });
    const end = this.holdAfter ?? this.size;
    this.holdAfter = undefined;
    const chunks = bytesOf(id, from, end);
    const more = () => {
      // Not a loop over the chunks: leaving one would end them.
      for (let next = chunks.next(); !next.done; next = chunks.next()) {
        if (response.write(next.value)) continue;
        response.once('drain', more);
        return;
      }
      if (end === this.size) response.end();
    };
    more();
  }
}

/** Bytes of a document from one place to another: a pattern in which no two places near each other look the same. */
function* bytesOf(id: number, from: number, to: number): Generator<Buffer> {
  const STEP = 65_536;
  const pattern = createHash('sha512').update(String(id)).digest();
  const block = Buffer.alloc(STEP, pattern);
  for (let at = from - (from % STEP); at < to; at += STEP) {
    block.writeUInt32LE(at / STEP, 0);
    yield Buffer.from(block.subarray(Math.max(0, from - at), Math.min(STEP, to - at)));
  }
}

function json(response: ServerResponse, data: unknown): void {
  response.writeHead(200, { 'content-type': 'application/json' });
  response.end(JSON.stringify({ data, warnings: [], errors: [] }));
}
