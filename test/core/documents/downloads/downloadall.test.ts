import { readdir, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { downloadAll } from '../../../../src/core/documents/downloads/downloadall.ts';
import { JOURNAL } from '../../../../src/core/documents/downloads/downloadjournal.ts';
import { DownloadTally } from '../../../../src/core/documents/downloads/downloadoutcome.ts';
import { Failure } from '../../../../src/core/failure.ts';
import { ConnectionFailure, type OutgoingRequest } from '../../../../src/core/transport/send.ts';
import { need, OWNER_ONLY } from '../../../support/capabilities.ts';
import { downloadPlace, each, OWNER } from './downloading.ts';
import { cut, fileAnswer, sha256, status } from './downloadserver.ts';

const place = downloadPlace();
const { lines, files, read } = place;
const download = (...args: Parameters<typeof place.download>) => place.download(...args);

describe('downloading documents', () => {
  it('writes each to its name, for its owner only, and says what came', async () => {
    place.server.add(5, 'scan.pdf', 'one');
    place.server.add(6, 'Photo (1).jpeg', '');
    const results = [];
    const target = { folder: place.folder, dir: 'new/folder', overwrite: false };
    for await (const result of downloadAll(each([6, 5]), target, place.server.downloading(), 2)) results.push(result);
    expect(results).toEqual([
      {
        id: 6,
        file: {
          id: 6,
          name: 'Photo (1).jpeg',
          file: join('new/folder/Photo (1).jpeg'),
          bytes: 0,
          sha256: sha256(''),
          status: 'downloaded',
        },
      },
      {
        id: 5,
        file: {
          id: 5,
          name: 'scan.pdf',
          file: join('new/folder/scan.pdf'),
          bytes: 3,
          sha256: sha256('one'),
          status: 'downloaded',
        },
      },
    ]);
    expect(await read('new/folder/scan.pdf')).toBe('one');
    expect((await stat(join(place.folder, 'new/folder/scan.pdf'))).mode & 0o777).toBe(OWNER_ONLY.file);
    expect((await stat(join(place.folder, 'new'))).mode & 0o777).toBe(OWNER_ONLY.folder);
    expect(await readdir(join(place.folder, 'new/folder'))).toHaveLength(2);
  });

  it('gives documents of the same name their ids, in the order asked for and whatever the letter case', async () => {
    const ids = [5, 6, 7, 8];
    for (const id of ids) place.server.add(id, id === 6 ? 'SCAN.pdf' : 'scan.pdf', String(id));
    // The first answer comes last, and one of a document that is missing does not let later ones go first.
    const { send } = place.server;
    let open = () => {};
    const others = new Promise<void>((resolve) => {
      open = resolve;
    });
    const late = async (request: OutgoingRequest) => {
      if (request.url.endsWith('/documents/5')) await others;
      const answer = await send(request);
      if (request.url.endsWith('/documents/7')) setImmediate(open);
      return answer;
    };
    expect(await lines([5, 404, 6, 7, 8], {}, Object.assign(place.server, { send: late }).downloading(), 4)).toEqual([
      '5 downloaded scan.pdf',
      '404 4 Not found (HTTP 404): What is wrong.',
      '6 downloaded SCAN [6].pdf',
      '7 downloaded scan [7].pdf',
      '8 downloaded scan [8].pdf',
    ]);
    expect(await read('scan [7].pdf')).toBe('7');
  });

  it.each([
    ['../../escape.pdf', '___.._escape.pdf'],
    ['/etc/passwd', '_etc_passwd'],
    ['..\\..\\x.pdf', '___.._x.pdf'],
    ['CON.pdf', '_CON.pdf'],
    ['scan.pdf.part', 'scan.pdf.part_'],
    ['scan.pdf.part.json', 'scan.pdf.part.json_'],
    [JOURNAL, '_molar-downloads.ndjson'],
    ['a\u202efdp.exe', 'a_fdp.exe'],
    ['', 'document-5'],
  ])('stays in the folder with %j', async (name, expected) => {
    place.server.add(5, name, 'x');
    expect(await lines([5], { dir: 'in', journal: OWNER })).toEqual([`5 downloaded ${join('in', expected)}`]);
    expect((await readdir(join(place.folder, 'in'))).sort()).toEqual([JOURNAL, expected].sort());
    expect(await readdir(place.folder)).toEqual(['in']);
  });

  it('takes what a list says, and asks for the document only where that has no link', async () => {
    const [one, two] = [place.server.add(5, 'one.pdf', '1'), place.server.add(6, 'two.pdf', '2')];
    const { storage: _, ...bare } = place.server.row(two);
    expect(await lines([place.server.row(one), bare])).toEqual(['5 downloaded one.pdf', '6 downloaded two.pdf']);
    expect(place.server.requests.filter(({ url }) => url.includes('/api/')).map(({ url }) => url.slice(-2))).toEqual([
      '/6',
    ]);
  });

  it('marks what is not the original, and tells a missing one from a failure', async () => {
    const held = place.server.add(5, 'scan.jpeg', 'x');
    expect(await lines([5], {}, { variant: 'thumbnail' })).toEqual([
      '5 4 Document 5 has no thumbnail, only: original.',
    ]);
    const { lines: absent, tally } = await download([place.server.row(held)], {}, { variant: 'thumbnail' });
    expect([absent, tally.absent, tally.failure()]).toEqual([['5 absent'], 1, undefined]);
    place.server.variants = ['original', 'thumbnail'];
    expect(await lines([5], {}, { variant: 'thumbnail' })).toEqual(['5 downloaded scan (thumbnail).jpeg']);
  });

  it('writes one where it is told to, through a link that was named for it', async (context) => {
    place.server.add(5, 'scan.pdf', 'x');
    expect(await lines([5], { out: 'mine' })).toEqual(['5 downloaded mine']);
    await rm(join(place.folder, 'mine'));
    await writeFile(join(place.folder, 'target'), 'old');
    need(context, 'symlinks');
    await symlink(join(place.folder, 'target'), join(place.folder, 'mine'));
    expect(await lines([5], { out: 'mine' })).toEqual(['5 9 mine is a symbolic link.']);
    expect(await lines([5], { out: 'mine', overwrite: true })).toEqual(['5 downloaded mine']);
    expect([await read('target'), await files()]).toEqual(['x', ['mine', 'target']]);
  });

  it.each([
    [
      'http://elsewhere.example.com/files/1',
      'The download link points to http://elsewhere.example.com, which is neither the server itself nor https.',
    ],
    [
      'http://api.example.com/files/1',
      'The download link points to http://api.example.com, which is neither the server itself nor https.',
    ],
    ['file:///etc/passwd', 'The download link points to file://, which is neither the server itself nor https.'],
    [
      'https://user:secret@api.example.com/files/1',
      'The download link points to https://api.example.com, which is neither the server itself nor https.',
    ],
    [
      'https://:secret@api.example.com/files/1',
      'The download link points to https://api.example.com, which is neither the server itself nor https.',
    ],
    ['/files/1', 'The server sent no download link for this file.'],
  ])('does not follow %s', async (original, message) => {
    expect(await lines([{ id: 5, name: 'scan.pdf', storage: { original } }])).toEqual([`5 8 ${message}`]);
    expect(place.server.requests).toEqual([]);
  });
});

describe('a run over many', () => {
  it('keeps going when one is missing, and says so at the end', async () => {
    place.server.add(5, 'scan.pdf', 'x');
    const { tally } = await download([404, 5]);
    expect(tally.failure()).toMatchObject({
      exitCode: 6,
      code: 'run.partial',
      message: '1 of 2 documents not downloaded.',
      items: [{ source: '404', description: 'Not found (HTTP 404): What is wrong.' }],
    });
    expect((await download([404, 405])).tally.failure()).toMatchObject({ exitCode: 4, code: 'some.code' });
    expect((await download([404])).tally.failure()).toMatchObject({ message: 'Not found (HTTP 404): What is wrong.' });
    expect((await download([])).tally.failure()).toBeUndefined();
  });

  it('stops asking when nothing answers any more, and says what was not tried', async () => {
    const gone = async () => {
      throw new ConnectionFailure('Nothing answers at api.example.com.', { sent: false });
    };
    const client = Object.assign(place.server, { send: gone }).downloading();
    const ids = Array.from({ length: 9 }, (_, index) => index + 1);
    const { lines: told, tally } = await download(ids, {}, client);
    expect(told.slice(0, 3)).toEqual(ids.slice(0, 3).map((id) => `${id} 8 Nothing answers at api.example.com.`));
    expect(told.slice(-3)).toEqual(ids.slice(-3).map((id) => `${id} 8 Not tried: Nothing answers at api.example.com.`));
    expect(tally.failure()).toMatchObject({ exitCode: 8, message: '9 of 9 documents not downloaded.' });
  });

  it('gives what it has when the list breaks off, and ends with that failure', async () => {
    const one = place.server.add(5, 'one.pdf', '1');
    const broken = async function* () {
      yield place.server.row(one);
      throw new Failure('The page was lost.', { code: 'network.unreachable', exitCode: 8 });
    };
    const seen: number[] = [];
    const run = async () => {
      const target = { folder: place.folder, overwrite: false };
      for await (const result of downloadAll(broken(), target, place.server.downloading(), 2)) seen.push(result.id);
    };
    await expect(run()).rejects.toMatchObject({ message: 'The page was lost.' });
    expect(seen).toEqual([5]);
    const tally = new DownloadTally();
    tally.done = 1;
    const lost = new Failure('The page was lost.', { code: 'network.unreachable', exitCode: 8 });
    expect(tally.failure(lost)).toMatchObject({
      exitCode: 8,
      code: 'network.unreachable',
      message: 'Stopped after 1 document, there may be more: The page was lost.',
    });
  });

  it('ends at once when it is interrupted, and keeps what came', async () => {
    place.server.add(5, 'scan.pdf', 'the content');
    place.server.add(6, 'other.pdf', 'x');
    const controller = new AbortController();
    const reason = new Error('interrupted');
    place.server.specials = [
      (held, request) => {
        controller.abort(reason);
        return cut(fileAnswer(held, request, place.server.extra(held)), 4);
      },
    ];
    const fetching = place.server.fetching({ signal: controller.signal });
    // One after the other: which of two comes first to the server is not told.
    await expect(download([5, 6], { journal: OWNER }, { fetching }, 1)).rejects.toBe(reason);
    expect(await files()).toEqual(['scan.pdf.part', 'scan.pdf.part.json']);
    expect(await lines([5, 6], { journal: OWNER })).toEqual(['5 downloaded scan.pdf', '6 downloaded other.pdf']);
    expect(place.server.ranges).toContain('bytes=4-');
  });
});

it('tells a link that is not valid from a token that is not: the run goes on', async () => {
  for (const id of [5, 6]) place.server.add(id, `${id}.pdf`, 'x');
  place.server.specials = [() => status(403), () => status(403)];
  const target = { folder: place.folder, overwrite: false };
  const codes = [];
  for await (const result of downloadAll(each([5, 6]), target, place.server.downloading(), 1))
    codes.push('failure' in result ? result.failure.exitCode : 0);
  expect(codes).toEqual([3, 0]);
});
