import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type SpooledSource, spool } from '../../../../src/core/documents/content/spool.ts';
import {
  journalKeyOf,
  keyOf,
  planUploads,
  type ReadyUpload,
  readyUploads,
  type UploadTarget,
} from '../../../../src/core/documents/uploads/plan.ts';
import type { UploadRow } from '../../../../src/core/documents/uploads/uploadrow.ts';
import { usageFailure } from '../../../../src/core/failure.ts';
import { bytes, sha256 } from '../fakeserver.ts';
import { SAMPLES } from '../samples.ts';
import { ready } from './uploading.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'molar-test-'));
});
afterEach(() => rm(folder, { recursive: true }));

const row = (file: string, more: Partial<UploadRow> = {}): UploadRow => ({ file, tags: [], ...more });
const none = () => Promise.reject(new Error('stdin was read'));

async function plan(rows: readonly UploadRow[], stdin: Parameters<typeof planUploads>[1]['stdin'] = none) {
  const planned = await planUploads(rows, { organization: 'org-1', folder, stdin, maxContent: 100 });
  return planned.map((entry) => {
    if (entry.kind === 'refused') return [entry.failure.exitCode, entry.failure.message];
    return entry.kind === 'ready' ? entry.upload.storedName : entry.kind;
  });
}

describe('the checks before an upload', () => {
  it('let good files be ready whatever the bad ones are', async () => {
    await writeFile(join(folder, 'a.pdf'), SAMPLES.PDF);
    await writeFile(join(folder, 'empty.pdf'), '');
    await writeFile(join(folder, 'large.pdf'), Buffer.concat([SAMPLES.PDF, Buffer.alloc(100)]));
    await writeFile(join(folder, 'notes.txt'), 'text');
    await mkdir(join(folder, 'folder'));
    const rows = ['missing.pdf', 'empty.pdf', 'large.pdf', 'notes.txt', 'folder', 'a.pdf', '\0'].map((file) =>
      row(file),
    );
    expect(
      await plan([
        ...rows,
        row('a.pdf', { tags: ['x'.repeat(51)] }),
        row('b.pdf', { earlier: { status: 'done', id: '7', attempts: 1 } }),
      ]),
    ).toEqual([
      [9, 'Cannot read missing.pdf: no such file or folder.'],
      [2, 'empty.pdf is empty.'],
      [2, 'large.pdf: a document may have at most 100 bytes, it has 120 bytes.'],
      [2, expect.stringContaining('notes.txt: neither its content nor its extension shows a supported type.')],
      [9, 'folder is a folder, not a file; give folders on the command line.'],
      'a.pdf',
      [9, expect.stringContaining('Cannot read')],
      [2, 'a.pdf: tags[0] must have 1 to 50 characters, it has 51.'],
      'done',
    ]);
  });

  it('refuse a row that repeats one done in an earlier run, as long as its file is there', async () => {
    await mkdir(join(folder, 'b'));
    for (const name of ['a.pdf', 'b/a.pdf', 'c.pdf']) await writeFile(join(folder, name), SAMPLES.PDF);
    await writeFile(join(folder, 'd.pdf'), Buffer.concat([SAMPLES.PDF, Buffer.alloc(1)]));
    const done = { earlier: { status: 'done', id: '7', attempts: 1 } } as const;
    const repeats = (file: string, other: string) => [
      2,
      `${file}: same content, owner and name as ${other}; it is uploaded once.`,
    ];
    expect(
      await plan([
        row('a.pdf', done),
        row('a.pdf'),
        row('b/a.pdf', { tags: ['c'] }),
        row('a.pdf', { patient: '5' }),
        row('c.pdf', { name: 'A.PDF' }),
        row('d.pdf', { name: 'a' }),
        row('gone.pdf', { name: 'x', ...done }),
        row('c.pdf', { name: 'x' }),
      ]),
    ).toEqual([
      'done',
      repeats('a.pdf', 'a.pdf'),
      repeats('b/a.pdf', 'a.pdf'),
      'a.pdf',
      repeats('c.pdf', 'a.pdf'),
      'a.pdf',
      'done',
      'x.pdf',
    ]);
  });

  it('refuse a row that repeats another, and only that', async () => {
    await mkdir(join(folder, 'b'));
    for (const name of ['a.pdf', 'b/a.pdf', 'c.pdf']) await writeFile(join(folder, name), SAMPLES.PDF);
    const location = { location: 'scans.csv line 2' };
    expect(
      await plan([
        row('a.pdf', location),
        row('b/a.pdf'),
        row('a.pdf', { patient: '5' }),
        row('c.pdf'),
        row('c.pdf', { name: 'A' }),
        row('c.pdf', { name: 'c.PDF' }),
      ]),
    ).toEqual([
      'a.pdf',
      [2, 'b/a.pdf: same content, owner and name as a.pdf (scans.csv line 2); it is uploaded once.'],
      'a.pdf',
      'c.pdf',
      [2, 'c.pdf: same content, owner and name as a.pdf (scans.csv line 2); it is uploaded once.'],
      [2, 'c.pdf: same content, owner and name as c.pdf; it is uploaded once.'],
    ]);
  });

  it('take stdin once, and only with a name', async () => {
    const read: SpooledSource[] = [];
    const stdin = async () => {
      const spooled = await spool(bytes(SAMPLES.PNG), { label: '-', folder, limit: 1000 });
      read.push(spooled);
      return spooled;
    };
    expect(await plan([row('-')], none)).toEqual([[2, 'Content from stdin (-) needs a name: give --name.']]);
    expect(await plan([row('-', { name: 'a' }), row('-', { name: 'b' })], stdin)).toEqual([
      'a.png',
      [2, 'stdin (-) can be uploaded only once.'],
    ]);
    expect(read).toHaveLength(1);
    await read[0]?.dispose();
  });

  it('say what was declared in a manifest by its column', async () => {
    await writeFile(join(folder, 'a'), SAMPLES.PDF);
    expect(await plan([row('a', { mimeType: 'png', location: 'm.csv line 2' })])).toEqual([
      [2, 'a: its content is PDF but its mimeType says PNG. Correct its mimeType.'],
    ]);
  });

  it('name what they refuse', async () => {
    await writeFile(join(folder, 'empty.pdf'), '');
    await writeFile(join(folder, 'a.pdf'), SAMPLES.PDF);
    const rows = [row('-'), row('empty.pdf'), row('b.pdf', { problem: 'it is too deep.' }), row('a.pdf'), row('a.pdf')];
    const planned = await planUploads(rows, { organization: 'org-1', folder, stdin: none });
    const refused = planned.flatMap((entry) => (entry.kind === 'refused' ? [entry.failure] : []));
    expect(refused.map(({ items: [item] }) => item?.source)).toEqual(['name', 'empty.pdf', 'b.pdf', undefined]);
    expect(refused.at(-1)?.hint).toBe('Remove it, or give it another name.');
  });

  it('do not read stdin again for a row that was done, whatever has the same name', async () => {
    await writeFile(join(folder, 'a.png'), SAMPLES.PNG);
    let reads = 0;
    const done = row('-', { name: 'a', earlier: { status: 'done', id: '7', attempts: 1 } });
    expect(
      await plan([row('a.png'), done], () => {
        reads++;
        return none();
      }),
    ).toEqual(['a.png', 'done']);
    expect(reads).toBe(0);
  });

  it('take the first of several stdin, wherever it stands', async () => {
    await writeFile(join(folder, 'a.pdf'), SAMPLES.PDF);
    const spooled = await spool(bytes(SAMPLES.PNG), { label: '-', folder, limit: 1000 });
    const rows = [row('a.pdf'), row('-', { name: 'x' }), row('-', { name: 'y' }), row('a.pdf', { name: 'z' })];
    expect(await plan(rows, async () => spooled)).toEqual([
      'a.pdf',
      'x.png',
      [2, 'stdin (-) can be uploaded only once.'],
      'z.pdf',
    ]);
    await spooled.dispose();
  });

  it('do not read what is done, refused or for review already', async () => {
    const unread = usageFailure('It cannot be listed.');
    const review = { reason: 'No patient.', candidates: [] };
    expect(
      await plan([
        row('missing.pdf', { earlier: { status: 'done', attempts: 1 }, problem: 'p', review, unread }),
        row('missing.pdf', { problem: 'it is too deep.', review, unread }),
        row('missing.pdf', { problem: 'it is too deep.', review }),
        row('missing.pdf', { problem: 'it is too deep.' }),
        row('-', { problem: 'it is too deep.' }),
      ]),
    ).toEqual([
      'done',
      [2, 'It cannot be listed.'],
      [6, 'missing.pdf: No patient.'],
      [2, 'missing.pdf: it is too deep.'],
      [2, '-: it is too deep.'],
    ]);
  });

  it('take a file of the very size that a document may have', async () => {
    await writeFile(join(folder, 'a.pdf'), Buffer.concat([SAMPLES.PDF, Buffer.alloc(80)]));
    await writeFile(join(folder, 'b.pdf'), Buffer.concat([SAMPLES.PDF, Buffer.alloc(81)]));
    expect(await plan([row('a.pdf'), row('b.pdf')])).toEqual([
      'a.pdf',
      [2, 'b.pdf: a document may have at most 100 bytes, it has 101 bytes.'],
    ]);
  });

  it('end where they are interrupted, or something breaks', async () => {
    await writeFile(join(folder, 'a.pdf'), SAMPLES.PDF);
    const options = { organization: 'org-1', folder, stdin: none };
    const signal = AbortSignal.abort(new Error('interrupted'));
    await expect(planUploads([row('a.pdf')], { ...options, signal })).rejects.toThrow('interrupted');
    await expect(planUploads([row('-', { name: 'a' })], options)).rejects.toThrow('stdin was read');
  });

  it('name the kind of a file as it was declared', async () => {
    await writeFile(join(folder, 'a.pdf'), SAMPLES.PDF);
    await writeFile(join(folder, 'notes'), 'text');
    expect(await plan([row('a.pdf', { mimeType: 'png' })])).toEqual([
      [2, expect.stringContaining('--mime-type says PNG')],
    ]);
    const [planned] = await planUploads([row('notes', { mimeType: 'doc' })], {
      ...{ organization: 'org-1', folder, stdin: none },
    });
    expect(planned).toMatchObject({ kind: 'ready', upload: { storedName: 'notes.doc', note: expect.any(String) } });
    const [plain] = await planUploads([row('a.pdf')], { organization: 'org-1', folder, stdin: none });
    expect(plain).toMatchObject({ kind: 'ready' });
    expect(plain?.kind === 'ready' && plain.upload).not.toHaveProperty('note');
  });

  it('hash the content', async () => {
    await writeFile(join(folder, 'a.pdf'), SAMPLES.PDF);
    const [planned] = await planUploads([row('a.pdf')], { organization: 'org-1', folder, stdin: none });
    expect(planned).toMatchObject({
      kind: 'ready',
      upload: { sha256: sha256(SAMPLES.PDF), source: { size: SAMPLES.PDF.length } },
    });
  });
});

