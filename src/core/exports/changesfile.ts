import { basename, dirname, join, parse } from 'node:path';
import { removeFile } from '../../filesystem/durable.ts';
import { exists, guarded, namesIn } from '../output/atomicfile.ts';
import { partPath } from './exportfile.ts';
import { journalPath } from './journal.ts';

/** `whole`: every record that matches the filter. `changes`: those modified since the last complete run. */
export type ExportKind = 'whole' | 'changes';

/** `patients.changes.2026-11-22T05-00-00Z.csv`: the file of changes beside the complete file (contract §5). */
export function changesPath(path: string, time: string): string {
  const { dir, name, ext } = parse(path);
  return join(dir, `${name}.changes.${time}${ext}`);
}

/**
 * The time in the names of files of changes, `2026-11-22T05-00-00Z`: that of the start (UTC milliseconds), or the first
 * second after it at which none of the names is taken, since no file of changes replaces another one.
 */
export async function changesTime(paths: readonly string[], startedAt: number): Promise<string> {
  for (let second = Math.floor(startedAt / 1000); ; second++) {
    const time = new Date(second * 1000).toISOString().replace('.000', '').replaceAll(':', '-');
    const taken = await Promise.all(paths.map((path) => exists(changesPath(path, time))));
    if (!taken.includes(true)) return time;
  }
}

/** The time in the name of the last file of changes whose run was interrupted; undefined for none. */
export async function unfinishedChanges(path: string): Promise<string | undefined> {
  return (await unfinished(path)).at(-1);
}

/**
 * Removes what earlier runs began and this one does not resume: parts of the complete file and of files of changes,
 * except that of `time`. The caller holds the lock of the complete file.
 */
export async function removeOtherParts(path: string, time: string | undefined): Promise<void> {
  const others = (await unfinished(path)).filter((other) => other !== time).map((other) => changesPath(path, other));
  for (const part of [path, ...others].map(partPath)) {
    await guarded(`remove ${part}`, async () => {
      await removeFile(part);
      await removeFile(journalPath(part));
    });
  }
}

/** Times of the journals beside a complete file, ascending. */
async function unfinished(path: string): Promise<string[]> {
  const names = await namesIn(dirname(path));
  const times = names.flatMap((name) => /\.changes\.(\d{4}-\d\d-\d\dT\d\d-\d\d-\d\dZ)\./.exec(name)?.[1] ?? []);
  const isJournal = (time: string) => names.includes(basename(journalPath(partPath(changesPath(path, time)))));
  return [...new Set(times)].filter(isJournal).toSorted();
}
