import { terminalLines } from '../../core/output/terminaltext.ts';
import type { OutStream } from './streams.ts';

/**
 * Notes for people on standard error. Where a program reads them and requested JSON they are buffered, so that a
 * failure is the only object there (contract §4).
 */
export class Notes {
  private readonly isBuffered: boolean;
  private buffer: string[] = [];

  constructor(
    private readonly stderr: OutStream,
    asJson: boolean,
  ) {
    this.isBuffered = asJson && !stderr.isTTY;
  }

  async say(text: string): Promise<void> {
    if (this.isBuffered) this.buffer.push(text);
    else await this.write(text);
  }

  /** Returns the buffered notes and empties the buffer. */
  take(): readonly string[] {
    const texts = this.buffer;
    this.buffer = [];
    return texts;
  }

  /** Writes the buffered notes. */
  async flush(): Promise<void> {
    for (const text of this.take()) await this.write(text);
  }

  private write(text: string): Promise<void> {
    // Names of files and what a server says stand in them.
    return this.stderr.write(`${terminalLines(text)}\n`).catch(() => undefined);
  }
}
