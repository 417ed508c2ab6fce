import { openNameless } from '../../../filesystem/private.ts';
import { codeOf, Failure, fileFailure } from '../../failure.ts';
import { type ContentSource, tooLarge } from './source.ts';

/** A spooled source; `dispose` frees its disk space. */
export interface SpooledSource extends ContentSource {
  readonly dispose: () => Promise<void>;
}

/**
 * Writes a stream to a temporary file (0600) whose name is removed before it is filled, so nothing is left behind however
 * the process ends. Throws a Failure: exit code 2 beyond `limit` bytes, 9 when the disk fails.
 */
export async function spool(
  input: AsyncIterable<Uint8Array>,
  options: {
    readonly label: string;
    readonly folder: string;
    readonly limit: number;
    /** Called with the number of bytes of each chunk. */
    readonly onBytes?: ((bytes: number) => void) | undefined;
  },
): Promise<SpooledSource> {
  const { label, folder, limit, onBytes } = options;
  const failed = (cause: unknown) => fileFailure(`buffer ${label}`, cause);
  const handle = await openNameless(folder).catch((cause) => Promise.reject(failed(cause)));
  try {
    let size = 0;
    for await (const bytes of input) {
      size += bytes.length;
      if (size > limit) throw tooLarge(label, limit);
      await handle.writeFile(bytes);
      onBytes?.(bytes.length);
    }
    const reader = {
      read: async (buffer: Uint8Array, at: number) => (await handle.read(buffer, 0, buffer.length, at)).bytesRead,
      close: async () => {},
    };
    return { label, size, open: async () => reader, dispose: () => handle.close() };
  } catch (cause) {
    await handle.close();
    throw codeOf(cause) === undefined || cause instanceof Failure ? cause : failed(cause);
  }
}
