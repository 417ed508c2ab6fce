/** Where output goes. Exactly one of `commit` and `abort` ends it. */
export interface Sink {
  /** Resolves when the text is taken: whoever waits holds no more than one piece. */
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
