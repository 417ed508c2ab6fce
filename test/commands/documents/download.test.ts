import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import sharp from 'sharp';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import DocumentsDownload from '../../../src/commands/documents/download.ts';
import { ConnectionFailure, type Send } from '../../../src/core/transport/send.ts';
import { PATIENTS } from '../../support/ids.ts';
import { sharedService } from '../../support/service.ts';
import { type Ran, runCommand, sendTo } from './run.ts';

const service = sharedService();
const PDF = Buffer.from('%PDF-1.7\nsynthetic\u0000\u00ff\n', 'latin1');

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'molar-test-'));
});
afterEach(() => rm(folder, { recursive: true }));

let requests: string[] = [];
/** Stands between the command and the server. */
let between: (send: Send) => Send = (send) => send;
afterEach(() => {
  between = (send) => send;
});

function download(argv: readonly (string | number)[], isTTY = false, stdin = ''): Promise<Ran> {
  requests = [];
  const send = between(sendTo(() => service.app));
  return runCommand(DocumentsDownload, argv.map(String), {
    send: (request) => {
      requests.push(new URL(request.url).pathname);
      return send(request);
    },
    isTTY,
    stdin,
    env: { NO_COLOR: '1' },
  });
}

async function store(name: string, content = PDF, more: Readonly<Record<string, unknown>> = {}): Promise<number> {
  const body = {
    name,
    mimeType: 'PDF',
    ownerPatient: { id: PATIENTS.ann },
    file: { content: content.toString('base64') },
    ...more,
  };
  return ((await service.call('POST', '/documents', { body })).body.data as { id: number }).id;
}

