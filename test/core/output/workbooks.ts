import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { strFromU8, unzipSync } from 'fflate';
import readExcel from 'read-excel-file/node';
import { afterAll, beforeAll } from 'vitest';
import type { Column } from '../../../src/core/output/columns.ts';
import { LocalClock } from '../../../src/core/output/localclock.ts';
import { writePages } from '../../../src/core/output/writepages.ts';
import { xlsxFormatter, xlsxSink } from '../../../src/core/output/xlsx.ts';
import type { Row } from '../../../src/core/pages/page.ts';
import { RecordSpool } from '../../../src/core/stream/recordspool.ts';

/** A column as lists have it. */
export const column = (name: string, kind?: string): Column => ({
  name,
  path: name.split('.'),
  isId: name.split('.').at(-1) === 'id',
  ...(kind !== undefined && { kind }),
});

const COLUMNS = [
  column('id', 'id'),
  column('name', 'text'),
  column('day', 'date'),
  column('at', 'dateTime'),
  column('paid', 'dollars'),
  column('count', 'integer'),
  column('active', 'yesNo'),
  column('location.id', 'id'),
];

/** Where workbooks are buffered; for the tests of one file. */
export function sharedFolder(): () => string {
  let folder = '';
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'molar-xlsx-'));
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));
  return () => folder;
}

/** What a workbook is made with. */
export interface Options {
  readonly folder: string;
  readonly columns?: readonly Column[];
  readonly header?: boolean;
  readonly one?: string;
  readonly many?: string;
  readonly zone?: string;
  readonly signal?: AbortSignal;
  /** The zone of a record where it is another one. */
  readonly zoneOf?: (record: Row) => string | undefined;
}

/** A workbook as it would stand in a file, and how often the sink was ended. */
export async function workbook(
  pages: readonly (readonly Row[])[],
  options: Options,
): Promise<{ bytes: Buffer; ends: string[] }> {
  const {
    folder,
    columns = COLUMNS,
    header = true,
    one = 'patient',
    many = 'patients',
    zone = 'UTC',
    zoneOf,
  } = options;
  const chunks: Buffer[] = [];
  const ends: string[] = [];
  const end = (name: string) => async () => {
    ends.push(name);
  };
  const inner = {
    write: async (bytes: string | Uint8Array) => void chunks.push(Buffer.from(bytes as Uint8Array)),
    commit: end('commit'),
    abort: end('abort'),
  };
  async function* come() {
    for (const rows of pages) yield { rows };
  }
  const sink = xlsxSink(inner, {
    ...{ columns, header, one, many },
    clock: () => new LocalClock(zone),
    clockOf: (record) => new LocalClock(zoneOf?.(record) ?? zone),
    openSpool: () => RecordSpool.open(folder),
    signal: options.signal ?? new AbortController().signal,
  });
  await writePages(come(), { formatter: xlsxFormatter(), sink }).catch((cause: unknown) => {
    ends.push(String(cause));
  });
  return { bytes: Buffer.concat(chunks), ends };
}

/** The XML of the first sheet. */
export async function sheetXml(rows: readonly Row[], options: Options): Promise<string> {
  const { bytes } = await workbook([rows], options);
  return partOf(bytes, 'xl/worksheets/sheet1.xml');
}

/** A part of the file. */
export function partOf(bytes: Uint8Array, path: string): string {
  return strFromU8(unzipSync(bytes)[path] ?? new Uint8Array());
}

/** The first sheet as another library reads it. */
export async function readBack(rows: readonly Row[], options: Options): Promise<unknown[][]> {
  const { bytes } = await workbook([rows], options);
  const [sheet] = await readExcel(bytes);
  return (sheet?.data ?? []) as unknown[][];
}

/** All sheets as another library reads them. */
export async function sheetsOf(
  pages: readonly (readonly Row[])[],
  options: Options,
): Promise<Record<string, unknown[][]>> {
  const { bytes } = await workbook(pages, options);
  const sheets = await readExcel(bytes);
  return Object.fromEntries(sheets.map(({ sheet, data }) => [sheet, data as unknown[][]]));
}
