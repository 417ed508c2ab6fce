import type { Context } from '../context.ts';
import { durationText } from './rowprogress.ts';
import type { Progress } from './streams.ts';

/** Short transfers show no progress, milliseconds. */
const PATIENCE = 1000;

/** Milliseconds that the rate is taken over: long enough to be steady, short enough to tell a line that got slower. */
const WINDOW = 10_000;

/** Tells on the terminal how far transfers of files are, how fast, and when the end is due where the total is known. */
export class ByteProgress {
  private readonly context: Context;
  private readonly doing: string;
  private readonly files: number | undefined;
  private total: number | undefined;
  private readonly started: number;
  private readonly silent: boolean;
  private readonly marks: { readonly at: number; readonly bytes: number }[];
  private bytes = 0;
  private done = 0;
  private stopped = false;
  private progress: Promise<Progress> | undefined;

  /** `files` and `total`, in bytes, where they are known beforehand. */
  constructor(
    context: Context,
    of: {
      readonly doing: string;
      readonly files: number | undefined;
      readonly total?: number;
      readonly quiet: boolean;
    },
  ) {
    this.context = context;
    this.doing = of.doing;
    this.files = of.files;
    this.total = of.total;
    this.silent = of.quiet || context.streams.startProgress === undefined;
    this.started = context.clock.now();
    this.marks = [{ at: this.started, bytes: 0 }];
  }

  readonly onBytes = (bytes: number): void => {
    this.bytes += bytes;
    this.show();
  };

  /** Bytes of the total that need not be transferred. */
  readonly onSkipped = (bytes: number): void => {
    if (this.total !== undefined) this.total -= bytes;
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
    const { doing, done, files, bytes, total } = this;
    const text = progressText({ doing, done, files, bytes, total, rate: this.rate() });
    void this.progress?.then((progress) => {
      if (!this.stopped) progress.show(text);
    });
  }

  /** Bytes a second over the last seconds. */
  private rate(): number {
    const now = this.context.clock.now();
    const last = this.marks.at(-1);
    if (last === undefined || now - last.at >= PATIENCE) this.marks.push({ at: now, bytes: this.bytes });
    while (this.marks.length > 2 && now - (this.marks[1]?.at ?? now) >= WINDOW) this.marks.shift();
    const [first] = this.marks;
    return first === undefined || now === first.at ? 0 : ((this.bytes - first.bytes) * 1000) / (now - first.at);
  }
}

interface Standing {
  readonly doing: string;
  readonly done: number;
  readonly files: number | undefined;
  readonly bytes: number;
  readonly total: number | undefined;
  /** Bytes a second. */
  readonly rate: number;
}

/** `Uploaded 3 of 40 files, 12.5 of 300.2 MB, 2.1 MB/s, about 2 min 17 s left`. */
export function progressText({ doing, done, files, bytes, total, rate }: Standing): string {
  const count = files === undefined ? done : `${done} of ${files}`;
  const share = `${doing} ${count} files, ${megabytes(bytes)}${total === undefined ? '' : ` of ${megabytes(total)}`} MB`;
  if (rate < 1000) return share;
  const left = total === undefined || total <= bytes ? '' : `, about ${durationText((total - bytes) / rate)} left`;
  return `${share}, ${megabytes(rate)} MB/s${left}`;
}

function megabytes(bytes: number): string {
  return (bytes / 1_000_000).toFixed(1);
}
