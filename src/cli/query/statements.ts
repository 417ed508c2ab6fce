import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { untilAborted } from '../../core/abort.ts';
import { codeOf, Failure, fileFailure, localFailure, usageFailure } from '../../core/failure.ts';
import { didYouMean } from '../../core/nearest.ts';
import { namesIn } from '../../core/output/atomicfile.ts';
import { configFolder, isSavedName } from '../../core/profiles/config.ts';
import { readTextFile, textFrom } from '../../core/textfile.ts';
import type { Context } from '../context.ts';
import { type FlagValues, textFlag } from '../flags/values.ts';
import { readAll } from '../terminal/streams.ts';

/** Ending of the files of saved statements. */
const ENDING = '.sql';

/** The folder of saved statements, `NAME.sql` each. */
export function savedFolder({ env }: Pick<Context, 'env'>): string {
  return join(configFolder(env), 'queries');
}

/** Names of the saved statements, in the order of the alphabet. */
export async function savedNames(context: Pick<Context, 'env'>): Promise<string[]> {
  const files = await namesIn(savedFolder(context)).catch(() => []);
  return files.flatMap((file) => (file.endsWith(ENDING) ? [file.slice(0, -ENDING.length)] : [])).sort();
}

/**
 * The statement of a command line: its argument, that of `--file`, or the one saved as `--name`. Throws a Failure: exit 2
 * unless it is exactly one, 4 for a name that is not there, 9 for a file that cannot be read.
 */
export async function readStatement(sql: unknown, flags: FlagValues, context: Context): Promise<string> {
  const [file, name] = [textFlag(flags, 'file'), textFlag(flags, 'name')];
  const given = [sql, file, name].filter((each) => each !== undefined);
  if (given.length !== 1) {
    const what = given.length === 0 ? 'There is no statement' : 'There is more than one statement';
    throw usageFailure(`${what}: give it as an argument, with --file or with --name.`, {
      source: 'SQL',
      hint: 'Such as: molar query "SELECT count(*) FROM patients"',
    });
  }
  if (name !== undefined) return readSaved(name, context);
  const text = file === undefined ? String(sql) : await readFrom(file, context);
  if (text.includes('\0')) throw usageFailure('The statement has a NUL character.', { source: 'SQL' });
  return text;
}

async function readFrom(file: string, { streams, signal }: Context): Promise<string> {
  if (file === '-') return readAll(streams.stdin.chunks, signal);
  return untilAborted(readTextFile(file), signal);
}

async function readSaved(name: string, context: Context): Promise<string> {
  const path = join(savedFolder(context), name + ENDING);
  try {
    if (isSavedName(name)) return textFrom(await readFile(path), path);
  } catch (cause) {
    if (codeOf(cause) !== 'ENOENT') throw cause instanceof Failure ? cause : fileFailure(`read ${path}`, cause);
  }
  const near = didYouMean(name, await savedNames(context));
  throw localFailure('query.unknown', `There is no saved statement ${name}.${near}`, {
    source: '--name',
    hint: `Statements are saved as NAME.sql in ${savedFolder(context)}.`,
  });
}
