import type { ContentSource } from '../content/source.ts';
import { documentBody, type StreamedBody } from './body.ts';
import type { ReadyUpload } from './plan.ts';

/** Told the bytes of content as they go out, negative when an attempt starts over. */
export type OnBytes = (bytes: number, source: ContentSource) => void;

/** The body of one upload, made anew for each attempt, that counts what goes out. */
export class UploadBody implements StreamedBody {
  /** Bytes of content that the last attempt sent. */
  sent = 0;
  readonly length: number;
  private readonly whole: StreamedBody;
  private readonly source: ContentSource;
  private readonly onBytes: OnBytes | undefined;

  constructor({ fields, source, sha256 }: ReadyUpload, onBytes?: OnBytes) {
    this.source = source;
    this.onBytes = onBytes;
    this.whole = documentBody(fields, { source, sha256 }, { onBytes: (bytes) => this.count(bytes) });
    this.length = this.whole.length;
  }

  readonly open = (): AsyncIterable<Uint8Array> => {
    this.count(-this.sent);
    return this.whole.open();
  };

  private count(bytes: number): void {
    this.sent += bytes;
    this.onBytes?.(bytes, this.source);
  }
}
