import { chmod, link, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { need } from '../../../support/capabilities.ts';
import { base64, CONTENT, receiving } from '../receiving.ts';
import { etagOf } from './downloadserver.ts';

const at = receiving();
const { stored, outcome, interrupted } = at;
const part = () => join(at.folder, 'scan.pdf.part');

describe('what lies beside the file', () => {
  it.each<[string, () => Promise<unknown>]>([
    ['a damaged note', () => writeFile(`${part()}.json`, '{"version":1,"id":')],
    ...['server', 'organization', 'id', 'variant', 'guid'].map((key): [string, () => Promise<unknown>] => [
      `a note of another ${key}`,
      async () => {
        const note = JSON.parse(await readFile(`${part()}.json`, 'utf8'));
        await writeFile(`${part()}.json`, JSON.stringify({ ...note, [key]: key === 'id' ? 6 : 'another' }));
      },
    ]),
    [
      'a note of no size',
      async () => {
        const note = JSON.parse(await readFile(`${part()}.json`, 'utf8'));
        await writeFile(`${part()}.json`, JSON.stringify({ ...note, validator: { ...note.validator, total: 'all' } }));
      },
    ],
    ['a part without its note', () => rm(`${part()}.json`)],
    ['a part that is too long', () => writeFile(part(), Buffer.alloc(2000))],
    ['an empty part', () => writeFile(part(), '')],
    ['a part that has another name too', () => link(part(), join(at.folder, 'mine'))],
  ])('%s is not gone on with', async (_, change) => {
    await interrupted();
    await change();
    expect(await outcome()).toEqual(['downloaded', 1000]);
    expect(at.server.ranges).toEqual([undefined]);
    expect(await stored()).toEqual(CONTENT);
  });

  it('is not gone on with where others may have read it, or written to it', async (context) => {
    need(context, 'modes');
    await interrupted();
    await chmod(part(), 0o640);
    expect(await outcome()).toEqual(['downloaded', 1000]);
    expect(at.server.ranges).toEqual([undefined]);
  });

  it('is not followed where it is a link', async (context) => {
    need(context, 'symlinks');
    await interrupted();
    const [mine, note] = [join(at.folder, 'mine'), await readFile(`${part()}.json`)];
    await writeFile(mine, CONTENT.subarray(0, 400), { mode: 0o600 });
    await writeFile(join(at.folder, 'note'), note);
    for (const path of [part(), `${part()}.json`]) await rm(path);
    await symlink(mine, part());
    await symlink(join(at.folder, 'note'), `${part()}.json`);
    expect(await outcome()).toEqual(['downloaded', 1000]);
    expect(await readFile(mine)).toEqual(CONTENT.subarray(0, 400));
    expect(await readFile(join(at.folder, 'note'))).toEqual(note);
    expect((await readdir(at.folder)).sort()).toEqual(['mine', 'note', 'scan.pdf']);
  });

  it('is checked as a whole: damage before the end is found by the hash that the server tells', async () => {
    at.server.extra = (it) => ({ etag: etagOf(it), 'repr-digest': `sha-256=:${base64(it.content)}:` });
    await interrupted();
    await writeFile(part(), Buffer.alloc(400));
    expect(await outcome()).toEqual(['downloaded', 1000]);
    expect(at.server.ranges).toEqual(['bytes=400-', undefined]);
    expect(await stored()).toEqual(CONTENT);
  });
});