describe('documents download', () => {
  it('writes files byte for byte and shows where they are', async () => {
    const [one, two] = [await store('one'), await store('two', Buffer.alloc(200_000, 7))];
    const several = await download([
      one,
      two,
      one,
      '--dir',
      join(folder, 'scans'),
      '--csv',
      '--fields',
      'id,name,bytes',
    ]);
    expect([several.exitCode, several.stderr]).toEqual([0, '']);
    expect(several.stdout.toString()).toBe(`id,name,bytes\n${one},one.pdf,${PDF.length}\n${two},two.pdf,200000\n`);
    expect(await readFile(join(folder, 'scans', 'one.pdf'))).toEqual(PDF);
    const single = await download([one, '--out', join(folder, 'mine'), '--json']);
    expect(JSON.parse(single.stdout.toString())).toMatchObject({
      id: one,
      file: join(folder, 'mine'),
      bytes: PDF.length,
    });
    expect(await readFile(join(folder, 'mine'))).toEqual(PDF);
  });

  it('prints the bytes themselves with --out -', async () => {
    const ran = await download([await store('stream'), '--out', '-']);
    expect([ran.exitCode, ran.stdout, ran.stderr]).toEqual([0, PDF, '']);
  });

  it('keeps what exists unless told otherwise', async () => {
    const id = await store('kept');
    await writeFile(join(folder, 'mine'), 'mine');
    const kept = await download([id, '--out', join(folder, 'mine')]);
    expect([kept.exitCode, kept.stdout.toString()]).toEqual([9, '']);
    expect(kept.stderr).toContain('exists already.');
    expect(await readFile(join(folder, 'mine'), 'utf8')).toBe('mine');
    expect((await download([id, '--out', join(folder, 'mine'), '--overwrite'])).exitCode).toBe(0);
    expect(await readFile(join(folder, 'mine'))).toEqual(PDF);
  });

  it.each<[string, readonly string[], number, string]>([
    ['nothing chosen', [], 2, 'Nothing is chosen: give ids, a filter such as --patient ID, or --all'],
    ['ids and a filter', ['ID', '--patient', '5'], 2, 'Give only one of: ids, a filter'],
    ['a filter that is none', ['--filter', 'name==x'], 2, 'name'],
    ['a file for a filter', ['--all', '--out', 'F'], 2, '--out takes one document; use --dir for several.'],
    ['nothing on standard input', ['-', '--dir', 'F'], 2, 'There are no ids on standard input.'],
    ['two readers of standard input', ['-', '--token-stdin'], 2, 'both read standard input'],
    ['an id that is none', ['abc'], 2, 'ID must be a positive integer; "abc" is none.'],
    ['a file for two', ['ID', '2', '--out', 'F'], 2, '--out takes one document; use --dir for several.'],
    ['a file and a folder', ['ID', '--out', 'F', '--dir', 'F'], 2, 'Give --out or --dir, not both.'],
    ['bytes in another format', ['ID', '--out', '-', '--csv'], 2, '--out - prints the file itself'],
    ['two variants', ['ID', '--thumbnail', '--variant', 'cropped'], 2, 'contradict each other'],
    ['a document that is not there', ['2'], 4, 'There is no document 2'],
    ['documents that are not there', ['2', '3'], 4, '2 of 2 documents not downloaded.'],
    ['one of two that is not there', ['ID', '2', '--dir', 'F'], 6, '1 of 2 documents not downloaded.'],
    ['a thumbnail of a PDF', ['ID', '--thumbnail', '--out', 'F'], 4, 'has no thumbnail, only: original.'],
  ])('%s: exit code', async (_, argv, exitCode, message) => {
    const words: Record<string, string> = { ID: String(await store('table')), F: join(folder, 'F') };
    const ran = await download(argv.map((word) => words[word] ?? word));
    expect(ran.exitCode).toBe(exitCode);
    expect(ran.stderr).toContain(message);
    if (exitCode !== 6) expect([ran.stdout.toString(), await readdir(folder)]).toEqual(['', []]);
  });

  it('leaves nothing behind where nothing came', async () => {
    const into = join(folder, 'in');
    expect((await download(['2', '3', '--dir', into])).exitCode).toBe(4);
    expect(await readdir(into)).toEqual([]);
  });

  it('takes those of a filter, and skips them in the next run without asking for them', async () => {
    const mine = { ownerPatient: { id: PATIENTS.bob }, tags: ['Batch'] };
    const ids = [];
    for (const name of ['a', 'b', 'c']) ids.push(await store(name, Buffer.from(`%PDF-1.7 ${name}`), mine));
    const line = [
      '--patient',
      PATIENTS.bob,
      '--tag',
      'Batch',
      '--dir',
      join(folder, 'in'),
      '--csv',
      '--fields',
      'id,status',
    ];
    const first = await download(line);
    expect([first.exitCode, first.stderr]).toEqual([0, '']);
    expect(first.stdout.toString()).toBe(`id,status\n${ids.map((id) => `${id},downloaded\n`).join('')}`);
    expect((await readdir(join(folder, 'in'))).filter((name) => !name.startsWith('.'))).toEqual([
      'a.pdf',
      'b.pdf',
      'c.pdf',
    ]);
    await rm(join(folder, 'in', 'b.pdf'));
    const again = await download([...line, '--concurrency', '1']);
    expect(again.stdout.toString()).toBe(`id,status\n${ids[0]},skipped\n${ids[1]},downloaded\n${ids[2]},skipped\n`);
    expect(requests.filter((path) => path.startsWith('/files/'))).toHaveLength(1);
    expect((await download([...line, '--json'])).exitCode).toBe(2);
  });

  it('asks for links again that expire while it works', async () => {
    const tags = ['Slow'];
    for (const name of ['slow one', 'slow two']) await store(name, PDF, { tags });
    let late = 1;
    between = (send) => (request) => {
      if (request.url.includes('/files/') && late-- > 0) service.clock.advance(16 * 60_000);
      return send(request);
    };
    const ran = await download([
      '--tag',
      'slow',
      '--dir',
      join(folder, 'in'),
      '--concurrency',
      '1',
      '--csv',
      '--fields',
      'name',
    ]);
    expect([ran.exitCode, ran.stdout.toString(), ran.stderr]).toEqual([0, 'name\nslow one.pdf\nslow two.pdf\n', '']);
    expect(requests.filter((path) => /documents\/\d+$/.test(path))).toHaveLength(2);
  });

  it('goes on behind what came when the line is cut', async () => {
    const content = Buffer.from(Array.from({ length: 100_000 }, (_, index) => (index * 31) % 253));
    const id = await store('cut', content);
    const ranges: (string | undefined)[] = [];
    between = (send) => async (request) => {
      const answer = await send(request);
      if (!request.url.includes('/files/')) return answer;
      ranges.push(request.headers.range);
      return ranges.length > 3 ? answer : { ...answer, body: firstOf(answer.body, 20_000) };
    };
    expect((await download([id, '--out', join(folder, 'F')])).exitCode).toBe(0);
    expect(ranges).toEqual([undefined, 'bytes=20000-', 'bytes=40000-', 'bytes=60000-']);
    expect(await readFile(join(folder, 'F'))).toEqual(content);
  });

  it('fails when the list breaks off, with what came until then', async () => {
    const tags = ['Endless'];
    const id = await store('before the cut', PDF, { tags });
    const line = ['--tag', 'endless', '--dir', join(folder, 'in'), '--csv', '--fields', 'id,status'];
    between = (send) => (request) => {
      const isNextPage = request.url.includes(`lastId=${id}`);
      return isNextPage ? Promise.reject(new ConnectionFailure('The line is dead.', { sent: true })) : send(request);
    };
    const cut = await download(line);
    expect([cut.exitCode, cut.stdout.toString()]).toEqual([8, `id,status\n${id},downloaded\n`]);
    expect(cut.stderr).toContain('Stopped after 1 document, there may be more: ');
    between = (send) => send;
    const again = await download(line);
    expect([again.exitCode, again.stdout.toString()]).toEqual([0, `id,status\n${id},skipped\n`]);
  });

  it('takes ids from standard input, as a list prints them', async () => {
    const [one, two] = [await store('piped one'), await store('piped two')];
    const ran = await download(
      ['-', '--dir', join(folder, 'in'), '--csv', '--fields', 'id'],
      false,
      `id\n${one}\n${two}\n`,
    );
    expect(ran.stdout.toString()).toBe(`id\n${one}\n${two}\n`);
    expect((await download(['-', '--dir', folder], false, 'one\n')).exitCode).toBe(2);
  });

  it('takes the thumbnails of those that have one', async () => {
    const tags = ['Smiles'];
    const png = await sharp({ create: { width: 60, height: 40, channels: 3, background: '#456' } })
      .png()
      .toBuffer();
    const file = { content: png.toString('base64'), fromX: 0, fromY: 0, width: 50, height: 30, ratio: 1 };
    const id = await store('smile', png, { mimeType: 'PNG', tags, file });
    await store('letter', PDF, { tags });
    const ran = await download(['--tag', 'smiles', '--thumbnail', '--dir', join(folder, 'in'), '--json']);
    expect([ran.exitCode, ran.stderr]).toEqual([0, '1 document has no thumbnail.\n']);
    expect(JSON.parse(ran.stdout.toString())).toMatchObject([
      { id, file: join(folder, 'in', 'smile (thumbnail).png') },
    ]);
  });

  it('says on a terminal what came and what was there', async () => {
    const [one, two] = [await store('table one'), await store('table two')];
    const ran = await download([one, two, '--dir', join(folder, 'in'), '--fields', 'name,status'], true);
    expect(ran.stdout.toString()).toBe(
      'name           status\n─────────────  ──────────\ntable one.pdf  downloaded\ntable two.pdf  downloaded\n',
    );
    const none = await download(['--tag', 'no such tag', '--dir', join(folder, 'in')], true);
    expect([none.exitCode, none.stdout.toString().split('\n')[0], none.stderr]).toEqual([
      0,
      'id  file  bytes  status',
      'No documents match.\n',
    ]);
  });

  it('does not print bytes on a terminal', async () => {
    expect((await download([await store('tty'), '--out', '-'], true)).exitCode).toBe(2);
  });
});

/** The first bytes of a body, then a connection that is cut. */
async function* firstOf(body: AsyncIterable<Uint8Array>, bytes: number): AsyncGenerator<Uint8Array> {
  for await (const chunk of body) {
    yield chunk.subarray(0, bytes);
    throw new ConnectionFailure('The connection was cut.', { sent: true });
  }
}
