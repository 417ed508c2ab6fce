import { createHash } from 'node:crypto';
import { appendFile, mkdir, readdir, readFile, rename, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { exactId, verifyExport } from '../../../src/core/exports/receipt.ts';
import { localFailure } from '../../../src/core/failure.ts';
import { FORMATS, type Format } from '../../../src/core/output/formats.ts';
import { broken, success } from '../transport/script.ts';
import { bytesOf, emptyFolder, exportOf, PLAIN, type Wanted } from './running.ts';

const cut = () => {
  throw broken(true);
};

describe('the receipt', () => {
  const warning = { title: 'Default date filter', description: 'Only since last year.', source: 'transactionDate' };

  it('says what was exported, and keeps each warning once, that of the empty last page too', async () => {
    const path = join(await emptyFolder(), 'out.csv');
    const again = { ...warning, title: 'Deprecated parameter' };
    const { receipt, readFrom } = await exportOf(path, PLAIN, {
      pageSize: 3,
      receipt: true,
      tick: 1000,
      instead: (number) => {
        const headers = { date: 'Mon, 02 Mar 2026 11:30:00 GMT' };
        if (number === 1) return success(PLAIN.rows.slice(0, 3), { warnings: [warning] }, headers);
        if (number === 2) return success(PLAIN.rows.slice(3), { warnings: [warning] });
        return success([], { warnings: [again] });
      },
    });
    const bytes = bytesOf(PLAIN);
    expect(JSON.parse(await readFile(`${path}.receipt.json`, 'utf8'))).toEqual(receipt);
    expect(receipt).toEqual({
      file: 'out.csv',
      complete: true,
      kind: 'whole',
      url: 'https://api.example.com',
      organization: 'org-1',
      resource: 'patients',
      filter: 'lastName~=N',
      fields: ['id', 'lastName'],
      format: 'csv',
      header: true,
      sinceLast: null,
      rows: 5,
      pages: 2,
      firstId: 1,
      lastId: 8,
      bytes: bytes.length,
      proof: { by: 'none', counted: null, unproved: null },
      sha256: createHash('sha256').update(bytes).digest('hex'),
      startedAt: expect.stringMatching(/^2026-03-02T12:00:0\d\.000Z$/),
      endedAt: expect.stringMatching(/^2026-03-02T12:00:\d\d\.000Z$/),
      resumed: 0,
      retries: 0,
      throttledSeconds: 0,
      warnings: [warning, again],
    });
    expect(new Date(readFrom).toISOString()).toBe('2026-03-02T11:30:00.000Z');
  });

  it('keeps the warnings and the start of the run that was cut off', async () => {
    const path = join(await emptyFolder(), 'out.csv');
    const first = success(PLAIN.rows.slice(0, 2), { warnings: [warning] }, { date: 'Mon, 02 Mar 2026 11:00:00 GMT' });
    const instead = (number: number) => (number === 1 ? first : cut());
    await expect(exportOf(path, PLAIN, { pageSize: 2, instead })).rejects.toThrow();
    const clock = { now: () => Date.UTC(2026, 2, 3), sleep: () => Promise.resolve() };
    const { receipt, readFrom } = await exportOf(path, PLAIN, { pageSize: 2, resume: true, clock });
    expect(receipt).toMatchObject({ warnings: [warning], resumed: 1, startedAt: '2026-03-02T12:00:00.000Z' });
    expect(new Date(readFrom).toISOString()).toBe('2026-03-02T11:00:00.000Z');
  });

  it('tells of the records written, not of those left out', async () => {
    const path = join(await emptyFolder(), 'out.csv');
    const more = { isNew: ({ id }: { readonly id?: unknown }) => id === 3 || id === 5 };
    const { receipt } = await exportOf(path, PLAIN, { pageSize: 2, more });
    expect(receipt).toMatchObject({ rows: 2, firstId: 3, lastId: 5 });
  });

  it('of changes says so; of none there is neither file nor receipt', async () => {
    const folder = await emptyFolder();
    const changes = { pageSize: 2, receipt: true, more: { kind: 'changes', isNew: () => true } } as const;
    expect((await exportOf(join(folder, 'a.csv'), PLAIN, changes)).receipt).toMatchObject({ kind: 'changes', rows: 5 });
    const none = { ...changes, more: { ...changes.more, isNew: () => false } };
    expect((await exportOf(join(folder, 'b.csv'), PLAIN, none)).receipt).toMatchObject({ kind: 'changes', rows: 0 });
    expect((await readdir(folder)).toSorted()).toEqual(['a.csv', 'a.csv.receipt.json']);
  });

  it('of an older file is gone after an export without one; another file of that name is not', async () => {
    const folder = await emptyFolder();
    const path = join(folder, 'out.csv');
    await exportOf(path, PLAIN, { pageSize: 2, receipt: true });
    await exportOf(path, PLAIN, { pageSize: 2 });
    expect(await readdir(folder)).toEqual(['out.csv']);
    await writeFile(`${path}.receipt.json`, '{"mine":true}');
    await exportOf(path, PLAIN, { pageSize: 2 });
    expect(await readFile(`${path}.receipt.json`, 'utf8')).toBe('{"mine":true}');
  });

  it('that cannot be written fails the run, whose file is there and needs no --resume', async () => {
    const folder = await emptyFolder();
    const path = join(folder, 'out.csv');
    await mkdir(`${path}.receipt.json`);
    const failure = await exportOf(path, PLAIN, { pageSize: 2, receipt: true }).catch((cause: unknown) => cause);
    expect(failure).toMatchObject({ exitCode: 9, hint: expect.not.stringContaining('--resume') });
    expect(await readFile(path, 'utf8')).toBe(bytesOf(PLAIN));
    expect((await readdir(folder)).toSorted()).toEqual(['out.csv', 'out.csv.receipt.json']);
  });
});

const ODD: Wanted = { ...PLAIN, rows: [1, 2, 3].map((id) => ({ id, lastName: 'x' })) };

async function exported(wanted: Wanted): Promise<string> {
  const path = join(await emptyFolder(), 'out');
  await exportOf(path, wanted, { pageSize: 2, receipt: true });
  return path;
}

describe('verifyExport', () => {
  it.each<[string, Partial<Wanted>]>([
    ['csv', {}],
    ['csv without header', { header: false }],
    ['csv for Excel', { excel: true }],
    ['ndjson', { format: 'ndjson' }],
    ['json', { format: 'json' }],
    ['tsv', { format: 'tsv' }],
    ['tsv without header', { format: 'tsv', header: false }],
    ['tsv of no records', { rows: [], format: 'tsv' }],
    ['csv of no records', { rows: [] }],
    ['json of no records', { rows: [], format: 'json' }],
  ])('finds nothing wrong with %s as it was exported', async (_name, own) => {
    const { problems, receipt } = await verifyExport(await exported({ ...ODD, ...own }));
    expect(problems).toEqual([]);
    expect(receipt.rows).toBe((own.rows ?? ODD.rows).length);
  });

  it.each<[string, (path: string) => Promise<unknown>, readonly RegExp[]]>([
    [
      'one byte changed',
      async (path) => writeFile(path, (await readFile(path, 'utf8')).replace('2,x', '2,y')),
      [/sha256/],
    ],
    [
      'the end cut off',
      (path) => truncate(path, 16),
      [/it has 16 bytes, and 24 were/, /it has 1 record, and 3 were/, /sha256/],
    ],
    [
      'a row removed',
      async (path) => writeFile(path, (await readFile(path, 'utf8')).replace('2,x\n', '')),
      [/20 bytes/, /2 records/, /sha256/],
    ],
    ['a row added', (path) => appendFile(path, '4,x\n'), [/28 bytes/, /4 records/, /sha256/]],
  ])('finds %s', async (_name, spoil, expected) => {
    const path = await exported(ODD);
    await spoil(path);
    const { problems } = await verifyExport(path);
    expect(problems).toHaveLength(expected.length);
    for (const [at, pattern] of expected.entries()) expect(problems[at]).toMatch(pattern);
  });

  it.each<[string, (path: string) => Promise<unknown>, RegExp]>([
    ['no receipt', (path) => rename(`${path}.receipt.json`, `${path}.x`), /has no receipt: there is no /],
    ['a receipt that is cut off', (path) => truncate(`${path}.receipt.json`, 9), /is not a receipt of molar/],
    ['no file', (path) => rename(path, `${path}.x`), /^Cannot read .*: no such file/],
  ])('cannot check a file with %s: exit 9', async (_name, spoil, message) => {
    const path = await exported(ODD);
    await spoil(path);
    await expect(verifyExport(path)).rejects.toMatchObject({ exitCode: 9, message: expect.stringMatching(message) });
  });
});

describe('what is no receipt', () => {
  it.each<[string, unknown]>([
    ['complete', false],
    ['complete', undefined],
    ...['rows', 'bytes', 'pages'].flatMap((name): [string, unknown][] => [
      [name, '5'],
      [name, 0.5],
    ]),
    ...['sha256', 'format', 'file'].map((name): [string, unknown] => [name, undefined]),
  ])('is told by %s that is %j', async (name, value) => {
    const path = await exported(ODD);
    const receipt = JSON.parse(await readFile(`${path}.receipt.json`, 'utf8'));
    await writeFile(`${path}.receipt.json`, JSON.stringify({ ...receipt, [name]: value }));
    await expect(verifyExport(path)).rejects.toMatchObject({
      exitCode: 9,
      message: expect.stringContaining('is not a receipt of molar'),
    });
  });
});

it.each(['xlsx', 'of a later molar'])(
  'records of a format %j are not counted; its bytes are compared',
  async (format) => {
    const path = await exported(ODD);
    const receipt = JSON.parse(await readFile(`${path}.receipt.json`, 'utf8'));
    await writeFile(`${path}.receipt.json`, JSON.stringify({ ...receipt, format, rows: 1000 }));
    expect((await verifyExport(path)).problems).toEqual([]);
    await appendFile(path, '4,x\n');
    expect((await verifyExport(path)).problems).toHaveLength(2);
  },
);

it('verifying ends with the interruption, not as a failure of the file', async () => {
  const path = await exported(ODD);
  const reason = localFailure('run.interrupted', 'Interrupted.');
  await expect(verifyExport(path, AbortSignal.abort(reason))).rejects.toBe(reason);
  const { problems } = await verifyExport(path, new AbortController().signal);
  expect(problems).toEqual([]);
});

it.each([
  [null, null],
  ['0', 0],
  ['9007199254740991', 9_007_199_254_740_991],
  ['9007199254740992', '9007199254740992'],
  ['9'.repeat(31), '9'.repeat(31)],
])('the id %j is %j in a receipt', (id, expected) => expect(exactId(id)).toBe(expected));

describe('the counter of a format', () => {
  it.each<[string, Format, boolean, string, number | undefined]>([
    ['line ends inside quotes', 'csv', true, 'a,b\n1,"x\n""y""\n"\n2,z\n', 2],
    ['CRLF', 'csv', true, 'a\r\n1\r\n2\r\n', 2],
    ['no header', 'csv', false, '1\n2\n', 2],
    ['objects of an array', 'json', true, '[\n{"a":"\\n{"},\n{"a":1}\n]\n', 2],
    ['objects of lines', 'ndjson', true, '{"a":1}\n{"a":2}\n{"a":3}\n', 3],
    ['lines of cells', 'tsv', true, 'a\tb\n1\t"x\\n\n2\tz\n', 2],
    ['lines without a header, one of an empty cell', 'tsv', false, '1\n\n2\n', 3],
    ['a spreadsheet', 'xlsx', true, 'PK', undefined],
  ])('%s', async (_name, format, header, text, total) => {
    const counter = await FORMATS[format].counter?.({ header });
    for (const byte of Buffer.from(text)) counter?.take(Uint8Array.of(byte));
    expect(counter?.total()).toBe(total);
  });
});
