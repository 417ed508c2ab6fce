import { terminalLines } from '../../core/output/terminaltext.ts';
import type { OutStream } from './streams.ts';

/**
 * Lines for people on standard error. Where a program reads them and asked for JSON they are held back, so that a
 * failure is the one object that stands there (contract §4).
 */
export class Notes {
  private readonly stderr: OutStream;
  private readonly holds: boolean;
  private held: string[] = [];

  constructor(stderr: OutStream, asJson: boolean) {
    this.stderr = stderr;
    this.holds = asJson && !stderr.isTTY;
  }

  async say(text: string): Promise<void> {
    if (this.holds) this.held.push(text);
    else await this.write(text);
  }

  /** What was held back, which is then this caller's to tell. */
  take(): readonly string[] {
    const texts = this.held;
    this.held = [];
    return texts;
  }

  /** Writes what was held back. */
  async flush(): Promise<void> {
    for (const text of this.take()) await this.write(text);
  }

  private write(text: string): Promise<void> {
    // Names of files and what a server says stand in them.
    return this.stderr.write(`${terminalLines(text)}\n`).catch(() => undefined);
  }
}
