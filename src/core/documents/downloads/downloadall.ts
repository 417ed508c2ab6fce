import { lstat } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { CircuitBreaker, notTried } from '../../circuitbreaker.ts';
import { Failure } from '../../failure.ts';
import type { LockOwner } from '../../lockfile.ts';
import { mapInOrder } from '../../orderedmap.ts';
import { guarded } from '../../output/atomicfile.ts';
import { inOwnFolder, makeOwnFolder, replaceable } from '../../output/ownfile.ts';
import type { Row } from '../../pages/page.ts';
import { type Downloading, getDocument, hasLinks, NoVariant, storedName } from '../links/documentlink.ts';
import { downloadTo } from './downloadfile.ts';
import { type DownloadJournal, openDownloadJournal } from './downloadjournal.ts';
import type { DownloadedFile, DownloadResult } from './downloadoutcome.ts';
import { FileNames } from './filenames.ts';
import { hashOfFile, type LabelledPath, removeLinkedPart, sizeOfFile } from './localfile.ts';

/** Where downloaded files go. */
export interface DownloadTarget {
  /** Folder that relative paths start from. */
  readonly folder: string;
  /** Given for one document only; otherwise `dir`, or the folder itself, under the stored names. */
  readonly out?: string;
  readonly dir?: string;
  readonly overwrite: boolean;
  /** Holder of the journal in the folder; without it there is no journal. */
  readonly journal?: LockOwner;
}

/** A document to download: its id, or its row in a list, which means that a filter chose it. */
export type DocumentRef = number | Row;

/**
 * Downloads documents into files, `concurrency` at a time, and yields the results in their order. A failure does not
 * stop the others, unless all of them would fail for the same cause. Throws when the folder cannot be used, when
 * `documents` throws, and when the run is interrupted; downloads in progress have ended by then.
 */
export async function* downloadAll(
  documents: AsyncIterable<DocumentRef>,
  target: DownloadTarget,
  downloading: Downloading,
  concurrency: number,
): AsyncGenerator<DownloadResult> {
  const label = target.dir ?? '';
  const path = await guarded(`make folder ${label}`, () => makeOwnFolder(resolve(target.folder, label)));
  const folder = { path, label };
  const { client, variant } = downloading;
  const scope = { server: client.baseUrl, organization: client.organization, variant };
  const journal = target.journal && (await openDownloadJournal(folder, scope, target.journal));
  try {
    const run = new DownloadRun(target, folder, downloading, journal);
    yield* mapInOrder(documents, concurrency, (document) => run.download(document));
  } finally {
    await journal?.close();
  }
}

class DownloadRun {
  private readonly names: FileNames;
  private readonly breaker = new CircuitBreaker();
  /** Names are allocated in the order of the documents, whichever response arrives first. */
  private naming: Promise<void> = Promise.resolve();

  constructor(
    private readonly target: DownloadTarget,
    private readonly folder: LabelledPath,
    private readonly downloading: Downloading,
    private readonly journal: DownloadJournal | undefined,
  ) {
    this.names = new FileNames(downloading.variant, journal?.names ?? []);
  }

  async download(document: DocumentRef): Promise<DownloadResult> {
    const { signal } = this.downloading.fetching;
    const isListed = typeof document !== 'number';
    const id = isListed ? Number(document.id) : document;
    const previous = this.naming;
    let named = () => {};
    this.naming = new Promise((done) => {
      named = done;
    });
    let result: DownloadResult;
    try {
      signal?.throwIfAborted();
      if (this.breaker.cause !== undefined) throw notTried(this.breaker.cause);
      result = { id, file: await this.file(id, document, previous, named) };
    } catch (cause) {
      signal?.throwIfAborted();
      if (!(cause instanceof Failure)) throw cause;
      result = cause instanceof NoVariant && isListed ? { id, absent: true } : { id, failure: cause };
    } finally {
      void previous.then(named);
    }
    this.breaker.record('failure' in result ? result.failure : undefined);
    return result;
  }

  private async file(
    id: number,
    wanted: DocumentRef,
    previous: Promise<void>,
    named: () => void,
  ): Promise<DownloadedFile> {
    const { out, overwrite } = this.target;
    const known = this.journal?.find(id);
    if (known !== undefined) {
      const path = this.pathOf(known.file);
      const { name, bytes, sha256 } = known;
      if (await isUnchanged(path, known)) return { id, name, file: path.label, bytes, sha256, status: 'skipped' };
    }
    const isComplete = typeof wanted !== 'number' && hasLinks(wanted);
    const document = isComplete
      ? wanted
      : await getDocument(typeof wanted === 'number' ? id : String(wanted.id), this.downloading);
    await previous;
    const name = storedName(document);
    const file = known?.file ?? (out === undefined ? this.names.nameFor(id, name) : '');
    named();
    const path = out === undefined ? this.pathOf(file) : await this.outPath(out);
    const { bytes, sha256, status } = await downloadTo(path, document, this.downloading, overwrite);
    await this.journal?.add({ id, name, file, bytes, sha256 });
    return { id, name, file: path.label, bytes, sha256, status };
  }

  private pathOf(file: string): LabelledPath {
    return { path: join(this.folder.path, file), label: join(this.folder.label, file) };
  }

  /** A link of our own that the user named stays, and its target is replaced (contract §5). */
  private outPath(label: string): Promise<LabelledPath> {
    return guarded(`write ${label}`, async () => {
      const path = resolve(this.target.folder, label);
      const isLink = this.target.overwrite && (await lstat(path).catch(() => undefined))?.isSymbolicLink();
      return { path: await (isLink ? replaceable(path) : inOwnFolder(path)), label };
    });
  }
}

/** Whether a file is still there with the content that was downloaded. */
async function isUnchanged(
  path: LabelledPath,
  known: { readonly bytes: number; readonly sha256: string },
): Promise<boolean> {
  if ((await sizeOfFile(path)) !== known.bytes || (await hashOfFile(path, 'sha256')) !== known.sha256) return false;
  await removeLinkedPart(path);
  return true;
}
