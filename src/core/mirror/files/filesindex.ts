import { constants } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { join } from 'node:path';
import { isPlainObject } from '../../../catalog/fields/kind.ts';
import { isFileName } from '../../documents/downloads/filenames.ts';
import { localFailure } from '../../failure.ts';
import { jsonOf } from '../../jsontext.ts';
import { guarded, readIfPresent, writeAtomicFile } from '../../output/atomicfile.ts';

/** The file of a document, in a folder that has its id as name. */
export interface KeptFile {
  /** Digits. */
  readonly id: string;
  readonly file: string;
  /** The storage identifier of the service, which changes with the content. */
  readonly guid: string | null;
  /** -1 while it is not there, and for a document that has no content. */
  readonly bytes: number;
  /** In hex; empty while it is not there. */
  readonly sha256: string;
  /** The service has no content of it. */
  readonly isAbsent?: true;
}

const NAME = '.molar-files.ndjson';

/** Whether a folder has the files of so many documents, all that there are, as far as its index tells. */
export async function hasAllFiles(folder: string, documents: number): Promise<boolean> {
  const lines = (await readIfPresent(join(folder, NAME)))?.split('\n').map(jsonOf) ?? [];
  const entries = [...entriesOf(lines).values()];
  return entries.length === documents && entries.every(({ bytes, isAbsent = false }) => bytes >= 0 || isAbsent);
}

function entriesOf(lines: readonly unknown[]): Map<string, KeptFile> {
  const entries = new Map<string, KeptFile>();
  for (const line of lines.filter(isEntry)) {
    if (line.file === '') entries.delete(line.id);
    else entries.set(line.id, line);
  }
  return entries;
}

/** Which files a folder has: a line for each change while a run lasts, and one for each file once it has ended. */
export class FilesIndex {
  private lines = 0;

  private constructor(
    private readonly path: string,
    private readonly organization: string,
    private readonly file: FileHandle,
    private readonly entries: Map<string, KeptFile>,
  ) {}

  /** Opens the index of a folder, or begins one. Throws a Failure (exit 9) for the folder of another organization. */
  static async open(folder: string, organization: string): Promise<FilesIndex> {
    const path = join(folder, NAME);
    const [first, ...lines] = (await readIfPresent(path))?.split('\n').map(jsonOf) ?? [];
    const owner = isPlainObject(first) ? first.organization : undefined;
    if (first !== undefined && owner !== organization)
      throw localFailure('local.file', `${folder} has the files of another mirror.`, {
        source: folder,
        hint: 'Name another folder with --files.',
      });
    const entries = entriesOf(lines);
    await writeAtomicFile(path, textOf(organization, entries));
    const { O_WRONLY, O_APPEND, O_NOFOLLOW = 0 } = constants;
    const file = await guarded(`write ${path}`, () => open(path, O_WRONLY | O_APPEND | O_NOFOLLOW));
    return new FilesIndex(path, organization, file, entries);
  }

  find(id: string): KeptFile | undefined {
    return this.entries.get(id);
  }

  /** Ids of all files. */
  ids(): readonly string[] {
    return [...this.entries.keys()];
  }

  async set(entry: KeptFile): Promise<void> {
    this.entries.set(entry.id, entry);
    await this.append(entry);
  }

  async forget(id: string): Promise<void> {
    this.entries.delete(id);
    await this.append({ id, file: '', guid: null, bytes: -1, sha256: '' });
  }

  /** Writes what is left, without the names of what is gone. */
  async close(): Promise<void> {
    await this.file.close();
    if (this.lines > 0) await writeAtomicFile(this.path, textOf(this.organization, this.entries));
  }

  private async append(entry: KeptFile): Promise<void> {
    this.lines++;
    await guarded(`write ${this.path}`, () => this.file.appendFile(`${JSON.stringify(entry)}\n`));
  }
}

function textOf(organization: string, entries: ReadonlyMap<string, KeptFile>): string {
  return [{ organization }, ...entries.values()].map((line) => `${JSON.stringify(line)}\n`).join('');
}

/** A line of ours: its names lead nowhere but into the folder. */
function isEntry(line: unknown): line is KeptFile {
  if (!isPlainObject(line)) return false;
  const { id, file, guid, bytes, sha256 } = line;
  const isNamed = typeof file === 'string' && (file === '' || isFileName(file));
  const isTyped =
    Number.isSafeInteger(bytes) && typeof sha256 === 'string' && (guid === null || typeof guid === 'string');
  return typeof id === 'string' && /^\d{1,19}$/.test(id) && isNamed && isTyped;
}
