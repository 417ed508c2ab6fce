import type { ServerResponse } from 'node:http';

/**
 * The connection of a listener, written to no faster than it is read: what waits in memory for a slow one is the
 * response's own buffer and nothing more.
 */
export class ListenerSocket {
  private readonly response: ServerResponse;
  private full = false;

  constructor(response: ServerResponse) {
    this.response = response;
    response.on('drain', () => {
      this.full = false;
    });
  }

  /** False: nothing more is to be written before `drained`. */
  write(content: string | Uint8Array): boolean {
    this.full = !this.response.write(content);
    return !this.full;
  }

  /** Resolves true when there is room again, false after `milliseconds`, or when the connection or `signal` ended. */
  async drained(milliseconds: number, signal: AbortSignal): Promise<boolean> {
    if (!this.full) return true;
    if (signal.aborted) return false;
    await new Promise<void>((resolve) => {
      const done = () => {
        clearTimeout(timer);
        this.response.off('drain', done);
        signal.removeEventListener('abort', done);
        resolve();
      };
      const timer = setTimeout(done, milliseconds);
      this.response.on('drain', done);
      signal.addEventListener('abort', done);
    });
    return !this.full;
  }

  /** Ends the answer; one whose reader has stalled is cut off, since its end would not get through either. */
  end(text = ''): void {
    if (this.full) this.response.destroy();
    else this.response.end(text);
  }
}
