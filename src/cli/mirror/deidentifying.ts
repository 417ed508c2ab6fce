import { resolve } from 'node:path';
import { localFailure, usageFailure } from '../../core/failure.ts';
import { Deidentifier } from '../../core/mirror/deidentify/deidentifier.ts';
import { type Key, makeKey, readKey } from '../../core/mirror/deidentify/keyfile.ts';
import type { MirrorFacts } from '../../core/mirror/store.ts';
import type { Context } from '../context.ts';
import { type FlagValues, textFlag } from '../flags/values.ts';

const source = '--deidentify';

/** Facts of a mirror, and what makes the records of a de-identified one; undefined for one in the clear. */
export interface Deidentifying {
  readonly facts: MirrorFacts;
  readonly deidentifier: Deidentifier | undefined;
}

/**
 * Finds the key of a de-identified mirror, and makes it for a new one (D52). `known`: what its file says, if there is
 * one. Throws a Failure: exit 2 for what it was not made with, 9 for a key that is gone.
 */
export async function readDeidentifying(
  flags: FlagValues,
  {
    facts,
    known,
    file,
  }: { readonly facts: MirrorFacts; readonly known: MirrorFacts | undefined; readonly file: string },
  { clock, note }: Pick<Context, 'clock'> & { readonly note: (line: string) => Promise<void> },
): Promise<Deidentifying> {
  const flag = textFlag(flags, 'deidentify');
  const chosen = known?.deidentified ?? undefined;
  if (flag === undefined && chosen === undefined) return { facts, deidentifier: undefined };
  if (facts.files)
    throw usageFailure(
      '--files keeps the contents of documents, which name people: it does not go with --deidentify.',
      {
        source: '--files',
        hint: 'Leave out --files, or name another file with --to for a mirror in the clear.',
      },
    );
  if (flag === '') throw usageFailure('--deidentify must name the file of a key.', { source });
  if (known !== undefined && chosen === undefined)
    throw usageFailure(`${file} holds its records in the clear.`, {
      source,
      hint: 'Name another file with --to for a de-identified copy.',
    });
  const path = flag === undefined ? (chosen?.file ?? '') : resolve(flag);
  const key = (await readKey(path)) ?? (chosen === undefined ? await makeKey(path) : undefined);
  if (key === undefined) throw noKey(path, file, flag !== undefined);
  const deidentifier = new Deidentifier(key.secret, clock.now);
  if (chosen !== undefined && deidentifier.fingerprint !== chosen.key)
    throw usageFailure(`${path} is not the key that ${file} was made with.`, {
      source,
      hint: 'Leave out --deidentify to go on as before, or name another file with --to.',
    });
  await noteOpen(key, path, note);
  return { facts: { ...facts, deidentified: { key: deidentifier.fingerprint, file: path } }, deidentifier };
}

/** When rows of a mirror are written, as it may tell: UTC milliseconds. */
export function writtenAt({ now }: Context['clock'], deidentifier: Deidentifier | undefined): () => number {
  if (deidentifier === undefined) return now;
  return () => Date.parse(deidentifier.instant(new Date(now()).toISOString()));
}

function noKey(path: string, file: string, isNamed: boolean) {
  const message = `The key that ${file} was made with is not there: ${path}.`;
  if (isNamed) return usageFailure(message, { source });
  return localFailure('local.file', message, { source: path, hint: 'Name its file with --deidentify.' });
}

async function noteOpen({ isOpen }: Key, path: string, note: (line: string) => Promise<void>): Promise<void> {
  if (isOpen) await note(`Other users of this computer may read the key ${path}: chmod 600 it.`);
}
