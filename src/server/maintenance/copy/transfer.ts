import type { Files } from '../../files/files.ts';
import { StoreUnusable } from '../../store/store.ts';
import { orphans } from '../check/files.ts';
import type { Snapshot } from '../snapshot.ts';
import { turn, type Work } from '../work.ts';
import { copyFiles, hashedFiles } from './files.ts';

/** How many files were copied, and those that are not what their documents tell. */
export interface TransferredFiles {
  readonly count: number;
  readonly bytes: number;
  readonly problems: readonly string[];
}

/** Copies the files of a state, then reads them back and compares their SHA-256 with what documents tell. */
export async function transferFiles(
  snapshot: Snapshot,
  source: Files,
  target: Files,
  work: Work,
): Promise<TransferredFiles> {
  await refuseOthers(snapshot, target, work);
  const missing = await copyFiles(snapshot.read, source, target, work);
  const problems = missing.map((name) => `${name} is missing`);
  let count = 0;
  let bytes = 0;
  for await (const file of hashedFiles(snapshot.read, target, work)) {
    count++;
    bytes += file.bytes;
    if (file.sha256 !== null && file.sha256 !== file.found) problems.push(`${file.name} was changed`);
  }
  return { count, bytes, problems };
}

/** Files of something else would be orphans there; those of an interrupted copy are its own. */
async function refuseOthers({ read }: Snapshot, files: Files, work: Work): Promise<void> {
  const context = {
    files,
    live: read,
    keepsYoung: false,
    now: work.now(),
    turn: (what: string, count: number) => turn(work, what, count),
  };
  for await (const name of orphans(context)) {
    throw new StoreUnusable(
      `The place for files is not empty: it has ${name}, which belongs to no document that is copied.`,
      'Name an empty folder or another prefix; nothing was copied to it.',
    );
  }
}
