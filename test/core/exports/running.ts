import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach } from 'vitest';
import { operationOf } from '../../../src/catalog/catalog.ts';
import type { Operation } from '../../../src/catalog/define.ts';
import { appointmentHistories as appointmenthistories } from '../../../src/catalog/resources/appointmenthistories.ts';
import { patients } from '../../../src/catalog/resources/patients.ts';
import { runExport } from '../../../src/core/exports/exportrun.ts';
import type { ExportDone, ExportTask, ExportWorld } from '../../../src/core/exports/exporttask.ts';
import type { ExportIdentity } from '../../../src/core/exports/journal.ts';
import type { LockOwner } from '../../../src/core/lockfile.ts';
import { columnsOf } from '../../../src/core/output/columns.ts';
import { FORMATS, type Format } from '../../../src/core/output/formats.ts';
import { LocalClock } from '../../../src/core/output/localclock.ts';
import { PLAIN as PLAIN_STYLE } from '../../../src/core/output/style.ts';
import type { Formatter } from '../../../src/core/output/writepages.ts';
import type { Row } from '../../../src/core/pages/page.ts';
import { walkParallel } from '../../../src/core/pages/parallel.ts';
import type { IncomingResponse, OutgoingRequest } from '../../../src/core/transport/send.ts';
import { system } from '../../../src/filesystem/system.ts';
import { replaceSystem } from '../../support/othersystem.ts';
import { clientOf, Script, success } from '../transport/script.ts';

/** An export of a test: everything that changes its bytes, and nothing else. */
export interface Wanted {
  readonly rows: readonly Row[];
  readonly format: Format;
  readonly header: boolean;
  readonly excel: boolean;
  readonly limit: number | null;
  /** Read by page number instead of by cursor. */
  readonly byNumber: boolean;
}

export const PLAIN: Wanted = {
  rows: [1, 2, 3, 5, 8].map((id) => ({ id, lastName: `Name ${id}` })),
  format: 'csv',
  header: true,
  excel: false,
  limit: null,
  byNumber: false,
};

/** How one run of it goes. */
export interface Run {
  readonly pageSize: number;
  readonly parallel?: number;
  readonly resume?: boolean;
  readonly receipt?: boolean;
  readonly signal?: AbortSignal;
  readonly clock?: LockOwner['clock'];
  /** Milliseconds that pass from one look at the clock to the next. */
  readonly tick?: number;
  /** Answers instead of the server, or throws; undefined leaves the answer to it. `number` counts from 1. */
  readonly instead?: (number: number, request: OutgoingRequest) => IncomingResponse | undefined;
  /** Around every write of the output. */
  readonly aroundWrite?: () => Promise<void>;
  readonly more?: Partial<ExportTask>;
  /** What the requests took; those of the client where absent. */
  readonly statistics?: ExportWorld['statistics'];
}

/** The bytes that an export must have, put together by hand. */
export function bytesOf({ rows, format, header, excel, limit }: Wanted): string {
  const wanted = rows.slice(0, limit ?? undefined);
  const objects = wanted.map((row) => JSON.stringify(row));
  if (format === 'ndjson') return objects.map((text) => `${text}\n`).join('');
  if (format === 'json') return objects.length === 0 ? '[]\n' : `[\n${objects.join(',\n')}\n]\n`;
  const end = excel ? '\r\n' : '\n';
  const between = format === 'tsv' ? '\t' : ',';
  const lines = [['id', 'lastName'], ...wanted.map(({ id, lastName }) => [id, lastName])].map((cells) =>
    cells.join(between),
  );
  if (!header) lines.shift();
  if (format === 'tsv') return lines.map((line) => `${line}\n`).join('');
  return (excel ? '\uFEFF' : '') + lines.map((line) => line + end).join('');
}

export function identityOf({ format, header, excel, limit, byNumber }: Wanted): ExportIdentity {
  return {
    ...{ url: 'https://api.example.com', organization: 'org-1' },
    resource: byNumber ? 'appointmenthistories' : 'patients',
    filter: 'lastName~=N',
    fields: ['id', 'lastName'],
    ...{ format, header, excel, escapeFormulas: true, limit, sinceLast: null },
  };
}

