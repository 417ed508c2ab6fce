import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { moveFile, removeTree } from '../../../filesystem/durable.ts';
import { CircuitBreaker, notTried } from '../../circuitbreaker.ts';
import { downloadTo } from '../../documents/downloads/downloadfile.ts';
import { FileNames } from '../../documents/downloads/filenames.ts';
import { type LabelledPath, sizeOfFile } from '../../documents/downloads/localfile.ts';
import { type Downloading, getDocument, NoVariant } from '../../documents/links/documentlink.ts';
import { Failure } from '../../failure.ts';
import { holdLock, type LockOwner } from '../../lockfile.ts';
import { mapInOrder } from '../../orderedmap.ts';
import { guarded } from '../../output/atomicfile.ts';
import { makeOwnFolder } from '../../output/ownfile.ts';
import { ApiFailure } from '../../transport/apifailure.ts';
import type { MirroredDocument, MirrorStore } from '../store.ts';
import { FilesIndex, type KeptFile } from './filesindex.ts';

/** Downloads at the same time, and documents that are looked at together. */
const WIDTH = 8;
const PAGE = 500;

/** What became of the files of documents. */
export interface FilesOutcome {
  readonly downloaded: number;
  readonly removed: number;
  readonly failures: readonly { readonly id: string; readonly failure: Failure }[];
}

/** What it takes to keep files. */
export interface FilesOrder {
  /** Absolute path. */
  readonly folder: string;
  readonly store: Pick<MirrorStore, 'facts' | 'documents'>;
  readonly downloading: Downloading;
  readonly owner: LockOwner;
}

/**
 * Makes a folder hold the contents of the documents that a mirror has (D52): `FOLDER/ID/NAME`, each there completely or
 * not at all. What is there with its size is not fetched again; what the mirror no longer has is removed. Throws a Failure
 * where the folder cannot be used, and what interrupts the run.
 */
export async function keepFiles({ folder: named, store, downloading, owner }: FilesOrder): Promise<FilesOutcome> {
  const folder = await guarded(`make the folder ${named}`, () => makeOwnFolder(named));
  const release = await holdLock(join(folder, '.molar-files.lock'), `The folder ${folder}`, owner);
  try {
    const index = await FilesIndex.open(folder, store.facts.organization);
    try {
      return await new FilesRun(folder, index, downloading).run(documentsOf(store));
    } finally {
      await index.close();
    }
  } finally {
    await release();
  }
}

async function* documentsOf(store: FilesOrder['store']): AsyncGenerator<MirroredDocument> {
  for (let after = '0'; ; ) {
    const documents = await store.documents(after, PAGE);
    yield* documents;
    const last = documents.at(-1);
    if (last === undefined) return;
    after = last.id;
  }
}

class FilesRun {
  private readonly breaker = new CircuitBreaker();

  constructor(
    private readonly folder: string,
    private readonly index: FilesIndex,
    private readonly downloading: Downloading,
  ) {}

  async run(documents: AsyncIterable<MirroredDocument>): Promise<FilesOutcome> {
    const gone = new Set(this.index.ids());
    const failures: { id: string; failure: Failure }[] = [];
    let downloaded = 0;
    for await (const { id, isNew, failure } of mapInOrder(documents, WIDTH, (document) => this.attempt(document))) {
      gone.delete(id);
      if (isNew) downloaded++;
      if (failure !== undefined) failures.push({ id, failure });
    }
    let removed = 0;
    for (const id of gone) {
      try {
        await this.remove(id);
        await this.index.forget(id);
        removed++;
      } catch (cause) {
        // Both throw only Failures (`guarded`). The others are gone all the same; this one is tried again by the next run.
        failures.push({ id, failure: cause as Failure });
      }
    }
    return { downloaded, removed, failures };
  }

  private async attempt(document: MirroredDocument): Promise<{ id: string; isNew: boolean; failure?: Failure }> {
    const { id } = document;
    const { signal } = this.downloading.fetching;
    try {
      signal?.throwIfAborted();
      if (this.breaker.cause !== undefined) throw notTried(this.breaker.cause);
      const isNew = await this.keep(document);
      this.breaker.record(undefined);
      return { id, isNew };
    } catch (cause) {
      signal?.throwIfAborted();
      if (!(cause instanceof Failure)) throw cause;
      this.breaker.record(cause);
      return { id, isNew: false, failure: cause };
    }
  }

  /** Makes the file of a document what the mirror says; true when it was downloaded. */
  private async keep({ id, name, guid }: MirroredDocument): Promise<boolean> {
    const file = new FileNames('original', []).nameFor(Number(id), name ?? '');
    const known = this.index.find(id);
    const isCurrent = known !== undefined && known.guid === guid && (known.isAbsent || (await this.isThere(known)));
    if (isCurrent && known.file === file) return false;
    if (isCurrent && !known.isAbsent) {
      await guarded(`rename ${this.path(id, known.file).label}`, () =>
        moveFile(this.path(id, known.file).path, this.path(id, file).path),
      );
      await this.index.set({ ...known, file });
      return false;
    }
    return this.download({ id, file, guid, bytes: -1, sha256: '' });
  }

  private async download(wanted: KeptFile): Promise<boolean> {
    const { id, file } = wanted;
    // Noted first, so that a folder which a killed run has made is removed with its document.
    await this.index.set(wanted);
    try {
      const document = await getDocument(id, this.downloading);
      await guarded(`make the folder ${join(this.folder, id)}`, () => makeOwnFolder(join(this.folder, id)));
      const { bytes, sha256 } = await downloadTo(this.path(id, file), document, this.downloading, true);
      await this.removeOthers(id, file);
      await this.index.set({ ...wanted, bytes, sha256 });
      return true;
    } catch (cause) {
      if (cause instanceof NoVariant) {
        await this.remove(id);
        await this.index.set({ ...wanted, isAbsent: true });
      }
      // It was deleted meanwhile: the next sync hears of it.
      else if (!(cause instanceof ApiFailure) || cause.status !== 404) throw cause;
      return false;
    }
  }

  private async isThere({ id, file, bytes }: KeptFile): Promise<boolean> {
    return bytes >= 0 && (await sizeOfFile(this.path(id, file))) === bytes;
  }

  /** Removes all that is there of a document. */
  private async remove(id: string): Promise<void> {
    const folder = join(this.folder, id);
    await guarded(`remove ${folder}`, () => removeTree(folder));
  }

  /** Removes what a document had before, under another name. */
  private async removeOthers(id: string, file: string): Promise<void> {
    const folder = join(this.folder, id);
    await guarded(`read the folder ${folder}`, async () => {
      for (const name of await readdir(folder)) if (name !== file) await removeTree(join(folder, name));
    });
  }

  private path(id: string, file: string): LabelledPath {
    const path = join(this.folder, id, file);
    return { path, label: path };
  }
}
