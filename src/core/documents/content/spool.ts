import { type FileHandle, mkdtemp, open, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { codeOf, Failure, fileFailure } from '../../failure.ts';
import { tooLarge } from './limits.ts';
import { type ContentSource, handleReader } from './source.ts';

/** A spooled source; `dispose` gives its disk space back. */
export interface SpooledSource extends ContentSource {
  readonly dispose: () => Promise<void>;
}

/**
 * Writes a stream to a temporary file (0600) that has no name any more while it fills, so nothing is left behind however
 * the process ends. Throws a Failure: exit code 2 beyond `limit` bytes, 9 when the disk fails.
 */
export async function spool(
  input: AsyncIterable<Uint8Array>,
  options: {
    readonly label: string;
    readonly folder: string;
    readonly limit: number;
    /** Told the bytes of each piece. */
    readonly onBytes?: ((bytes: number) => void) | undefined;
  },
): Promise<SpooledSource> {
  const handle = await openNameless(options.folder).catch((cause) =>
    Promise.reject(fileFailure(`keep ${options.label}`, cause)),
  );
  try {
    let size = 0;
    for await (const bytes of input) {
      size += bytes.length;
      if (size > options.limit) throw tooLarge(options.label, options.limit);
      await handle.writeFile(bytes);
      options.onBytes?.(bytes.length);
    }
    return { label: options.label, size, open: async () => handleReader(handle), dispose: () => handle.close() };
  } catch (cause) {
    await handle.close();
    throw codeOf(cause) === undefined || cause instanceof Failure ? cause : fileFailure(`keep ${options.label}`, cause);
  }
}

async function openNameless(parent: string): Promise<FileHandle> {
  const folder = await mkdtemp(join(parent, 'molar-'));
  try {
    return await open(join(folder, 'spool'), 'wx+', 0o600);
  } finally {
    await rm(folder, { recursive: true });
  }
}
