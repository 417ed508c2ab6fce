import { readFileSync } from 'node:fs';
import { appendFile, link, open, readdir, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { downloadAll } from '../../../../src/core/documents/downloads/downloadall.ts';
import { JOURNAL } from '../../../../src/core/documents/downloads/downloadjournal.ts';
import { system } from '../../../../src/filesystem/system.ts';
import { need, OWNER_ONLY } from '../../../support/capabilities.ts';
import { replaceSystem, systemError } from '../../../support/othersystem.ts';
import { downloadPlace, each, OWNER } from './downloading.ts';
import { fileAnswer } from './downloadserver.ts';

const place = downloadPlace();
const { lines, files, read } = place;

describe('the journal of a folder', () => {
  const journal = OWNER;

  it('lets another run skip what is there without asking for it', async () => {
    for (const id of [5, 6]) place.server.add(id, 'scan.pdf', String(id));
    await lines([5, 6], { journal });
    // As a run leaves it that is killed between the two names.
    await link(join(place.folder, 'scan.pdf'), join(place.folder, 'scan.pdf.part'));
    place.server.requests.length = 0;
    expect(await lines([5, 6], { journal })).toEqual(['5 skipped scan.pdf', '6 skipped scan [6].pdf']);
    expect(place.server.requests).toEqual([]);
    expect(await files()).toEqual(['scan [6].pdf', 'scan.pdf']);
  });

  it('knows in the same run what is there already, where a document is named twice', async () => {
    place.server.add(5, 'scan.pdf', 'x');
    expect(await lines([5, 5], { journal }, {}, 1)).toEqual(['5 downloaded scan.pdf', '5 skipped scan.pdf']);
    expect(await files()).toEqual(['scan.pdf']);
  });

  it('that cannot be written to fails the document, whose file is there', async () => {
    place.server.add(5, 'scan.pdf', 'x');
    const probe = await open(join(place.folder, 'probe'), 'w');
    await probe.close();
    await rm(join(place.folder, 'probe'));
    const append = vi.spyOn(Object.getPrototypeOf(probe), 'appendFile').mockRejectedValue(systemError('ENOSPC'));
    const [line] = await lines([5], { journal }).finally(() => append.mockRestore());
    expect(line).toMatch(/^5 9 Cannot write .*molar-downloads/);
    expect(await files()).toEqual(['scan.pdf']);
  });

  it('keeps the names when documents come, go and are renamed', async () => {
    for (const id of [5, 6]) place.server.add(id, 'scan.pdf', String(id));
    await lines([5, 6], { journal });
    place.server.held.shift();
    Object.assign(place.server.held[0] ?? {}, { name: 'renamed.pdf' });
    place.server.add(7, 'scan.pdf', '7');
    expect(await lines([6, 7], { journal })).toEqual(['6 skipped scan [6].pdf', '7 downloaded scan [7].pdf']);
    expect(await files()).toEqual(['scan [6].pdf', 'scan [7].pdf', 'scan.pdf']);
  });

  it('has what is missing downloaded again, and what was changed only when told to', async () => {
    for (const id of [5, 6]) place.server.add(id, 'scan.pdf', String(id));
    await lines([5, 6], { journal });
    await rm(join(place.folder, 'scan [6].pdf'));
    // Of the same size: only its content tells.
    await writeFile(join(place.folder, 'scan.pdf'), 'x');
    expect(await lines([5, 6], { journal })).toEqual(['5 9 scan.pdf exists already.', '6 downloaded scan [6].pdf']);
    Object.assign(place.server.held[0] ?? {}, { content: Buffer.from('new') });
    expect(await lines([5, 6], { journal, overwrite: true })).toEqual([
      '5 downloaded scan.pdf',
      '6 skipped scan [6].pdf',
    ]);
    place.server.requests.length = 0;
    expect(await lines([5], { journal })).toEqual(['5 skipped scan.pdf']);
    expect(place.server.requests).toEqual([]);
  });

  it('takes up what is there without an entry when its content is the same', async () => {
    place.server.add(5, 'scan.pdf', 'x');
    await writeFile(join(place.folder, 'scan.pdf'), 'x');
    expect(await lines([5], { journal })).toEqual(['5 skipped scan.pdf']);
    place.server.requests.length = 0;
    expect(await lines([5], { journal })).toEqual(['5 skipped scan.pdf']);
    expect(place.server.requests).toEqual([]);
  });

  it('is about one server, organization and variant', async () => {
    place.server.variants = ['original', 'thumbnail'];
    place.server.add(5, 'scan.jpeg', 'x');
    await lines([5], { journal });
    expect(await lines([5], { journal }, { variant: 'thumbnail' })).toEqual(['5 downloaded scan (thumbnail).jpeg']);
    const text = await read(JOURNAL);
    for (const [ours, theirs] of [
      ['org-1', 'org-2'],
      ['api.example.com', 'other.example.com'],
    ] as const) {
      await writeFile(join(place.folder, JOURNAL), text.replaceAll(ours, theirs));
      await rm(join(place.folder, 'scan [5].jpeg'), { force: true });
      expect(await lines([5], { journal })).toEqual(['5 downloaded scan [5].jpeg']);
    }
  });

  it('outlives a line that was cut off, and passes over entries that lead elsewhere', async () => {
    place.server.add(5, 'scan.pdf', 'x');
    await lines([5], { journal });
    const entry = JSON.parse(await read(JOURNAL));
    const elsewhere = JSON.stringify({ ...entry, id: 6, file: '../outside.pdf' });
    await appendFile(join(place.folder, JOURNAL), `null\n${elsewhere}\n{"server":"htt`);
    place.server.add(6, 'other.pdf', 'y');
    expect(await lines([5, 6], { journal })).toEqual(['5 skipped scan.pdf', '6 downloaded other.pdf']);
    place.server.requests.length = 0;
    expect(await lines([5, 6], { journal })).toEqual(['5 skipped scan.pdf', '6 skipped other.pdf']);
    expect(place.server.requests).toEqual([]);
  });

  it('is held by one run at a time, and not read through a link', async (context) => {
    place.server.add(5, 'scan.pdf', 'x');
    place.server.specials = [(held, request) => ({ ...fileAnswer(held, request, {}), body: second() })];
    const second = async function* () {
      await expect(lines([5], { journal: { ...OWNER, pid: 1 }, dir: '.' })).rejects.toMatchObject({
        exitCode: 9,
        message: expect.stringContaining('is in use by process'),
      });
      yield Buffer.from('x');
    };
    expect(await lines([5], { journal })).toEqual(['5 downloaded scan.pdf']);
    await rm(join(place.folder, JOURNAL));
    need(context, 'symlinks');
    await symlink(join(place.folder, 'scan.pdf'), join(place.folder, JOURNAL));
    await expect(lines([5], { journal })).rejects.toMatchObject({ exitCode: 9 });
    expect(await read('scan.pdf')).toBe('x');
    expect((await readdir(place.folder)).sort()).toEqual([JOURNAL, 'scan.pdf']);
  });

  it('that cannot be begun is told before anything is downloaded, and the folder is free afterwards', async () => {
    place.server.add(5, 'scan.pdf', 'x');
    let isFull = true;
    const { open } = system;
    replaceSystem({
      async open(path, ...how) {
        if (isFull && String(path).endsWith(JOURNAL)) throw systemError('ENOSPC');
        return open(path, ...how);
      },
    });
    await expect(lines([5], { journal })).rejects.toMatchObject({
      exitCode: 9,
      message: `Cannot open ${JOURNAL}: no space left on the disk.`,
    });
    expect(place.server.requests).toEqual([]);
    expect(await readdir(place.folder)).toEqual([]);
    isFull = false;
    expect(await lines([5], { journal })).toEqual(['5 downloaded scan.pdf']);
  });

  it('has a file before that is told, and lasts before the folder is free', async () => {
    const steps: string[] = [];
    const { datasync, fsync, unlink } = system;
    replaceSystem({
      datasync: (file) => datasync(file).then(() => void steps.push('its lines last')),
      fsync: (descriptor) => fsync(descriptor).then(() => void steps.push('its name lasts')),
      unlink: (path) => unlink(path).then(() => void steps.push(`without ${basename(String(path))}`)),
    });
    const run = async (ids: readonly number[]) => {
      const target = { folder: place.folder, overwrite: false, journal };
      for await (const { id } of downloadAll(each(ids), target, place.server.downloading(), 1))
        steps.push(`${id} ${readFileSync(join(place.folder, JOURNAL), 'utf8').includes(`"id":${id},`)}`);
      return steps.splice(0);
    };
    // Whoever opens an empty one must not have it removed.
    expect((await run([])).slice(-2)).toEqual([`without ${JOURNAL}`, 'without .molar-downloads.lock']);
    place.server.add(5, 'scan.pdf', 'x');
    // Windows keeps names by itself.
    const name = process.platform === 'win32' ? [] : ['its name lasts'];
    const last = ['5 true', 'its lines last', ...name, 'without .molar-downloads.lock'];
    expect((await run([5])).slice(-last.length)).toEqual(last);
  });

  it('is for the owner only', async () => {
    place.server.add(5, 'scan.pdf', 'x');
    await lines([5], { journal });
    expect((await stat(join(place.folder, JOURNAL))).mode & 0o777).toBe(OWNER_ONLY.file);
  });
});
