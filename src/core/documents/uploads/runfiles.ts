import { basename, dirname, extname } from 'node:path';

/** The files that a run of uploads keeps: the results CSV, and beside it the journal and the lock. Absolute paths. */
export interface RunFiles {
  readonly results: string;
  readonly journal: string;
  readonly lock: string;
  /** Whether a file, by its absolute path, is one of them or an earlier one: those are never uploaded with a folder. */
  readonly isOwn: (path: string) => boolean;
}

export function runFiles(results: string): RunFiles {
  const extension = extname(results);
  const stem = basename(results, extension);
  return {
    results,
    journal: `${results}.journal`,
    lock: `${results}.lock`,
    isOwn: (path) => dirname(path) === dirname(results) && isOwnName(basename(path), stem, extension),
  };
}

/** `results.csv`, one moved aside (`results.1.csv`), and what is written beside it, whole or in part. */
function isOwnName(name: string, stem: string, extension: string): boolean {
  if (!name.startsWith(stem)) return false;
  const rest = name.slice(stem.length).replace(/\.(?:part|journal|journal\.part|lock(?:\.[-\w.]+)?)$/, '');
  return rest.endsWith(extension) && /^(?:\.\d+)?$/.test(rest.slice(0, rest.length - extension.length));
}