/** Exports to a path from a server that has the rows. */
export function exportOf(path: string, wanted: Wanted, run: Run): Promise<ExportDone> {
  const operation = operationOf(wanted.byNumber ? appointmenthistories : patients, 'list');
  let number = 0;
  const answer = (request: OutgoingRequest): IncomingResponse => {
    number++;
    return run.instead?.(number, request) ?? pageOf(wanted, request);
  };
  const script = new Script(...Array.from({ length: 500 }, () => answer));
  const client = clientOf(script, { retry: { maxRetries: 0, base: 1, ceiling: 1, longestWait: 1 } });
  const signal = run.signal ?? new AbortController().signal;
  const identity = identityOf(wanted);
  const around = run.aroundWrite ?? (() => Promise.resolve());
  return runExport(
    {
      identity,
      filter: identity.filter ?? undefined,
      columns: 'id,lastName',
      path,
      kind: 'whole',
      resume: run.resume ?? false,
      receipt: run.receipt ?? false,
      resumable: true,
      formatter: (written) => formatterOf(wanted, operation, written),
      pack: (inner) => ({
        ...inner,
        write: async (text) => {
          await around();
          await inner.write(text);
          await around();
        },
      }),
      open: async ({ from, onServerTime, onWarnings }) =>
        walkParallel(client, operation, {
          ...{ filter: identity.filter ?? undefined, from, onServerTime, onWarnings, signal, pageSize: run.pageSize },
          limit: wanted.limit ?? undefined,
          parallel: run.parallel ?? 1,
        }),
      ...run.more,
    },
    { owner: ownerOf(run), signal, statistics: run.statistics ?? (() => client.statistics) },
  );
}

function ownerOf({ clock, tick = 0 }: Run): LockOwner {
  let time = Date.UTC(2026, 2, 2, 12);
  const ticking = {
    now: () => {
      time += tick;
      return time;
    },
    sleep: () => Promise.resolve(),
  };
  return { pid: 1, host: 'here', clock: clock ?? ticking, lifeOf: () => ({ alive: true }) };
}

async function formatterOf(wanted: Wanted, operation: Operation, written: number): Promise<Formatter> {
  const { format, header, excel } = wanted;
  const formatter = await FORMATS[format].rows?.({
    columns: columnsOf(operation.fields ?? patients.fields, ['id', 'lastName']),
    ...{ header, excel, escapeFormulas: true, written, width: undefined, style: PLAIN_STYLE },
    clock: () => new LocalClock('UTC'),
    clockOf: () => new LocalClock('UTC'),
    onHidden: () => undefined,
  });
  if (formatter === undefined) throw new Error(`${format} has no rows.`);
  return formatter;
}

/** The page that a request asks for. */
function pageOf({ rows }: Wanted, { url }: OutgoingRequest): IncomingResponse {
  const query = new URL(url).searchParams;
  const size = Number(query.get('pageSize'));
  const page = query.get('page');
  if (page !== null) return success(rows.slice((Number(page) - 1) * size, Number(page) * size));
  const after = BigInt(query.get('lastId') ?? '0');
  return success(rows.filter(({ id }) => BigInt(String(id)) > after).slice(0, size));
}

const folders: string[] = [];

afterEach(async () => {
  for (const folder of folders.splice(0)) await rm(folder, { recursive: true, force: true });
});

/** An empty folder that is gone after the test. */
export async function emptyFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'molar-exports-'));
  folders.push(folder);
  return folder;
}

/** What a removal that lasts asks for; on Windows a folder cannot be synced. */
export const LASTING = process.platform === 'win32' ? ['removed'] : ['removed', 'synced'];

/** What is asked of the system in the way of removals and syncs of folders, in order, until `work` is done. */
export async function removalsOf(work: () => Promise<unknown>): Promise<string[]> {
  const { unlink, fsync } = system;
  const seen: string[] = [];
  replaceSystem({
    unlink: (path) => unlink(path).then(() => void seen.push('removed')),
    fsync: (descriptor) => fsync(descriptor).then(() => void seen.push('synced')),
  });
  await work();
  return seen;
}
