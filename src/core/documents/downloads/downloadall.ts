import { lstat, mkdir, realpath } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { CircuitBreaker, notTried } from '../../circuitbreaker.ts';
import { Failure, fileFailure } from '../../failure.ts';
import type { LockOwner } from '../../lockfile.ts';
import { mapInOrder } from '../../orderedmap.ts';
import type { Row } from '../../pages/page.ts';
import { type Downloading, getDocument, hasLinks, NoVariant, storedName } from '../links/documentlink.ts';
import { downloadTo, type Landed } from './downloadfile.ts';
import { DownloadJournal } from './downloadjournal.ts';
import type { DownloadedFile, DownloadResult } from './downloadoutcome.ts';
import { FileNames } from './filenames.ts';
import { hashOfFile, sizeOfFile, tidyPart } from './localfile.ts';
import type { LocalPlace } from './partfile.ts';

export interface DownloadTarget {
  /** Folder that relative paths start from. */
  readonly folder: string;
  /** Given for one document only; otherwise `dir`, or the folder itself, under the stored names. */
  readonly out?: string;
  readonly dir?: string;
  readonly overwrite: boolean;
  /** Holder of the journal that is kept in the folder; none is kept where absent. */
  readonly journal?: LockOwner;
}

/** A document to download: its id, or its row in a list, which says that a filter chose it. */
export type Wanted = number | Row;

/**
 * Downloads documents into files, `concurrency` at a time, and gives what became of them in their order. One that fails
 * keeps no other from being downloaded, unless all the others would fail for the same cause. Throws when the folder
 * cannot be used, when `wanted` throws, and when the run is interrupted; what was begun by then has ended.
 */
export async function* downloadAll(
  wanted: AsyncIterable<Wanted>,
  target: DownloadTarget,
  downloading: Downloading,
  concurrency: number,
): AsyncGenerator<DownloadResult> {
  const place = { path: resolve(target.folder, target.dir ?? ''), label: target.dir ?? '' };
  if (target.dir !== undefined) await makeFolder(place);
  const { client, variant } = downloading;
  const scope = { server: client.baseUrl, organization: client.organization, variant };
  const journal = target.journal && (await DownloadJournal.open(place, scope, target.journal));
  try {
    const run = new DownloadRun(target, downloading, journal);
    yield* mapInOrder(wanted, concurrency, (document) => run.download(document));
  } finally {
    await journal?.close();
  }
}

class DownloadRun {
  private readonly target: DownloadTarget;
  private readonly downloading: Downloading;
  private readonly journal: DownloadJournal | undefined;
  private readonly names: FileNames;
  private readonly breaker = new CircuitBreaker();
  /** Names are given in the order of the documents, whichever answers first. */
  private turn: Promise<void> = Promise.resolve();

  constructor(target: DownloadTarget, downloading: Downloading, journal: DownloadJournal | undefined) {
    this.target = target;
    this.downloading = downloading;
    this.journal = journal;
    this.names = new FileNames(downloading.variant, journal?.names ?? []);
  }

  async download(wanted: Wanted): Promise<DownloadResult> {
    const { signal } = this.downloading.fetching;
    const id = typeof wanted === 'number' ? wanted : Number(wanted.id);
    const before = this.turn;
    let pass = () => {};
    this.turn = new Promise((done) => {
      pass = done;
    });
    let result: DownloadResult;
    try {
      signal?.throwIfAborted();
      if (this.breaker.cause !== undefined) throw notTried(this.breaker.cause);
      result = { id, file: await this.file(id, wanted, before, pass) };
    } catch (cause) {
      signal?.throwIfAborted();
      if (!(cause instanceof Failure)) throw cause;
      result = cause instanceof NoVariant && typeof wanted !== 'number' ? { id, absent: true } : { id, failure: cause };
    } finally {
      void before.then(pass);
    }
    this.breaker.record('failure' in result ? result.failure : undefined);
    return result;
  }

  private async file(id: number, wanted: Wanted, before: Promise<void>, pass: () => void): Promise<DownloadedFile> {
    const known = this.journal?.find(id);
    if (known !== undefined) {
      const place = this.placeOf(known.file);
      const { name, bytes, sha256 } = known;
      if (await isThere(place, known)) return { id, name, file: place.label, bytes, sha256, status: 'skipped' };
    }
    const document = await this.documentOf(wanted);
    await before;
    const name = storedName(document);
    const file = known?.file ?? (this.target.out === undefined ? this.names.nameFor(id, name) : '');
    pass();
    const place = this.target.out === undefined ? this.placeOf(file) : await this.outPlace(this.target.out);
    const landed: Landed = await downloadTo(place, document, this.downloading, this.target.overwrite);
    const { bytes, sha256, status } = landed;
    await this.journal?.add({ id, name, file, bytes, sha256 });
    return { id, name, file: place.label, bytes, sha256, status };
  }

  private async documentOf(wanted: Wanted): Promise<Row> {
    if (typeof wanted !== 'number' && hasLinks(wanted)) return wanted;
    return getDocument(typeof wanted === 'number' ? wanted : String(wanted.id), this.downloading);
  }

  private placeOf(file: string): LocalPlace {
    const label = join(this.target.dir ?? '', file);
    return { path: resolve(this.target.folder, label), label };
  }

  /** A link that the person named stays, and its target is replaced (contract §5). */
  private async outPlace(label: string): Promise<LocalPlace> {
    const path = resolve(this.target.folder, label);
    const isLink = this.target.overwrite && (await lstat(path).catch(() => undefined))?.isSymbolicLink();
    return { path: isLink ? await realpath(path).catch(() => path) : path, label };
  }
}

/** Whether a file is there with the content that came. */
async function isThere(
  place: LocalPlace,
  known: { readonly bytes: number; readonly sha256: string },
): Promise<boolean> {
  if ((await sizeOfFile(place)) !== known.bytes || (await hashOfFile(place, 'sha256')) !== known.sha256) return false;
  await tidyPart(place);
  return true;
}

async function makeFolder({ path, label }: LocalPlace): Promise<void> {
  await mkdir(path, { recursive: true, mode: 0o700 }).catch((cause: unknown) => {
    throw fileFailure(`make folder ${label}`, cause);
  });
}
