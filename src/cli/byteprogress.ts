import type { Context } from './context.ts';
import type { Progress } from './streams.ts';

/** Short transfers show no progress, milliseconds. */
const PATIENCE = 1000;

/** Tells on the terminal how far transfers of files are. */
export class ByteProgress {
  private readonly context: Context;
  private readonly doing: string;
  private readonly files: number;
  private readonly total: number | undefined;
  private readonly started: number;
  private readonly silent: boolean;
  private bytes = 0;
  private done = 0;
  private stopped = false;
  private progress: Promise<Progress> | undefined;

  /** `total` in bytes, where it is known beforehand. */
  constructor(
    context: Context,
    of: { readonly doing: string; readonly files: number; readonly total?: number; readonly quiet: boolean },
  ) {
    this.context = context;
    this.doing = of.doing;
    this.files = of.files;
    this.total = of.total;
    this.silent = of.quiet || context.streams.startProgress === undefined;
    this.started = context.clock.now();
  }

  readonly onBytes = (bytes: number): void => {
    this.bytes += bytes;
    this.show();
  };

  readonly onDone = (): void => {
    this.done++;
    this.show();
  };

  stop(): void {
    this.stopped = true;
    void this.progress?.then((progress) => progress.stop());
  }

  private show(): void {
    if (this.silent || this.context.clock.now() - this.started < PATIENCE) return;
    this.progress ??= this.context.streams.startProgress?.();
    const of = this.total === undefined ? '' : ` of ${megabytes(this.total)}`;
    const text = `${this.doing} ${this.done} of ${this.files} files, ${megabytes(this.bytes)}${of} MB`;
    void this.progress?.then((progress) => {
      if (!this.stopped) progress.show(text);
    });
  }
}

function megabytes(bytes: number): string {
  return (bytes / 1_000_000).toFixed(1);
}
