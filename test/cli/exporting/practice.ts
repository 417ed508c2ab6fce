import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach } from 'vitest';
import type { IncomingResponse, OutgoingRequest } from '../../../src/core/transport/send.ts';
import { problem, Script, success } from '../../core/transport/script.ts';

type Row = Readonly<Record<string, unknown>> & { readonly id: number };

/** A server with records by the last segment of the path, that pages by cursor; it can be told to answer otherwise. */
export class Practice {
  readonly rows: Record<string, Row[]> = {};
  /** Answers instead, by the segment; undefined leaves the answer to the server. */
  instead: (segment: string, request: OutgoingRequest) => IncomingResponse | undefined = () => undefined;
  /** Whether it counts its records; requests for that are not among those asked. */
  counts = true;
  /** Segments asked, in order, with their query. */
  readonly asked: (readonly [string, Readonly<Record<string, string>>])[] = [];
  readonly script = new Script(
    ...Array.from({ length: 400 }, () => (request: OutgoingRequest) => this.answer(request)),
  );

  private answer(request: OutgoingRequest): IncomingResponse {
    const url = new URL(request.url);
    const [segment = '', parent = ''] = url.pathname.split('/').toReversed();
    const query = Object.fromEntries(url.searchParams);
    if (segment === 'totalcount') return this.counted(parent, query);
    this.asked.push([segment, query]);
    const rows = this.rows[segment];
    return this.instead(segment, request) ?? (rows ? success(pageOf(rows, query), {}, NOON) : notServed());
  }

  private counted(segment: string, { filter = '' }: Readonly<Record<string, string>>): IncomingResponse {
    const rows = this.rows[segment];
    const total = pageOf(rows ?? [], { filter, pageSize: '1000000' }).length;
    return this.counts && rows ? success({ total, totalCount: total }) : notServed();
  }

  /** Times a segment was asked. */
  count(segment: string): number {
    return this.asked.filter(([name]) => name === segment).length;
  }
}

/** What the clock of the server says. */
const NOON = { date: 'Mon, 02 Mar 2026 12:00:00 GMT' };

function pageOf(
  rows: readonly Row[],
  { lastId = '0', pageSize = '100', filter = '' }: Readonly<Record<string, string>>,
) {
  const since = /lastModified>=([-0-9T:.Z]+)/.exec(filter)?.[1] ?? '';
  const after = rows.filter(({ id, lastModified = '9' }) => id > Number(lastId) && String(lastModified) >= since);
  return after.slice(0, Number(pageSize));
}

function notServed(): IncomingResponse {
  return problem(404, 'route.unknown', null, 'There is no such route.');
}

const folders: string[] = [];

afterEach(async () => {
  for (const folder of folders.splice(0)) await rm(folder, { recursive: true, force: true });
});

/** A folder that is gone after the test, and an environment whose configuration is in it. */
export async function desk() {
  const folder = await mkdtemp(join(tmpdir(), 'molar-exporting-'));
  folders.push(folder);
  return { folder, env: { MOLAR_CONFIG_DIR: join(folder, 'config') }, at: (name: string) => join(folder, name) };
}
