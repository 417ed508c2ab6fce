import { createHash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import sql, { join } from 'sql-template-tag';
import { VARIANTS } from '../../../catalog/resources/documents.ts';
import { type Files, FilesUnavailable, fileName, type SourceFiles } from '../../files/files.ts';
import type { Reader } from '../../store/store.ts';
import { DAY_MS } from '../../stream/stream.ts';
import type { CheckContext, CheckFindings } from './context.ts';
import { orgsOf, PAGE, recordPages } from './pages.ts';

/** A document as its files need it. */
export interface FileOwner {
  readonly id: number;
  readonly guid: string;
  readonly variants: string;
  readonly size: number;
  readonly sha256: string;
}

/** The columns of a `FileOwner`. */
export const OWNER_COLUMNS = ['id', 'guid', 'variants', 'size', 'sha256'] as const;

/** Maximum files checked in parallel: in a bucket each check is a request. */
const MAX_PARALLEL_FILES = 16;

/** How long a removal may be under way on a server that runs, milliseconds. */
const REMOVING_MS = 2000;

/** After which a running server, which removes files every hour, must have removed one that is due; milliseconds. */
const OVERDUE_MS = 3 * 60 * 60 * 1000;

/** What stands in `table` of problems that concern no record. */
const FILES = 'files';

/** Every document has its files, and every file its document. */
export async function checkFiles(context: CheckContext, book: CheckFindings): Promise<void> {
  await checkOwners(context, book);
  await checkOrphans(context, book);
  for (const name of await unfinishedRemovals(context)) {
    book.of('files').report({ table: 'file_removals', organization: null, id: name, message: 'was to be removed' });
  }
}

async function checkOwners(context: CheckContext, book: CheckFindings): Promise<void> {
  const findings = book.of('files');
  const orgs = await orgsOf(context.read, 'documents');
  for await (const { org, rows } of recordPages<FileOwner>(context.read, 'documents', OWNER_COLUMNS, orgs)) {
    const organization = context.organization(org);
    for (let at = 0; at < rows.length; at += MAX_PARALLEL_FILES) {
      await Promise.all(
        rows.slice(at, at + MAX_PARALLEL_FILES).map(async (owner) => {
          for (const message of await wrongFiles(context, owner)) {
            // On a running server it may have been deleted since.
            if (!(await isThere(context.live, owner.guid))) return;
            findings.report({ table: 'documents', organization, id: owner.id, message });
          }
        }),
      );
      await context.turn('documents', Math.min(MAX_PARALLEL_FILES, rows.length - at));
    }
    findings.counted(rows.reduce((sum, { variants }) => sum + variants.split(',').length, 0));
  }
}

async function wrongFiles({ files, deep }: CheckContext, owner: FileOwner): Promise<string[]> {
  const variants = owner.variants.split(',');
  const known: readonly string[] = VARIANTS;
  const wrong = variants.filter((variant) => !known.includes(variant)).map(() => 'has a variant that is not known');
  if (!variants.includes('original')) wrong.push('has no original');
  for (const variant of variants.filter((each) => known.includes(each))) {
    const name = fileName(owner.guid, variant);
    const size = await sizeOf(files, name);
    if (size === undefined) wrong.push(`its file ${variant} is missing`);
    else if (variant === 'original' && size !== owner.size) {
      wrong.push(`its file original has ${size} bytes, not ${owner.size}`);
    } else if (size === 0 && owner.size > 0) wrong.push(`its file ${variant} is empty`);
    else if (deep) {
      const found = await hashOf(files, name);
      if (found === undefined) wrong.push(`its file ${variant} cannot be read`);
      else if (variant === 'original' && found !== owner.sha256) wrong.push('its file original has another SHA-256');
    }
  }
  return wrong;
}

/** Size of a file; asked twice, since a server may just be moving it to its final name. */
export async function sizeOf(files: SourceFiles, name: string): Promise<number | undefined> {
  return (await files.size(name)) ?? files.size(name);
}

/** SHA-256 of a stored file, hexadecimal; undefined where it cannot be read to its end. */
export async function hashOf(files: Files, name: string): Promise<string | undefined> {
  const hash = createHash('sha256');
  try {
    for await (const chunk of await files.open(name)) hash.update(chunk as Uint8Array);
  } catch (error) {
    // An unavailable storage says nothing about the file.
    if (error instanceof FilesUnavailable) throw error;
    return undefined;
  }
  return hash.digest('hex');
}

async function isThere(read: Reader, guid: string): Promise<boolean> {
  return (await read.get(sql`SELECT 1 AS found FROM documents WHERE guid = ${guid}`)) !== undefined;
}

async function checkOrphans(context: CheckContext, book: CheckFindings): Promise<void> {
  for await (const name of orphans(context)) {
    book.of('files').report({ table: FILES, organization: null, id: name, message: 'belongs to no document' });
  }
}

/** Files that no document has and that nothing is about to remove. */
export async function* orphans(
  context: Pick<CheckContext, 'files' | 'live' | 'keepsYoung' | 'now' | 'turn'>,
): AsyncGenerator<string> {
  const { files, keepsYoung, now } = context;
  let page: string[] = [];
  for await (const { name, modified } of files.list()) {
    if (keepsYoung && modified.getTime() > now - DAY_MS) continue;
    page.push(name);
    if (page.length < PAGE) continue;
    for (const orphan of await unowned(context, page)) yield orphan;
    await context.turn('files', page.length);
    page = [];
  }
  for (const orphan of await unowned(context, page)) yield orphan;
}

async function unowned({ live, files }: Pick<CheckContext, 'files' | 'live'>, names: readonly string[]) {
  if (names.length === 0) return [];
  const guids = [...new Set(names.map((name) => name.slice(0, name.lastIndexOf('-'))))];
  const owners = await live.all<{ guid: string; variants: string }>(
    sql`SELECT guid, variants FROM documents WHERE guid IN (${join(guids)})`,
  );
  const removed = await live.all<{ name: string }>(
    sql`SELECT name FROM file_removals WHERE name IN (${join([...names])})`,
  );
  const known = new Set(
    owners.flatMap(({ guid, variants }) => variants.split(',').map((each) => fileName(guid, each))),
  );
  for (const { name } of removed) known.add(name);
  const found: string[] = [];
  // One that a server has just removed was no orphan.
  for (const name of names) if (!known.has(name) && (await files.size(name)) !== undefined) found.push(name);
  return found;
}

/**
 * Names of files that should be gone; on a running server only those that are still there a moment later. Those that are
 * kept for a time are none of them before a running server has had the time to remove them: whatever came due while none
 * ran goes when the next one starts.
 */
export async function unfinishedRemovals(context: Pick<CheckContext, 'live' | 'served' | 'now'>): Promise<string[]> {
  const due = context.served ? new Date(context.now - OVERDUE_MS).toISOString() : '';
  const named = async () =>
    (
      await context.live.all<{ name: string }>(sql`SELECT name FROM file_removals WHERE due_at <= ${due} ORDER BY name`)
    ).map(({ name }) => name);
  const first = await named();
  if (!context.served || first.length === 0) return first;
  await sleep(REMOVING_MS);
  const later = new Set(await named());
  return first.filter((name) => later.has(name));
}