describe('the files of a plan that are ready', () => {
  it('are in its order', () => {
    const [first, second] = [ready('a.pdf', 'one'), ready('b.pdf', 'two')];
    const failure = usageFailure('It is empty.');
    const plan = [first, { kind: 'refused', row: row('c.pdf'), failure } as const, second];
    expect(readyUploads(plan)).toEqual([first.upload, second.upload]);
  });
});

describe('the keys of an upload', () => {
  const { upload } = ready('a.pdf', 'one');
  const target = { baseUrl: 'https://a.example.com', organization: 'org-1' };

  it.each<[string, Partial<ReadyUpload>, Partial<UploadTarget>]>([
    ['owner', { owner: { field: 'ownerPatient', id: '6' } }, {}],
    ['kind of owner', { owner: { field: 'ownerPerioExam', id: '5' } }, {}],
    ['name', { storedName: 'b.pdf' }, {}],
    ['content', { sha256: '0'.repeat(64) }, {}],
    ['server', {}, { baseUrl: 'https://b.example.com' }],
    ['organization', {}, { organization: 'org-2' }],
  ])('differ with the %s', (_name, changed, elsewhere) => {
    const [other, there] = [
      { ...upload, ...changed },
      { ...target, ...elsewhere },
    ];
    expect(keyOf(other, there, 0)).not.toBe(keyOf(upload, target, 0));
    expect(journalKeyOf(other, there)).not.toBe(journalKeyOf(upload, target));
  });

  it('are the same for the same, whatever its tags and its row', () => {
    const same = { ...upload, fields: { ...upload.fields, tags: ['x'] }, row: { ...upload.row, location: 'line 2' } };
    expect(keyOf(same, { ...target }, 0)).toBe(keyOf(upload, target, 0));
    expect(journalKeyOf(same, { ...target })).toBe(journalKeyOf(upload, target));
    // Keys outlive a version. printf '["https://a.example.com",…,"SHA-256 of one",0]' | sha256sum, and with "journal" for 0.
    expect(keyOf(upload, target, 0)).toBe('molar-663d9adc23363d0e4c43b4de723d97ba9f92f4f838c22c5b02e6481b51147573');
    expect(journalKeyOf(upload, target)).toBe('d81b513bc27ae9f7c79ab5974df1c2c85289cdcf676a1a6a6eef4f9282d3cee2');
  });

  it('differ with each document that was deleted, and in the journal', () => {
    const keys = [0, 1, 2].map((generation) => keyOf(upload, target, generation));
    expect(new Set([...keys, `molar-${journalKeyOf(upload, target)}`]).size).toBe(4);
  });
});
