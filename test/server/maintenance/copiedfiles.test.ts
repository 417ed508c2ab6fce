import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import type { Files } from '../../../src/server/files/files.ts';
import { sizeOf } from '../../../src/server/maintenance/check/files.ts';
import { copyFiles, hashedFiles, transferFiles } from '../../../src/server/maintenance/copy/files.ts';
import type { Snapshot } from '../../../src/server/maintenance/snapshot.ts';
import type { Reader } from '../../../src/server/store/store.ts';
import { WORK } from './practices.ts';

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');

/** A storage in memory, what is done to it, and what fails. */
function storage(content: Record<string, string>) {
  const files = new Map(Object.entries(content));
  const staged = new Map<string, string>();
  const done: string[] = [];
  const fails = { open: 0, write: false, gone: '' };
  const made = {
    size: async (name: string) => files.get(name)?.length,
    async open(name: string) {
      if (name === fails.gone && files.delete(name)) throw new Error('is gone');
      if (fails.open > 0) {
        fails.open--;
        throw new Error('was just moved');
      }
      return Readable.from([Buffer.from(files.get(name) ?? '')]);
    },
    async remove(name: string) {
      done.push(`remove ${name}`);
      files.delete(name);
    },
    async stage(name: string) {
      done.push(`stage ${name}`);
      return {
        async write(chunk: Uint8Array) {
          if (fails.write) throw new Error('full');
          staged.set(name, (staged.get(name) ?? '') + Buffer.from(chunk).toString());
        },
        finish: async () => void done.push(`finish ${name}`),
        discard: async () => void done.push(`discard ${name}`),
      };
    },
    async persist(names: readonly string[]) {
      // A disk takes its time.
      await new Promise((resolve) => setImmediate(resolve));
      done.push(`persist ${names}`);
    },
    async finalize(name: string) {
      done.push(`finalize ${name}`);
      files.set(name, staged.get(name) ?? '');
    },
    async *list() {
      for (const name of files.keys()) yield { name, size: 1, modified: new Date(0) };
    },
  };
  return { files, done, fails, storage: made as unknown as Files };
}

/** A state with these documents: each has an original with this text, and a thumbnail. */
function documents(texts: Record<string, string>): Reader {
  const rows = Object.entries(texts).map(([guid, text], at) => ({
    ...{ id: at + 1, guid, variants: 'original,thumbnail', size: text.length, sha256: sha256(text) },
  }));
  const get = async ({ values }: { readonly values: readonly unknown[] }) => ({ org: values.length === 0 ? 1 : null });
  const all = async ({ sql }: { readonly sql: string }) => (sql.includes('file_removals') ? [] : rows);
  return { get, all } as unknown as Reader;
}

const WHOLE = { 'a-original': 'text of a', 'a-thumbnail': 'small a' };
const steps = (name: string) => ['remove', 'stage', 'finish', 'persist', 'finalize'].map((step) => `${step} ${name}`);

describe('files that are copied', () => {
  it('are staged, secured and only then there, each by itself', async () => {
    const [from, to] = [storage(WHOLE), storage({})];
    expect(await copyFiles(documents({ a: 'text of a' }), from.storage, to.storage, WORK)).toEqual([]);
    for (const name of Object.keys(WHOLE)) {
      expect(to.done.filter((step) => step.endsWith(name))).toEqual(steps(name));
    }
    expect(Object.fromEntries(to.files)).toEqual(WHOLE);
    expect(from.done).toEqual([]);
  });

  it('are those that are not there with their size', async () => {
    const to = storage({ 'a-original': 'TEXT OF A', 'a-thumbnail': 'cut' });
    await copyFiles(documents({ a: 'text of a' }), storage(WHOLE).storage, to.storage, WORK);
    expect(to.done).toEqual(steps('a-thumbnail'));
    expect(Object.fromEntries(to.files)).toEqual({ 'a-original': 'TEXT OF A', 'a-thumbnail': 'small a' });
  });

  it('are told when nobody has them', async () => {
    const to = storage({});
    const from = storage({ 'a-original': 'text of a', 'b-thumbnail': 'small b' });
    const missing = await copyFiles(documents({ a: 'text of a', b: 'text of b' }), from.storage, to.storage, WORK);
    expect(missing.sort()).toEqual(['a-thumbnail', 'b-original']);
    expect([...to.files.keys()].sort()).toEqual(['a-original', 'b-thumbnail']);
  });

  it('are opened again where a server was just moving them', async () => {
    const [from, to] = [storage({ 'a-original': 'text of a' }), storage({})];
    from.fails.open = 1;
    const sizes = [undefined, 5];
    expect(await sizeOf({ ...from.storage, size: async () => sizes.shift() }, 'a-original')).toBe(5);
    expect(await copyFiles(documents({ a: 'text of a' }), from.storage, to.storage, WORK)).toEqual(['a-thumbnail']);
    expect(to.files.get('a-original')).toBe('text of a');
  });

  it('are told when they are removed before they can be read', async () => {
    const [from, to] = [storage(WHOLE), storage({})];
    from.fails.gone = 'a-original';
    expect(await copyFiles(documents({ a: 'text of a' }), from.storage, to.storage, WORK)).toEqual(['a-original']);
    expect([...to.files.keys()]).toEqual(['a-thumbnail']);
  });

  it('that cannot be written are given up, and so is the copy', async () => {
    const to = storage({});
    to.fails.write = true;
    const copied = copyFiles(documents({ a: 'text of a' }), storage(WHOLE).storage, to.storage, WORK);
    await expect(copied).rejects.toThrow('full');
    expect(to.done).toEqual(expect.arrayContaining(['discard a-original']));
    expect([...to.files.keys()]).toEqual([]);
  });

  it('are read back, each with its size and hash', async () => {
    const found: unknown[] = [];
    const { storage: files } = storage({ 'a-original': 'other' });
    for await (const file of hashedFiles(documents({ a: 'text of a' }), files, WORK)) found.push(file);
    expect(found).toEqual([
      { name: 'a-original', size: 9, sha256: sha256('text of a'), bytes: 5, found: sha256('other') },
    ]);
  });

  it('are compared with their documents, and none of anything else may be there', async () => {
    const snapshot = { read: documents({ a: 'text of a' }) } as unknown as Snapshot;
    const transfer = (from: Record<string, string>, to: Record<string, string> = {}) =>
      transferFiles(snapshot, storage(from).storage, storage(to).storage, WORK);
    expect(await transfer(WHOLE)).toEqual({ count: 2, bytes: 16, problems: [] });
    expect(await transfer({ 'a-original': 'TEXT OF A' })).toEqual({
      ...{ count: 1, bytes: 9, problems: ['a-thumbnail is missing', 'a-original was changed'] },
    });
    expect((await transfer(WHOLE, { 'a-original': 'text of a' })).problems).toEqual([]);
    const refused = 'The file storage is not empty: it has b-original, which belongs to no document that is copied.';
    await expect(transfer(WHOLE, { 'b-original': 'x' })).rejects.toThrow(refused);
  });
});
