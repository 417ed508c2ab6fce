import { Failure, fileFailure } from '../../failure.ts';
import { documentBody, type StreamedBody } from './body.ts';
import type { ReadyUpload } from './plan.ts';

/**
 * The body of one upload, made anew for each attempt, that counts what goes out. A file that cannot be read any more
 * aborts `signal` with the Failure: another attempt would not help.
 */
export class UploadBody implements StreamedBody {
  /** Bytes of content that the last attempt sent. */
  sent = 0;
  readonly length: number;
  private readonly whole: StreamedBody;
  private readonly label: string;
  private readonly onBytes: ((bytes: number) => void) | undefined;
  private readonly aborting = new AbortController();

  /** `onBytes` is told the bytes of content as they go out, negative when an attempt starts over. */
  constructor({ fields, source, sha256 }: ReadyUpload, onBytes?: (bytes: number) => void) {
    this.label = source.label;
    this.onBytes = onBytes;
    this.whole = documentBody(fields, { source, sha256 }, { onBytes: (bytes) => this.count(bytes) });
    this.length = this.whole.length;
  }

  get signal(): AbortSignal {
    return this.aborting.signal;
  }

  readonly open = (): AsyncGenerator<Uint8Array> => this.chunks();

  private async *chunks(): AsyncGenerator<Uint8Array> {
    this.count(-this.sent);
    try {
      yield* this.whole.open();
    } catch (cause) {
      this.aborting.abort(cause instanceof Failure ? cause : fileFailure(`read ${this.label}`, cause));
      throw cause;
    }
  }

  private count(bytes: number): void {
    this.sent += bytes;
    this.onBytes?.(bytes);
  }
}
