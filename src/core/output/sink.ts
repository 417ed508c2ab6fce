import type { FileHandle } from 'node:fs/promises';
import { openNameless } from '../../filesystem/private.ts';
import { fileFailure } from '../failure.ts';

/** Where output goes. Exactly one of `commit` and `abort` ends it. */
export interface Sink {
  /** Resolves when the text is accepted: a caller that waits buffers no more than one piece. */
  readonly write: (data: string | Uint8Array) => Promise<void>;
  readonly commit: () => Promise<void>;
  /** Leaves things as they were, as far as that can be; never throws. */
  readonly abort: () => Promise<void>;
}

/** Output straight to a stream: what is written cannot be taken back. */
export function streamSink(write: (text: string | Uint8Array) => Promise<void>): Sink {
  const nothing = () => Promise.resolve();
  return { write: (text) => (text === '' ? nothing() : write(text)), commit: nothing, abort: nothing };
}

const CHUNK = 64 * 1024;

/**
 * Buffers output until it is complete (contract §4): in an unlinked file of mode 0600 in `folder`, and from there to
 * `write` at commit. Nothing is written when the run fails before. Throws a Failure with exit code 9 when the disk
 * fails.
 */
export async function openSpool(folder: string, write: (chunk: Uint8Array) => Promise<void>): Promise<Sink> {
  const doing = `buffer the output in ${folder}`;
  const file = await openNameless(folder).catch((cause: unknown) => {
    throw fileFailure(doing, cause);
  });
  return {
    write: (text) =>
      file.appendFile(text).catch((cause: unknown) => {
        throw fileFailure(doing, cause);
      }),
    commit: async () => {
      try {
        await copy(file, write);
      } finally {
        await file.close();
      }
    },
    abort: () => file.close().catch(() => undefined),
  };
}

async function copy(file: FileHandle, write: (chunk: Uint8Array) => Promise<void>): Promise<void> {
  // One buffer is enough: a write that has resolved no longer uses it.
  const buffer = Buffer.allocUnsafe(CHUNK);
  for (let position = 0; ; ) {
    const { bytesRead } = await file.read(buffer, 0, CHUNK, position);
    if (bytesRead === 0) return;
    await write(buffer.subarray(0, bytesRead));
    position += bytesRead;
  }
}
